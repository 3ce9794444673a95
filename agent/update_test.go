package agent_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/state"
)

// A person who has a project contacted, or resumes it, wants work from it now, however
// long ago it had none.
func TestUpdateAsksForWork(t *testing.T) {
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
			if err := w.a.SteerProject(t.Context(), demoURL, action); err != nil {
				t.Fatal(err)
			}
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
