package control

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// A Remote is the door for other computers. Its methods may be called concurrently.
type Remote interface {
	// Invite makes a code with which one computer may pair.
	Invite() (Invitation, error)
	// Paired lists the computers that are let in.
	Paired() ([]Paired, error)
	Revoke(name string) error
}

// An Invitation lets one computer pair, until it ends.
type Invitation struct {
	Code        string    `json:"code"`
	Until       time.Time `json:"until"`
	Fingerprint string    `json:"fingerprint"` // SHA-256 of the agent's certificate
	Port        int       `json:"port"`
}

// Paired is a computer that may control the agent or, at the other end, an agent that
// may be controlled.
type Paired struct {
	Name        string    `json:"name" toml:"name"`
	Fingerprint string    `json:"fingerprint" toml:"fingerprint"` // SHA-256 of its certificate
	Since       time.Time `json:"since" toml:"since"`
}

// noRemote is the door that stays shut.
type noRemote struct{}

var errNoRemote = words.Refuse(words.T("remote control is off: set remote_port = 31419 in starling.toml and restart the agent"))

func (noRemote) Invite() (Invitation, error) { return Invitation{}, errNoRemote }
func (noRemote) Paired() ([]Paired, error)   { return nil, errNoRemote }
func (noRemote) Revoke(string) error         { return errNoRemote }

// remoteRoutes are only for people at this computer: a remote computer cannot admit a third one.
func remoteRoutes(mux *http.ServeMux, door Remote) {
	if door == nil {
		door = noRemote{}
	}
	mux.HandleFunc("POST /v1/remote/invite", func(w http.ResponseWriter, r *http.Request) {
		i, err := door.Invite()
		answer(w, r, i, err)
	})
	mux.HandleFunc("GET /v1/remote", func(w http.ResponseWriter, r *http.Request) {
		all, err := door.Paired()
		answer(w, r, all, err)
	})
	mux.HandleFunc("POST /v1/remote/revoke", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, door.Revoke(r.PostFormValue("name")))
	})
}

// Invite makes the agent create a code with which one computer may pair.
func (c *Client) Invite(ctx context.Context) (i Invitation, err error) {
	err = c.call(ctx, http.MethodPost, "remote/invite", nil, &i)
	return i, err
}

// Paired lists the computers that may control the agent.
func (c *Client) Paired(ctx context.Context) ([]Paired, error) {
	return get[[]Paired](ctx, c, "remote")
}

// Revoke makes the agent forget a computer.
func (c *Client) Revoke(ctx context.Context, name string) error {
	return c.call(ctx, http.MethodPost, "remote/revoke", url.Values{"name": {name}}, nil)
}
