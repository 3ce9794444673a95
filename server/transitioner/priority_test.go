package transitioner_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
)

// Replacements for failed results are sent before the first results. First results, and the results
// of a workunit that was revived, have the workunit's own priority.
func TestReplacementsGoFirst(t *testing.T) {
	st := storetest.Open(t, t.TempDir())
	w := storetest.Fill(t, st)
	tr := &transitioner.Transitioner{
		Store: st, Log: slog.New(slog.DiscardHandler), Urgent: match.Urgent{PriorityOnOver: 7},
		Describe: func(store.Workunit, string, int64) (string, error) { return "<result>\n</result>\n", nil },
	}
	for _, tt := range []struct {
		name    string
		results []store.Result
		revived bool
		want    int64
	}{
		{"nothing was sent", nil, false, 3},
		{"one is out", []store.Result{inProgress}, false, 3},
		{"one failed", []store.Result{failed}, false, 10},
		{"one is late", []store.Result{overdue}, false, 10},
		{"one agreed with none", []store.Result{inconclusive, inconclusive, inProgress}, false, 10},
		{"one failed before it was revived", []store.Result{failed}, true, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wu := w.Workunit(tt.name)
			wu.Priority, wu.TransitionTime, wu.TargetNResults = 3, now, 4
			wu, rs := storetest.Add(t, st, wu, len(tt.results))
			storetest.Update(t, st, func(tx *store.Tx) error {
				for i, want := range tt.results {
					r := rs[i]
					r.HostID, r.UserID, r.SentTime, r.ReportDeadline = 1, 1, late, due
					if !want.ReportDeadline.IsZero() {
						r.ReportDeadline = want.ReportDeadline
					}
					if err := tx.Send(r); err != nil {
						return err
					}
					old, err := tx.ResultByName(r.Name)
					if err != nil {
						return err
					}
					r = old
					r.ServerState, r.Outcome, r.ValidateState = want.ServerState, want.Outcome, want.ValidateState
					if r == old {
						continue
					}
					if err := storetest.SaveResult(tx, old, r); err != nil {
						return err
					}
				}
				if !tt.revived {
					return nil
				}
				after := wu
				after.ErrorMask = store.ErrorTooManyErrors
				if err := tx.SaveWorkunit(wu, after); err != nil {
					return err
				}
				_, err := transitioner.Retry(tx, wu.ID, false, now, "test")
				return err
			})
			if _, err := tr.Pass(t.Context(), now.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			made := storetest.Get(t, st, (*store.View).ResultsOf, wu.ID)[len(rs):]
			if len(made) == 0 {
				t.Error("no result was made")
			}
			for _, r := range made {
				if r.Priority != tt.want {
					t.Errorf("%s has priority %d, want %d", r.Name, r.Priority, tt.want)
				}
			}
		})
	}
}
