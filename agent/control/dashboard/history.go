package dashboard

import (
	"bytes"
	"context"
	"net/http"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/sheet"
	"github.com/starling-grid/starling/internal/words"
)

// history answers with a page of the tasks that have ended, on this computer or on another.
func (s *Server) history(w http.ResponseWriter, r *http.Request) {
	pageOf(s, w, r, control.Historian.History)
}

// timeline answers with a page of what this computer, or another, did.
func (s *Server) timeline(w http.ResponseWriter, r *http.Request) {
	pageOf(s, w, r, control.Historian.Timeline)
}

func pageOf[T any](s *Server, w http.ResponseWriter, r *http.Request, ask func(control.Historian, context.Context, control.HistoryQuery) (T, error)) {
	q, err := control.ParseHistoryQuery(r.URL.Query())
	if err != nil {
		control.Refuse(w, r, http.StatusBadRequest, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	a, err := s.at(r.FormValue("address"))
	var page T
	if err == nil {
		page, err = ask(a, ctx, q)
	}
	answer(w, r, page, inTime(ctx, err))
}

// notices answers with what projects announced.
func (s *Server) notices(w http.ResponseWriter, r *http.Request) {
	all, err := s.Agent.Notices(r.Context(), r.URL.Query().Get("project"))
	answer(w, r, all, err)
}

// historyCSV answers with what starling history --csv prints: all tasks that have ended.
func (s *Server) historyCSV(w http.ResponseWriter, r *http.Request) {
	tasks, err := allTasks(words.With(r.Context(), words.English), s.Agent) // data, like JSON
	var b bytes.Buffer
	if err == nil {
		err = sheet.WriteTasks(&b, tasks)
	}
	if err != nil {
		control.Refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="starling-history.csv"`)
	_, _ = w.Write(b.Bytes())
}

// allTasks gets the whole history, page by page, so that the agent computes in between. The
// history is bounded, and so is this.
func allTasks(ctx context.Context, a control.Historian) (all []control.HistoryTask, err error) {
	for q := (control.HistoryQuery{}); ; {
		h, err := a.History(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, h.Tasks...)
		if h.Next == 0 {
			return all, nil
		}
		q.Before = h.Next
	}
}
