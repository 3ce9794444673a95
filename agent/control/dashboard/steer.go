package dashboard

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
)

// maxBody is the maximum size of a page's request, in bytes.
const maxBody = 64 << 10

// read reads a page's request. If that is not valid, it answers with an error itself.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	return readMost(w, r, into, maxBody)
}

func readMost(w http.ResponseWriter, r *http.Request, into any, most int64) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		control.Refuse(w, r, http.StatusBadRequest, words.Explain(err, words.T("invalid request: {why}", "why", sysfault.Text(err))))
		return false
	}
	return true
}

// refuseAs answers with a sentence and a code for the page.
func refuseAs(w http.ResponseWriter, r *http.Request, code string, text words.Text) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnprocessableEntity)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": text.In(words.LanguageOf(r.Context())), "code": code})
}

// answer answers with the result or the error.
func answer(w http.ResponseWriter, r *http.Request, v any, err error) {
	if err != nil {
		control.Refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) steerProject(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Project string                `json:"project"`
		Action  control.ProjectAction `json:"action"`
	}
	if read(w, r, &q) {
		answer(w, r, struct{}{}, s.Agent.SteerProject(r.Context(), q.Project, q.Action))
	}
}

// maxTasks is the maximum size of a page's list of tasks, in bytes: ten thousand of them and more.
const maxTasks = 8 << 20

func (s *Server) steerTasks(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Tasks  []control.TaskRef  `json:"tasks"`
		Action control.TaskAction `json:"action"`
	}
	if !readMost(w, r, &q, maxTasks) {
		return
	}
	n, err := s.Agent.SteerTasks(r.Context(), q.Tasks, q.Action)
	answer(w, r, map[string]int{"tasks": n}, err)
}

// task answers with all that is known of one task, the end of its stderr included.
func (s *Server) task(w http.ResponseWriter, r *http.Request) {
	t, err := s.Agent.Task(r.Context(), r.FormValue("project"), r.FormValue("task"))
	answer(w, r, t, err)
}

func (s *Server) steerTransfer(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Project string `json:"project"`
		File    string `json:"file"`
		Abort   bool   `json:"abort"`
	}
	if read(w, r, &q) {
		answer(w, r, struct{}{}, s.Agent.SteerTransfer(r.Context(), q.Project, q.File, q.Abort))
	}
}

func (s *Server) mode(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Activity control.Activity `json:"activity"`
		Mode     string           `json:"mode"`
		Minutes  float64          `json:"minutes"` // 0: until changed
	}
	if !read(w, r, &q) {
		return
	}
	kind, err := control.ParseMode(q.Mode)
	if err == nil && !(q.Minutes >= 0 && q.Minutes <= 366*24*60) {
		err = words.Refuse(words.T("{n} minutes: the duration must be between 0 and one year", "n", words.Float(q.Minutes)))
	}
	if err == nil {
		err = s.Agent.SetMode(r.Context(), q.Activity, kind, time.Duration(q.Minutes*float64(time.Minute)))
	}
	answer(w, r, struct{}{}, err)
}

func (s *Server) drain(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Scope string `json:"scope"` // "": cancel it
	}
	if !read(w, r, &q) {
		return
	}
	scope, err := control.ParseDrainScope(q.Scope)
	if err == nil {
		err = s.Agent.Drain(r.Context(), scope)
	}
	answer(w, r, struct{}{}, err)
}

func (s *Server) detach(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Project string `json:"project"`
	}
	if read(w, r, &q) {
		answer(w, r, struct{}{}, s.Agent.Detach(r.Context(), q.Project))
	}
}
