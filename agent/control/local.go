package control

import (
	"context"
	"net/http"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// Local has the requests that are only answered to people at this computer. A nil field switches a
// request off.
type Local struct {
	Remote    Remote
	Dashboard Dashboard
	// Doctor examines the agent and its environment, with the agent's rights: people who may
	// control it cannot always read its files. The result is sent as JSON.
	Doctor func(context.Context) any
}

// A Dashboard lets browsers in. It may be called concurrently.
type Dashboard interface {
	// Ticket returns an address that opens the dashboard once, within some
	// minutes.
	Ticket() string
}

var errNoDashboard = words.Refuse(words.T("the agent has no dashboard: its port is 0 or already in use (see the log); choose another with dashboard_port in starling.toml"))

func (l Local) routes(mux *http.ServeMux) {
	remoteRoutes(mux, l.Remote)
	mux.HandleFunc("POST /v1/dashboard", func(w http.ResponseWriter, r *http.Request) {
		if l.Dashboard == nil {
			answer(w, r, nil, errNoDashboard)
			return
		}
		answer(w, r, l.Dashboard.Ticket(), nil)
	})
	if l.Doctor != nil {
		mux.HandleFunc("GET /v1/doctor", func(w http.ResponseWriter, r *http.Request) { answer(w, r, l.Doctor(r.Context()), nil) })
	}
}

// Doctor makes the agent examine itself and puts the findings into a value of their type. That
// takes as long as the projects' servers take to answer.
func (c *Client) Doctor(ctx context.Context, into any) error {
	patient := Client{&http.Client{Timeout: doctorPatience, Transport: c.http.Transport}}
	return patient.call(ctx, http.MethodGet, "doctor", nil, into)
}

const doctorPatience = 3 * time.Minute

// Dashboard asks for an address that opens the dashboard in one browser of this computer.
func (c *Client) Dashboard(ctx context.Context) (address string, err error) {
	err = c.call(ctx, http.MethodPost, "dashboard", nil, &address)
	return address, err
}
