package agent_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

// If a person updates or resumes a project, it is asked for work now, however long ago it had none.
func TestUpdateAsksForWork(t *testing.T) {
	t.Parallel()
	for _, action := range []control.ProjectAction{control.UpdateProject, control.ResumeProject, control.AllowMoreWork} {
		w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), func(db *state.DB, tx *state.Tx) {
			waiting(db, tx)
			for key := range db.Results.All() {
				db.Results.Delete(tx, key)
			}
			p, _ := db.Projects.Get(demoURL)
			p.Contact.MinRPCTime = time.Time{}
			p.Fetch.Failures, p.Fetch.NextTry, p.Fetch.Why = 9, time.Now().Add(20*time.Hour), "no tasks available"
			db.Projects.Put(tx, demoURL, p)
		})
		w.run(func(t *testing.T) {
			w.after(t, time.Minute)
			if n := w.count(sched); n > 0 {
				t.Fatalf("%d requests while it is left alone", n)
			}
			must(t, w.a.SteerProject(t.Context(), demoURL, action))
			w.after(t, time.Minute)
			if w.count(sched) == 0 {
				t.Fatalf("%s: not asked", action)
			}
			if r := w.request(t, 0); r.CPUReqSeconds <= 0 {
				t.Errorf("%s: asked for %v s of work", action, r.CPUReqSeconds)
			}
		})
	}
}

// If a person updates a project twice within seconds, and the server wants a short pause, work is
// not delayed by ten minutes. Other refusals with a code are shown at once.
func TestAHastyUpdate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says string
		asked      int // within a minute
		work       reason.Code
	}{
		{"a pause", "<message priority=\"low\">Not sending work. Last request too recent.</message>\n", 2, "no_work_backoff"},
		{"a limit", "<message priority=\"low\">No tasks</message>\n<starling_refusal code=\"tasks_in_progress\" need=\"9\" have=\"8\"/>\n", 1, "no_work_backoff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reply := "<scheduler_reply>\n<scheduler_version>800</scheduler_version>\n<request_delay>7</request_delay>\n" + tt.says + "</scheduler_reply>\n"
			w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: []byte(reply)}), func(db *state.DB, tx *state.Tx) {
				waiting(db, tx)
				for key := range db.Results.All() {
					db.Results.Delete(tx, key)
				}
				p, _ := db.Projects.Get(demoURL)
				p.Contact.MinRPCTime, p.Contact.LastRPC, p.Contact.Initialized = time.Now().Add(time.Hour), time.Now().Add(-3*time.Second), true
				db.Projects.Put(tx, demoURL, p)
			})
			w.run(func(t *testing.T) {
				must(t, w.a.SteerProject(t.Context(), demoURL, control.UpdateProject))
				p := w.project(t, time.Minute)
				if n := w.count(sched); n != tt.asked || p.WorkCode != tt.work {
					t.Fatalf("asked %d times within a minute, want %d: as the person wished, and after the pause that the server wants; %+v", n, tt.asked, p)
				}
				w.after(t, 4*time.Minute)
				if n := w.count(sched); n != tt.asked {
					t.Errorf("asked %d times within five minutes: what has no work is left alone", n)
				}
			})
		})
	}
}
