// Package dashboard is the agent's page in a browser: the agent's activities, their reasons, and
// the means to change them. All of it is in the binary. The page loads nothing from the network.
//
// It shows the agent's data and passes requests on. It decides nothing. See access.go for access
// control, and live.go for the events that are sent to pages.
//
// The page itself is in assets, as modules with one idea each and no build step:
//
//	app.js                   joins the stream of events (live.js) and the tabs
//	tabs.js, address.js      the tabs and their addresses
//	model.js                 the data of the stream in the shape that tabs need
//	overview.js … log.js     one tab each (task.js and project.js fill the drawer)
//	welcome.js               the overview until a project is attached
//	virtual.js               tables with only the visible rows in the page
//	notices.js               projects' announcements, as text
//	computers.js, pair.js    all computers of a person, and the dialog that adds one
//	bands.js, spans.js       the timeline of the history, drawn and in words
//	columns.js, arrange.js   the columns of tasks, and filter, order and groups
//	chips.js, select.js      the filters by state, and the selected tasks
//	attention.js             problems that need attention
//	menu.js, icons.js        menus and icons
//	dom.js, words.js, ask.js small functions
//	language.js              the texts in the browser's language (language.go)
package dashboard

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/look"
	"github.com/starling-grid/starling/internal/negotiate"
	"github.com/starling-grid/starling/prefs"
)

//go:embed assets
var embedded embed.FS

// An Agent has the methods of the agent that the dashboard needs. They may be called concurrently.
// Errors are sentences for people.
type Agent interface {
	Viewer
	PrefsKeeper
	control.Steerer
	control.Drainer
	control.TasksSteerer
	control.TransferSteerer
	control.Attacher
	control.Accounts
	control.Logs
	control.Historian
	control.Noticer
	control.ManagerFollower
}

// A Viewer returns the page's data.
type Viewer interface {
	Dashboard(ctx context.Context) (view.Page, error)
	// Task returns everything about one task. It returns control.ErrNoTask if it does not exist.
	Task(ctx context.Context, project, name string) (view.Task, error)
}

// A Known project is one that the page offers to attach to.
type Known struct {
	Name  string `json:"name"`
	URL   string `json:"url"` // the master URL
	Area  string `json:"area"`
	About string `json:"about"`           // a sentence
	First bool   `json:"first,omitempty"` // offered to a newcomer before the others
}

// A PrefsKeeper has the preferences, and the tools' changes to them.
type PrefsKeeper interface {
	Prefs(ctx context.Context) (prefs.Effective, error)
	PrefsOverride(ctx context.Context) (prefs.Layer, error)
	SetPrefsOverride(ctx context.Context, l prefs.Layer) error
}

// A Server serves the dashboard of one agent.
type Server struct {
	Agent Agent
	Log   *slog.Logger
	// Token lets a browser in. Port is the port on which the agent listens.
	Token, Port string
	// Known projects are offered to people for attaching.
	Known []Known
	// Confinement has the limits of tasks, for a newcomer to read.
	Confinement Confinement
	// Computers are the others that the page shows. With nil it shows none.
	Computers Computers

	tickets tickets
	looks   looks
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
		WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
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

// handler returns the handler for everything that is served on a port.
func (s *Server) handler(port string) http.Handler {
	assets, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // the folder is part of the binary
	}
	open := http.NewServeMux() // for everybody on this computer
	open.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) { s.login(w, r, port) })
	open.HandleFunc("GET /base.css", look.Base)
	open.Handle("GET /style.css", http.FileServerFS(assets))
	open.HandleFunc("GET /icon.svg", look.Icon)

	own := http.NewServeMux() // requires the token
	own.Handle("GET /", pages(assets))
	own.HandleFunc("GET /catalog.json", s.catalog)
	own.HandleFunc("GET /api/events", s.events)
	own.HandleFunc("GET /api/prefs", s.prefs)
	own.HandleFunc("POST /api/prefs", s.setPrefs)
	own.HandleFunc("POST /api/prefs/preview", s.previewPrefs)
	own.HandleFunc("GET /api/history", s.history)
	own.HandleFunc("GET /api/history.csv", s.historyCSV)
	own.HandleFunc("GET /api/timeline", s.timeline)
	own.HandleFunc("GET /api/notices", s.notices)
	own.HandleFunc("GET /api/known", s.known)
	own.HandleFunc("GET /api/welcome", s.welcome)
	own.HandleFunc("POST /api/attach/config", s.config)
	own.HandleFunc("POST /api/attach", s.attach)
	own.HandleFunc("POST /api/manager", s.manager)
	own.HandleFunc("POST /api/detach", s.detach)
	own.HandleFunc("POST /api/project", s.steerProject)
	own.HandleFunc("GET /api/task", s.task)
	own.HandleFunc("POST /api/tasks", s.steerTasks)
	own.HandleFunc("POST /api/transfer", s.steerTransfer)
	own.HandleFunc("POST /api/mode", s.mode)
	own.HandleFunc("POST /api/drain", s.drain)
	s.computerRoutes(own)
	open.Handle("/", s.admit(port, own))
	return guard(port, negotiate.Language(open))
}

// pages serves the files, and index.html for the address of each tab: a path without an extension.
// The page itself has the list of tabs.
func pages(assets fs.FS) http.Handler {
	files := http.FileServerFS(assets)
	index, err := fs.ReadFile(assets, "index.html")
	if err != nil {
		panic(err) // the file is part of the binary
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Ext(r.URL.Path) == "" && !strings.HasPrefix(r.URL.Path, "/api/") {
			writePage(w, r, http.StatusOK, string(index))
			return
		}
		files.ServeHTTP(w, r)
	})
}
