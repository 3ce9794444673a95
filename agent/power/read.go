package power

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/procgroup"
	"github.com/starling-grid/starling/internal/sysfault"
)

const (
	maxText  = 1 << 20          // bytes that a source may give
	patience = 15 * time.Second // for a program or a server
)

// A Reader reads numbers.
type Reader struct {
	HTTP *http.Client
	TLS  *tls.Config // for brokers (nil: the system's root certificates)
	Root bool        // this process has all rights, so that no program is run
}

// A Reading is the content of a source.
type Reading struct {
	Number float64
	Hours  []Hour // of its forecast, in order
}

// Read reads a source. Its error is a sentence for people.
func (r *Reader) Read(ctx context.Context, p settings.Power) (Reading, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := r.text(ctx, p)
	if err != nil {
		return Reading{}, err
	}
	v, err := read(text, p, time.Now())
	if err != nil && p.File != "" {
		// Not the text: with the rights of the agent, a link may lead to anything, and others see this.
		if p.Forecast != "" {
			return Reading{}, sentence("Its file lacks the number or the forecast.")
		}
		return Reading{}, sentence("Its file has no number at %s.", cmp.Or(p.Value, "its start"))
	}
	return v, err
}

// read finds the number and the forecast in a text.
func read(text []byte, p settings.Power, now time.Time) (v Reading, err error) {
	if p.Forecast != "" {
		if v.Hours, err = hoursOf(text, p); err != nil {
			return v, err
		}
		if p.Value == "" {
			v.Number, err = numberAt(v.Hours, now)
			return v, err
		}
	}
	v.Number, err = number(text, p.Value)
	return v, err
}

func (r *Reader) text(ctx context.Context, p settings.Power) ([]byte, error) {
	switch {
	case p.File != "":
		b, err := foreigndir.ReadFile(p.File, maxText)
		if err != nil {
			return nil, sentence("Its file cannot be read: %s.", sysfault.Plain(err))
		}
		return b, nil
	case len(p.Command) > 0:
		return r.run(ctx, p.Command)
	case settings.IsMQTT(p.URL):
		return r.mqtt(ctx, p.URL)
	}
	return r.get(ctx, p.URL)
}

// run returns the output of a program. Other programs that it has started end with it.
func (r *Reader) run(ctx context.Context, command []string) ([]byte, error) {
	if r.Root {
		return nil, sentence("Its program is not run, because the agent runs as root.")
	}
	out := limited{most: maxText}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8"}
	cmd.Stdout, cmd.WaitDelay = &out, time.Second
	procgroup.Own(cmd)
	err := cmd.Run()
	procgroup.Kill(cmd)
	switch {
	case ctx.Err() != nil:
		return nil, sentence("Its program %s did not end within %v.", command[0], patience)
	case out.over:
		return nil, tooMuch()
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, sentence("Its program %s has ended, but not all that it has started.", command[0])
	case err != nil:
		return nil, sentence("Its program %s failed: %s.", command[0], sysfault.Plain(err))
	}
	return out.text, nil
}

// limited keeps the beginning of its input and then fails. Write is its only method that adds to
// it.
type limited struct {
	text []byte
	most int
	over bool
}

func (l *limited) Write(b []byte) (int, error) {
	if len(l.text)+len(b) > l.most {
		l.over = true
		return 0, tooMuch()
	}
	l.text = append(l.text, b...)
	return len(b), nil
}

func tooMuch() error {
	return sentence("Its source gives more than %d bytes.", maxText)
}

// get returns a page.
func (r *Reader) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := *r.HTTP
	client.CheckRedirect = httpclient.Follow
	resp, err := client.Do(req)
	if err != nil {
		return nil, fetchError(ctx, req, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, sentence("Its server %s answers HTTP %d %s.", req.URL.Host, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxText+1))
	switch {
	case err != nil:
		return nil, fetchError(ctx, req, err)
	case len(b) > maxText:
		return nil, tooMuch()
	}
	return b, nil
}

// fetchError describes an error without the address, which may contain a password, and which others
// than the volunteer would see.
func fetchError(ctx context.Context, req *http.Request, err error) error {
	if ctx.Err() != nil {
		return sentence("Its server %s did not answer within %v.", req.URL.Host, patience)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return sentence("Its page cannot be fetched: %s.", sysfault.Plain(err))
}

// number finds the number in a text: at a place in JSON, or at the beginning.
func number(text []byte, place string) (float64, error) {
	if place == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		word, _, _ := strings.Cut(strings.TrimSpace(first), " ")
		return parse(word)
	}
	v, err := document(text)
	if err != nil {
		return 0, err
	}
	n, ok, err := asNumber(at(v, place))
	if !ok {
		return 0, sentence("Its source has no number at %s.", place)
	}
	return n, err
}

func document(text []byte) (v any, err error) {
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, sentence("Its source does not give JSON: %s.", sysfault.Plain(err))
	}
	return v, nil
}

// at returns the value at a place in JSON, or nil.
func at(v any, place string) any {
	for step := range strings.SplitSeq(place, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			v = nil
			if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(x) {
				v = x[i]
			}
		default:
			v = nil
		}
	}
	return v
}

// asNumber returns a number, or one in quotes. ok is false for anything else.
func asNumber(v any) (n float64, ok bool, err error) {
	switch x := v.(type) {
	case float64:
		return x, true, nil
	case string:
		n, err = parse(x)
		return n, true, err
	}
	return 0, false, nil
}

func parse(word string) (float64, error) {
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, sentence("Its source gives %.40q, which is not a number.", word)
	}
	return v, nil
}

// sentence is an error that people read as it is.
func sentence(format string, args ...any) error { return told(fmt.Sprintf(format, args...)) }

type told string

func (t told) Error() string { return string(t) }
