package pages

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/ranking"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

// status shows the progress of the work: as a page, with ?xml=1 in the manner of BOINC's
// server_status.php, with ?json=1 in the form of `status --json`, or with ?counts=1 only the counts
// that programs which submit work look at.
func (p *Pages) status(w http.ResponseWriter, r *http.Request) {
	st, err := p.Counts.Get(r.Context(), counts.Fresh)
	if err != nil {
		p.Log.Error("status page failed", "err", err)
		unavailable(w, r)
		return
	}
	switch q := r.URL.Query(); {
	case q.Get("json") != "":
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(st)
	case q.Get("xml") != "":
		w.Header().Set("Content-Type", "text/xml")
		_, _ = w.Write(p.statusXML(r.Context(), st))
	case q.Get("counts") != "":
		w.Header().Set("Content-Type", "text/xml")
		_, _ = w.Write(countsXML(st))
	default:
		w.Header().Set("Refresh", "30")
		p.show(w, r, http.StatusOK, "status.html", map[string]any{"Status": st})
	}
}

// countsXML returns the counts in the form for clients that submit work.
//
// Source: BOINC lib/submit_api.py, get_job_counts.
func countsXML(st counts.Status) []byte {
	var w bxml.Writer
	w.Open("job_counts")
	w.Int("results_ready_to_send", st.Results.ByServerState[store.Unsent.String()])
	w.Int("results_in_progress", st.Results.ByServerState[store.InProgress.String()])
	w.Int("results_need_file_delete", st.Results.WaitingFileDelete)
	w.Int("wus_need_validate", st.Workunits.NeedValidate)
	w.Int("wus_need_assimilate", st.Workunits.WaitingAssimilate)
	w.Int("wus_need_file_delete", st.Workunits.WaitingFileDelete)
	w.Close("job_counts")
	return w.Bytes()
}

// statusXML returns the status in BOINC's form. It lists only the parts of the server that run in
// this process.
//
// Source: BOINC html/user/server_status.php, show_status_xml.
func (p *Pages) statusXML(ctx context.Context, st counts.Status) []byte {
	var w bxml.Writer
	w.Open("server_status")
	w.Int("update_time", time.Now().Unix())
	w.Open("daemon_status")
	for _, role := range p.Roles {
		w.Open("daemon")
		w.Text("host", "localhost")
		w.Text("command", role)
		w.Text("status", "running")
		w.Close("daemon")
	}
	w.Close("daemon_status")
	w.Open("database_file_states")
	w.Int("results_ready_to_send", st.Results.ByServerState[store.Unsent.String()])
	w.Int("results_in_progress", st.Results.ByServerState[store.InProgress.String()])
	w.Int("workunits_waiting_for_validation", st.Workunits.NeedValidate)
	w.Int("workunits_waiting_for_assimilation", st.Workunits.WaitingAssimilate)
	w.Int("workunits_waiting_for_deletion", st.Workunits.WaitingFileDelete)
	w.Int("results_waiting_for_deletion", st.Results.WaitingFileDelete)
	w.Float("transitioner_backlog_hours", float64(st.OldestAge["transition_due"])/3600)
	w.Int("users_registered", st.Users)
	w.Int("hosts_registered", st.Hosts)
	if t, err := p.Standings.Get(ctx, ranking.Fresh); err == nil {
		w.Int("users_with_credit", int64(t.Earning))
		w.Float("current_floating_point_speed", t.Speed/1e9)
	}
	w.Open("tasks_by_app")
	for _, a := range st.ByApp {
		w.Open("app")
		w.Int("id", a.ID)
		w.Text("name", a.FullName)
		w.Int("unsent", a.Unsent)
		w.Int("in_progress", a.InProgress)
		w.Close("app")
	}
	w.Close("tasks_by_app")
	w.Close("database_file_states")
	w.Close("server_status")
	return w.Bytes()
}
