package waiting

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/limit"
)

// Admit reports whether a host is one of the account that has the key, and may have work.
type Admit func(ctx context.Context, key protocol.Authenticator, host int64) (bool, error)

// Handler returns the handler that lets hosts wait. A request names the host by hostid, repeats the
// mark of the offer, and shows the account's key as a bearer.
func (r *Room) Handler(admit Admit) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.serve(w, req, admit) })
}

func (r *Room) serve(w http.ResponseWriter, req *http.Request, admit Admit) {
	host, err := strconv.ParseInt(req.URL.Query().Get("hostid"), 10, 64)
	key, bearer := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if err != nil || host <= 0 || !bearer || len(key) > 254 {
		http.Error(w, "the request names no host and key", http.StatusBadRequest)
		return
	}
	ok, err := admit(req.Context(), protocol.Authenticator(key), host)
	if err != nil {
		r.Log.Error("cannot check a host that wants to wait", "err", err)
		http.Error(w, "The project cannot answer now", http.StatusServiceUnavailable)
		return
	}
	if !ok {
		http.Error(w, "the key is not of this host's account", http.StatusForbidden)
		return
	}
	now := time.Now()
	g := &guest{host: host, from: limit.ClientOf(req), since: now, beat: now}
	if ms, err := strconv.ParseInt(req.URL.Query().Get("mark"), 10, 64); err == nil {
		g.mark = time.UnixMilli(ms)
	}
	if g.mark.After(now) {
		g.mark = now
	}
	head := w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Accel-Buffering", "no") // else nginx keeps events to itself
	conn, _, err := http.NewResponseController(w).Hijack()
	switch {
	case errors.Is(err, http.ErrNotSupported):
		r.stream(w, req, g)
	case err != nil:
		r.Log.Debug("a connection cannot be taken over", "err", err)
	default:
		r.takeOver(conn, head, g)
	}
}

// takeOver keeps a connection without the memory that an HTTP server keeps for it.
func (r *Room) takeOver(conn net.Conn, head http.Header, g *guest) {
	l := &wire{conn}
	_ = conn.SetDeadline(time.Time{})
	head.Set("Connection", "close")
	var b strings.Builder
	b.WriteString("HTTP/1.1 200 OK\r\n")
	_ = head.Write(&b)
	b.WriteString("\r\n" + protocol.WorkHeartbeat)
	g.line, g.greet = l, b.String()
	if why := r.enter(g); why != "" {
		_ = l.say("HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" + why + "\n")
		l.hangUp()
	}
}

// A wire is a connection that was taken over.
type wire struct{ conn net.Conn }

func (l *wire) say(text string) error {
	_ = l.conn.SetWriteDeadline(time.Now().Add(patience))
	_, err := l.conn.Write([]byte(text))
	return err
}

func (l *wire) hangUp() { _ = l.conn.Close() }

// stream keeps a request open, where its connection is not this one's alone.
func (r *Room) stream(w http.ResponseWriter, req *http.Request, g *guest) {
	l := &open{w: w, c: http.NewResponseController(w), ended: make(chan struct{})}
	g.line, g.greet = l, protocol.WorkHeartbeat
	if why := r.enter(g); why != "" {
		http.Error(w, why, http.StatusServiceUnavailable)
		return
	}
	select {
	case <-req.Context().Done():
	case <-l.ended:
	}
	r.leave(g)
	l.hangUp()
}

// An open line is a request that is being answered.
type open struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	c     *http.ResponseController
	over  bool
	ended chan struct{}
}

func (l *open) say(text string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return http.ErrHandlerTimeout
	}
	_ = l.c.SetWriteDeadline(time.Now().Add(patience))
	if _, err := l.w.Write([]byte(text)); err != nil {
		return err
	}
	return l.c.Flush()
}

func (l *open) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.over = true
		close(l.ended)
	}
}
