package control

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/words"
)

// A Drainer brings the computer to rest without losing work, and ends the agent.
type Drainer interface {
	// Drain starts a drain, or cancels one if scope is "". It lasts until then or until the agent
	// ends.
	Drain(ctx context.Context, scope decide.DrainScope) error
	// Quit ends the agent as a signal does.
	Quit()
}

// A Drain is a drain in progress, for people.
type Drain struct {
	Scope decide.DrainScope `json:"scope"`
	Since time.Time         `json:"since"`
	Done  bool              `json:"done"`           // everything is finished, uploaded and reported
	Left  string            `json:"left,omitempty"` // remaining work ("" if Done)
	Tasks int               `json:"tasks"`          // that it waits for
	// Remaining is the estimated number of seconds until the last task is computed, or 0 if
	// unknown.
	Remaining float64 `json:"remaining_seconds,omitempty"`
}

// ParseDrainScope reads the name of a scope.
func ParseDrainScope(s string) (decide.DrainScope, error) {
	switch scope := decide.DrainScope(s); scope {
	case decide.DrainRunning, decide.DrainCheckpoint, decide.DrainAll, "":
		return scope, nil
	}
	return "", words.Refuse(words.T("unknown scope {scope} of a drain; use {running}, {checkpoint} or {all}", "scope", strconv.Quote(s),
		"running", string(decide.DrainRunning), "checkpoint", string(decide.DrainCheckpoint), "all", string(decide.DrainAll)))
}

func drainRoutes(mux *http.ServeMux, a Drainer) {
	mux.HandleFunc("POST /v1/drain", func(w http.ResponseWriter, r *http.Request) {
		scope, err := ParseDrainScope(r.PostFormValue("scope"))
		if err == nil {
			err = a.Drain(r.Context(), scope)
		}
		answer(w, r, struct{}{}, err)
	})
	mux.HandleFunc("POST /v1/quit", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, nil)
		a.Quit()
	})
}

// Drain makes the agent start a drain, or cancel it if scope is "".
func (c *Client) Drain(ctx context.Context, scope decide.DrainScope) error {
	return c.call(ctx, http.MethodPost, "drain", url.Values{"scope": {string(scope)}}, nil)
}

// Quit ends the agent as a signal does: running tasks resume from their last checkpoints when it
// starts again.
func (c *Client) Quit(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "quit", nil, nil)
}
