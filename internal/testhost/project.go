package testhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
)

// A Project is a project on loopback with one account.
type Project struct {
	Bin Bin
	Dir string
	URL string // master URL
	Key string // the account's authenticator

	serving *Process
}

// The account that every project has.
const (
	Email    = "ada@example.org"
	Password = "secret7"
)

// NewProject makes a project in a folder that does not exist yet.
func NewProject(ctx context.Context, bin Bin, dir, name string) (*Project, error) {
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	p := &Project{Bin: bin, Dir: dir, URL: fmt.Sprintf("http://127.0.0.1:%d/%s/", port, name)}
	if _, err := p.Run(ctx, "init", dir, "--name", name, "--url", p.URL); err != nil {
		return nil, err
	}
	key, err := p.Run(ctx, "user", "add", dir, "--email", Email, "--password", Password)
	if err != nil {
		return nil, err
	}
	p.Key = strings.TrimSpace(key)
	return p, nil
}

// Append adds lines to the project's settings.
func (p *Project) Append(text string) error {
	f, err := os.OpenFile(filepath.Join(p.Dir, "server.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Run runs a starling-server command and returns its standard output.
func (p *Project) Run(ctx context.Context, args ...string) (string, error) {
	return p.Bin.Run(ctx, nil, Server, args...)
}

// Serve starts the server and waits until it answers.
func (p *Project) Serve(ctx context.Context) error {
	var err error
	if p.serving, err = Start(p.Dir+".log", p.Bin.Path(Server), "serve", p.Dir); err != nil {
		return err
	}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			return nil
		}
		select {
		case <-p.serving.Done():
			log, _ := os.ReadFile(p.Dir + ".log")
			return fmt.Errorf("starling-server ended at once: %w\n%s", p.serving.err, log)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// AwaitResults waits until every workunit has results, so that a host's first request finds
// them all: one that finds nothing for one of its processors asks for minutes no more.
func (p *Project) AwaitResults(ctx context.Context) error {
	_, err := p.Await(ctx, func(c Count) bool { return c.Results.Total >= c.Workunits.Total })
	return err
}

// Outcome waits for a file of a workunit's outcome, and reads it. A reported result still has to
// be validated and assimilated.
func (p *Project) Outcome(ctx context.Context, workunit, file string) (text []byte, err error) {
	err = testwait.Poll(ctx, func() error {
		found, err := filepath.Glob(filepath.Join(p.Dir, "results", "*", workunit, file))
		if err != nil {
			return err
		}
		if len(found) != 1 {
			return fmt.Errorf("outcomes of %s: %q", workunit, found)
		}
		text, err = os.ReadFile(found[0])
		return err
	})
	return text, err
}

// Stop stops the server, if it runs.
func (p *Project) Stop() error {
	if p.serving == nil {
		return nil
	}
	return p.serving.Stop(Grace)
}

// Kill ends the server as a power cut would.
func (p *Project) Kill() { p.serving.Kill() }

// A Count is the progress of a project's work.
type Count struct {
	Done      bool `json:"done"`
	Workunits struct {
		Total       int64 `json:"total"`
		Canonical   int64 `json:"canonical"`
		Error       int64 `json:"error"`
		Assimilated int64 `json:"assimilated"`
	} `json:"workunits"`
	Results struct {
		Total   int64            `json:"total"`
		State   map[string]int64 `json:"server_state"`
		Outcome map[string]int64 `json:"outcome"`
		Granted int64            `json:"granted"`
	} `json:"results"`
	Credit float64 `json:"credit"`
}

// Count asks how far the project's work has come.
func (p *Project) Count(ctx context.Context) (Count, error) {
	var c Count
	out, err := p.Run(ctx, "status", p.Dir, "--json")
	if err == nil {
		err = json.Unmarshal([]byte(out), &c)
	}
	return c, err
}

// AwaitDone waits until every workunit is assimilated.
func (p *Project) AwaitDone(ctx context.Context) (Count, error) {
	return p.Await(ctx, func(c Count) bool { return c.Done })
}

// Await waits until the project has reached something, or its server has ended.
func (p *Project) Await(ctx context.Context, reached func(Count) bool) (Count, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	gone := p.serving.Done()
	go func() {
		select {
		case <-gone:
			cancel(errors.New("the server ended"))
		case <-ctx.Done():
		}
	}()
	var last Count
	err := p.Watch(ctx, func(c Count) bool {
		last = c
		return !reached(c)
	})
	if err != nil {
		err = fmt.Errorf("the project stays at %+v: %w", last, err)
	}
	return last, err
}

// Watch calls see with how far the project's work has come, and again whenever that has
// changed, as long as see returns true.
func (p *Project) Watch(ctx context.Context, see func(Count) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Bin.Path(Server), "status", p.Dir, "--watch", "--json")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		cancel() // ends the command
		_ = cmd.Wait()
	}()
	for counts := json.NewDecoder(out); ; {
		var c Count
		if err := counts.Decode(&c); err != nil {
			return errors.Join(fmt.Errorf("starling-server status: %w %s", err, errs.Bytes()), context.Cause(ctx))
		}
		if !see(c) {
			return nil
		}
	}
}
