// Package control connects people and tools with a running agent: a JSON interface on a socket in
// the data directory, on Windows a named pipe. It admits the agent's own user and root, and the
// members of a group if the agent serves the whole computer.
//
// It shows the agent's data and passes requests on. It decides nothing.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/starling-grid/starling/internal/negotiate"
	"github.com/starling-grid/starling/internal/peercred"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// An Activity is the subject of a mode.
type Activity string

// The activities. The zero value is Computing, on the CPUs and everything else.
const (
	Computing Activity = ""
	Network   Activity = "network"
	GPUs      Activity = "gpu" // computing on coprocessors
)

// A ProjectAction is a person's request for a project.
type ProjectAction string

// The actions for a project.
const (
	UpdateProject  ProjectAction = "update" // contact it now
	SuspendProject ProjectAction = "suspend"
	ResumeProject  ProjectAction = "resume"
	NoMoreWork     ProjectAction = "nomorework"
	AllowMoreWork  ProjectAction = "allowmorework"
	DetachDone     ProjectAction = "detach when done" // fetch no more, and detach when everything is reported
	StayAttached   ProjectAction = "stay attached"    // undo that
	ResetProject   ProjectAction = "reset"            // give up its tasks and files and start over
	UndoProject    ProjectAction = "undo"             // take a detach or reset back
	FinishProject  ProjectAction = "finish"           // do not wait any longer with it
)

// A TaskAction is a person's request for a task.
type TaskAction string

// The actions for a task.
const (
	SuspendTask TaskAction = "suspend"
	ResumeTask  TaskAction = "resume"
	AbortTask   TaskAction = "abort"
	AbortSoon   TaskAction = "abort soon" // in some minutes, and resume undoes it until then
)

// Serve answers on the socket in the data directory, in the background, until ctx ends. Members of
// group are also admitted, unless it is "". A socket that an earlier agent left behind is replaced.
// That is safe because the caller has locked the state file, so no other agent is running.
func Serve(ctx context.Context, dataDir, group string, a Agent, l Local, log *slog.Logger) error {
	socket, err := listen(ctx, dataDir, group != "" && peercred.Known)
	if err != nil {
		return err
	}
	mux := routes(a)
	l.routes(mux)
	srv := &http.Server{
		Handler: negotiate.Language(admit(group, mux)), ConnContext: notePeer, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := srv.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the control socket has failed; computing continues", "err", err)
		}
	}()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	return nil
}

// Handler answers the same requests as the socket, except those that admit others. It admits
// everybody: access control is the caller's business. It answers in the language of a request's
// context, see words.With.
func Handler(a Agent) http.Handler { return routes(a) }

func routes(a Agent) *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{$}", func(w http.ResponseWriter, r *http.Request) { answer(w, r, struct{}{}, nil) })
	mux.HandleFunc("GET /v1/status", show(a.Status))
	mux.HandleFunc("POST /v1/reload", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, a.Reload(r.Context()))
	})
	mux.HandleFunc("GET /v1/decision", show(a.Decision))
	mux.HandleFunc("GET /v1/prefs", show(a.Prefs))
	mux.HandleFunc("GET /v1/log/{after}", func(w http.ResponseWriter, r *http.Request) {
		after, err := strconv.Atoi(r.PathValue("after"))
		var l Log
		if err == nil {
			l, err = a.Log(r.Context(), max(0, after))
		}
		answer(w, r, l, err)
	})
	mux.HandleFunc("POST /v1/project", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, a.SteerProject(r.Context(), r.PostFormValue("project"), ProjectAction(r.PostFormValue("action"))))
	})
	mux.HandleFunc("POST /v1/task", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, a.SteerTask(r.Context(), r.PostFormValue("project"), r.PostFormValue("task"), TaskAction(r.PostFormValue("action"))))
	})
	mux.HandleFunc("POST /v1/mode", func(w http.ResponseWriter, r *http.Request) {
		kind, errKind := ParseMode(r.PostFormValue("mode"))
		d, errTime := time.ParseDuration(r.PostFormValue("for"))
		err := errors.Join(errKind, errTime)
		if err == nil {
			what := Activity(r.PostFormValue("of"))
			if r.PostFormValue("network") == "true" { // of programs of version 0.1
				what = Network
			}
			err = a.SetMode(r.Context(), what, kind, d)
		}
		answer(w, r, struct{}{}, err)
	})
	mux.HandleFunc("POST /v1/attach", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, a.Attach(r.Context(), r.PostFormValue("project"), protocol.Authenticator(r.PostFormValue("key"))))
	})
	mux.HandleFunc("POST /v1/detach", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, a.Detach(r.Context(), r.PostFormValue("project")))
	})
	mux.HandleFunc("POST /v1/manager/join", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), managerPatience)
		defer cancel()
		answer(w, r, struct{}{}, a.JoinManager(ctx, r.PostFormValue("url"), r.PostFormValue("login"), r.PostFormValue("passwd_hash")))
	})
	mux.HandleFunc("POST /v1/manager/sync", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), managerPatience)
		defer cancel()
		answer(w, r, struct{}{}, a.SyncManager(ctx))
	})
	mux.HandleFunc("POST /v1/manager/leave", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, a.LeaveManager(r.Context(), r.PostFormValue("detach") == "true"))
	})
	drainRoutes(mux, a)
	historyRoutes(mux, a)
	noticeRoutes(mux, a)
	desktopRoutes(mux, a)
	editRoutes(mux, a)
	return mux
}

// managerPatience is the time that people wait for an account manager's answer, less than a Client
// waits for the agent's.
const managerPatience = 25 * time.Second

// ParseMode reads a mode's name.
func ParseMode(s string) (prefs.ModeKind, error) {
	for kind, name := range modeNames {
		if name == s {
			return kind, nil
		}
	}
	return prefs.Auto, words.Refuse(words.T("unknown mode {mode}; use always, auto or never", "mode", strconv.Quote(s)))
}

var modeNames = map[prefs.ModeKind]string{prefs.Auto: "auto", prefs.Always: "always", prefs.Never: "never"}

// ModeName returns the name of a mode.
func ModeName(kind prefs.ModeKind) string { return modeNames[kind] }

// show answers with what ask returns.
func show[T any](ask func(context.Context) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := ask(r.Context())
		answer(w, r, v, err)
	}
}

// answer answers with a value, or with the error in the language of the request.
func answer(w http.ResponseWriter, r *http.Request, v any, err error) {
	if err != nil {
		Refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a caller that has gone does not need an answer
}

// Refuse answers with the text of an error, in the language of the request's context.
func Refuse(w http.ResponseWriter, r *http.Request, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": sysfault.Text(err).In(words.LanguageOf(r.Context()))})
}
