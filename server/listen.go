package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/starling-grid/starling/server/limit"
)

// answer has h answer what arrives at l, until ctx ends, then lets requests under way
// finish. Without l it waits for that.
func answer(ctx context.Context, l net.Listener, h http.Handler, events *slog.Logger) error {
	if l == nil {
		<-ctx.Done()
		return nil
	}
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 20 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          log.New(troubles{events}, "", 0),
		// Bodies and answers are bounded by their pace: a large upload over a slow
		// line may take hours, so long as it moves.
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(stop); err != nil {
		return errors.Join(fmt.Errorf("requests did not end within %v", grace), srv.Close())
	}
	return nil
}

// troubles logs the messages of the HTTP server. Connections that do not speak TLS are common, and
// strangers could fill the log with them.
type troubles struct{ log *slog.Logger }

func (t troubles) Write(b []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.HasPrefix(b, []byte("http: TLS handshake error")) {
		level = slog.LevelDebug
	}
	t.log.Log(context.Background(), level, "trouble with a connection", "err", string(bytes.TrimSpace(b)))
	return len(b), nil
}

// limits limits the connections of each address at all listeners of a server.
type limits []*limit.Listener

// add returns l with limits, or nil without l.
func (s *limits) add(l net.Listener) net.Listener {
	if l == nil {
		return nil
	}
	bound := &limit.Listener{Listener: l}
	*s = append(*s, bound)
	return bound
}

// set changes the limits for connections to come.
func (s limits) set(most int, proxies limit.Proxies) {
	for _, l := range s {
		l.Set(most, proxies)
	}
}

// closeListener closes a listener if nothing came of it.
func closeListener(err *error, l net.Listener) {
	if *err != nil && l != nil {
		_ = l.Close()
	}
}
