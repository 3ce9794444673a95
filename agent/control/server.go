// Package control is how people and tools reach a running agent: today a JSON
// interface on a socket in the data directory, which only the agent's own user
// can open.
//
// It shows what the agent tells it and passes requests on; it decides nothing.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// SocketName is the socket's name in the data directory.
const SocketName = "control.sock"

// maxSocketPath is what the least system allows for a socket's path.
const maxSocketPath = 103

// An Agent is what the interface needs of the agent. Its methods may be called
// concurrently.
type Agent interface {
	Status(ctx context.Context) (Status, error)
	// Reload reads the account and preference files again and returns what is
	// wrong with them.
	Reload(ctx context.Context) error
	// Update contacts a project as soon as it can, whatever it asked for.
	Update(ctx context.Context, masterURL string) error
}

// Serve answers on the socket in the data directory, in the background, until
// ctx ends. A socket that an earlier agent left behind is replaced; the caller
// holds the state file and so knows that none is running.
func Serve(ctx context.Context, dataDir string, a Agent, log *slog.Logger) error {
	path := filepath.Join(dataDir, SocketName)
	if len(path) > maxSocketPath {
		return fmt.Errorf("control socket %s: the path is longer than %d bytes; choose a shorter --data", path, maxSocketPath)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("control socket: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return fmt.Errorf("control socket: %w", errors.Join(err, l.Close()))
	}
	srv := &http.Server{Handler: routes(a), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the agent cannot be reached any more; computing continues", "error", err)
		}
	}()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	return nil
}

func routes(a Agent) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/status", func(w http.ResponseWriter, r *http.Request) {
		s, err := a.Status(r.Context())
		answer(w, s, err)
	})
	mux.HandleFunc("POST /v1/reload", func(w http.ResponseWriter, r *http.Request) {
		answer(w, struct{}{}, a.Reload(r.Context()))
	})
	mux.HandleFunc("POST /v1/update", func(w http.ResponseWriter, r *http.Request) {
		answer(w, struct{}{}, a.Update(r.Context(), r.URL.Query().Get("project")))
	})
	return mux
}

func answer(w http.ResponseWriter, v any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
		v = map[string]string{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(v) // a caller that has gone needs no answer
}
