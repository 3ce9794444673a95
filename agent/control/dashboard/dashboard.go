// Package dashboard is the agent's page in a browser: what goes on, why nothing
// else does, and the means to change it. All of it is in the binary; the page
// loads nothing from the network.
//
// It shows what the agent tells it and passes requests on; it decides nothing.
// See access.go for whom it answers.
package dashboard

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/guirpc"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

//go:embed assets
var embedded embed.FS

// An Agent is what the dashboard needs of the agent. Its methods may be called
// concurrently; errors are sentences that are shown to people.
type Agent interface {
	Dashboard(ctx context.Context) (View, error)
	Messages(after int) []guirpc.Message
	Prefs(ctx context.Context) (prefs.Effective, error)
	// PrefsOverride returns what tools changed of the preferences.
	PrefsOverride(ctx context.Context) (prefs.Layer, error)
	SetPrefsOverride(ctx context.Context, l prefs.Layer) error
	SteerProject(ctx context.Context, masterURL string, what control.ProjectAction) error
	SteerTask(ctx context.Context, project, name string, what control.TaskAction) error
	SteerTransfer(ctx context.Context, project, name string, abort bool) error
	SetMode(ctx context.Context, network bool, kind prefs.ModeKind, d time.Duration) error
	Attach(ctx context.Context, masterURL string, key protocol.Authenticator) error
	Detach(ctx context.Context, masterURL string) error
	// LookupAccount takes BOINC's hash of a password.
	LookupAccount(ctx context.Context, masterURL, email, passwdHash string) (protocol.Authenticator, error)
}

// A View is what the page shows, as of one instant.
type View struct {
	Status      control.Status                `json:"status"`
	Compute     prefs.Permission              `json:"compute"`
	Network     prefs.Permission              `json:"network"`
	RunUntil    time.Time                     `json:"run_until,omitzero"`     // then the mode is auto again; zero: for good
	NetUntil    time.Time                     `json:"network_until,omitzero"` // likewise
	CPUs        int                           `json:"cpus"`                   // that may be used now
	AllCPUs     int                           `json:"all_cpus"`
	Memory      int64                         `json:"memory"`                    // bytes that tasks may use; 0: no limit
	Temperature float64                       `json:"cpu_temperature,omitempty"` // °C of the hottest sensor; 0: not known
	Plans       map[string]decide.ProjectPlan `json:"plans"`                     // by master URL
	Credit      map[string][]Day              `json:"credit"`                    // by master URL, oldest first
}

// A Day is the credit that the account and this computer had at its end.
type Day struct {
	Day  time.Time `json:"day"` // its begin, UTC
	User float64   `json:"user"`
	Host float64   `json:"host"`
}

// A Server serves the dashboard of one agent.
type Server struct {
	Agent Agent
	Log   *slog.Logger
	// Token is what lets a browser in.
	Token string

	looks looks
}

// Serve answers on l, which must be on loopback, until ctx ends, and then closes
// it.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	srv := &http.Server{
		Handler: s.handler(port), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog:    slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler is everything that is served on a port.
func (s *Server) handler(port string) http.Handler {
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the folder is part of the binary
	}
	open := http.NewServeMux() // for everybody on this computer
	open.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) { s.login(w, r, port) })
	open.Handle("GET /style.css", http.FileServerFS(assets))
	open.Handle("GET /icon.svg", http.FileServerFS(assets))

	own := http.NewServeMux() // for who has the token
	own.Handle("GET /", http.FileServerFS(assets))
	own.HandleFunc("GET /api/events", s.events)
	own.HandleFunc("GET /api/prefs", s.prefs)
	own.HandleFunc("POST /api/prefs", s.setPrefs)
	own.HandleFunc("POST /api/prefs/preview", s.previewPrefs)
	own.HandleFunc("POST /api/attach", s.attach)
	own.HandleFunc("POST /api/detach", s.detach)
	own.HandleFunc("POST /api/project", s.steerProject)
	own.HandleFunc("POST /api/task", s.steerTask)
	own.HandleFunc("POST /api/transfer", s.steerTransfer)
	own.HandleFunc("POST /api/mode", s.mode)
	open.Handle("/", s.known(port, own))
	return guard(port, open)
}
