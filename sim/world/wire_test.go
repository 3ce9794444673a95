package world

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
)

var errLost = errors.New("connection lost")

// A wire carries the requests of one life of an agent to the server's handler.
type wire struct{ l *life }

// Kinds of requests. Downloads are identified by the file's name.
const (
	sched  = "scheduler"
	upload = "upload"
	master = "master page"
)

// secret is the part of an output file's name that does not depend on the seed.
var (
	secret     = regexp.MustCompile(`_r[0-9]+_`)
	outputName = regexp.MustCompile(`wu[0-9]+_[0-9]+_r[0-9]+_[0-9]+`)
)

func kindOf(r *http.Request) string {
	switch base := path.Base(r.URL.Path); {
	case base == "cgi":
		return sched
	case base == "file_upload_handler":
		return upload
	case strings.Contains(r.URL.Path, "/download/"):
		return base
	}
	return master
}

// RoundTrip gets an answer to a request, unless it or the answer meets with an accident.
func (t wire) RoundTrip(r *http.Request) (*http.Response, error) {
	h, w := t.l.h, t.l.h.w
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		_ = r.Body.Close()
	}
	kind := kindOf(r)
	what := kind
	if kind == upload {
		what += secret.ReplaceAllString(string(outputName.Find(body)), "_")
	}
	if t.l.dead.Load() {
		return nil, errLost
	}
	if kind == sched {
		h.asks()
	}
	luck := h.luck(what)
	if !sleep(r, luck, between(luck, 20*time.Millisecond, 3*time.Second)) {
		return nil, r.Context().Err()
	}
	t.l.point()
	if t.l.dead.Load() {
		return nil, errLost
	}
	calm := w.calm()
	bad := func(p float64) bool { return chance(luck, p*h.manner.net*w.mood) && !calm }
	if bad(0.03) || !calm && w.outage() {
		return nil, errLost
	}
	sent, cut := body, bad(0.02) && len(body) > 0
	if cut {
		sent = body[:luck.IntN(len(body))]
	}
	code, head, answer := w.serve(h, r, kind, sent, cut, luck, bad(0.01))
	if bad(0.03) { // it comes again, at once or much later
		again := between(luck, time.Second, 2*day)
		w.wg.Go(func() {
			select {
			case <-time.After(again):
				w.serve(h, r, kind, body, false, luck, false)
			case <-w.ctx.Done():
			}
		})
	}
	if cut || code == 0 || bad(0.03) {
		return nil, errLost
	}
	slow := between(luck, 20*time.Millisecond, 3*time.Second)
	if bad(0.02) {
		slow = between(luck, time.Minute, 30*time.Minute) // longer than agents wait
	}
	if !sleep(r, luck, slow) {
		return nil, r.Context().Err()
	}
	t.l.point()
	if t.l.dead.Load() {
		return nil, errLost
	}
	if kind == sched {
		answer = h.translate(answer)
	}
	content := io.Reader(bytes.NewReader(answer))
	if bad(0.02) && len(answer) > 0 {
		content = io.MultiReader(bytes.NewReader(answer[:luck.IntN(len(answer))]), broken{})
	} else if kind == sched && code == http.StatusOK {
		h.answered(answer)
	}
	return &http.Response{
		StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: head,
		Body: io.NopCloser(content), ContentLength: -1, Request: r,
	}, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// sleep reports whether the request still waits afterwards. Requests that give up at the same time
// are notified one after the other.
func sleep(r *http.Request, luck *rand.Rand, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		time.Sleep(between(luck, 0, time.Millisecond))
		return false
	}
}

// outage reports whether the server cannot be reached just now.
func (w *world) outage() bool {
	since := time.Since(w.began)
	r := w.draw("outage", int(since/day))
	begin, length := between(r, 0, day), between(r, time.Minute, 12*time.Hour)
	at := since % day
	return chance(r, 0.1) && at >= begin && at < begin+length
}

// serve hands a request to the server. Code 0 means that the server died over it.
func (w *world) serve(h *host, r *http.Request, kind string, body []byte, cut bool, luck *rand.Rand, dies bool) (code int, head http.Header, answer []byte) {
	w.server.Lock()
	defer w.server.Unlock()
	ctx := w.ctx
	if ctx.Err() != nil {
		return 0, nil, nil
	}
	if dies {
		ctx = dying(ctx, int64(luck.IntN(4)))
	}
	content := io.Reader(bytes.NewReader(body))
	length := int64(len(body))
	if cut {
		content, length = io.MultiReader(content, broken{}), length+1
	}
	req := httptest.NewRequestWithContext(ctx, r.Method, r.URL.String(), content)
	req.ContentLength, req.RemoteAddr, req.Header = length, h.addr, r.Header.Clone()
	rec := httptest.NewRecorder()
	if w.answer(rec, req) {
		rec.Code = 0
	}
	if dies && ctx.Err() != nil {
		rec.Code = 0
	}
	if kind == sched && rec.Code == http.StatusOK {
		w.note(body, rec.Body.Bytes())
	}
	w.tell("%s %s: %d", h.name, kind, rec.Code)
	return rec.Code, rec.Header(), rec.Body.Bytes()
}

// answer runs the handler and reports whether it broke the connection off.
func (w *world) answer(rw http.ResponseWriter, r *http.Request) (broken bool) {
	defer func() {
		if e := recover(); e != nil {
			if err, ok := e.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(e)
			}
			broken = true
		}
	}()
	w.handler.ServeHTTP(rw, r)
	return false
}

// note records the results that the server acknowledged, and those that it sent, with their hosts.
func (w *world) note(request, answer []byte) {
	req, err := protocol.ParseSchedulerRequest(request)
	if err != nil {
		return // the reply reports that
	}
	reply, err := protocol.ParseSchedulerReply(answer)
	if !w.must(err) {
		return
	}
	w.mu.Lock()
	var twice []string
	for _, name := range reply.ResultAcks {
		w.claim(name).reported = true
	}
	for _, name := range append(reply.ResultAborts, reply.ResultAbortsIfNotStarted...) {
		w.claim(name).aborted = true
	}
	for _, r := range reply.Results {
		of := share{cmp.Or(reply.HostID, req.HostID), r.WorkunitName}
		if had := w.shares[of]; had != "" && had != r.Name {
			twice = append(twice, had+" and "+r.Name)
		}
		w.shares[of] = r.Name
	}
	w.mu.Unlock()
	for _, both := range twice {
		w.failf("host %d is given %s, want one result of a workunit", req.HostID, both)
	}
}
