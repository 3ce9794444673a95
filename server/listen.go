package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// answer has h answer what arrives at l, until ctx ends, then lets requests under way
// finish. Without l it waits for that.
func answer(ctx context.Context, l net.Listener, h http.Handler) error {
	if l == nil {
		<-ctx.Done()
		return nil
	}
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 20 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
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

// closeListener closes a listener if nothing came of it.
func closeListener(err *error, l net.Listener) {
	if *err != nil && l != nil {
		_ = l.Close()
	}
}
