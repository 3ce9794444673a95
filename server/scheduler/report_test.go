package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

func TestReports(t *testing.T) {
	w := newWorld(t)
	w.addWork("tt_1117", 1)
	w.addWork("tt_1118", 1)
	host := w.first().HostID
	w.now = w.now.Add(time.Minute)

	got := w.as(host, 1, "07-report-one-ok")
	if want := []string{"tt_1117_0"}; !slices.Equal(got.ResultAcks, want) {
		t.Errorf("acks %v, want %v", got.ResultAcks, want)
	}
	ok := w.result("tt_1117_0")
	if ok.ServerState != store.Over || ok.Outcome != store.Success || ok.ValidateState != store.ValidateInit || !ok.ReceivedTime.Equal(w.now) {
		t.Errorf("good result: %+v", ok)
	}
	w.update(func(tx *store.Tx) error {
		wu, err := tx.Workunit(ok.WorkunitID)
		if wu.TransitionTime.After(w.now) {
			t.Error("the transitioner is not told")
		}
		return err
	})
	w.as(host, 2, "08-report-error")
	if r := w.result("tt_1118_0"); r.Outcome != store.ClientError || r.ValidateState != store.Invalid || r.ExitStatus != 42 {
		t.Errorf("failed result: %+v", r)
	}
	w.now = w.now.Add(time.Minute)
	got = w.as(host, 3, "09-report-again-and-unknown")
	if want := []string{"tt_1117_0", "never_heard_of_0"}; !slices.Equal(got.ResultAcks, want) {
		t.Errorf("acks %v, want %v", got.ResultAcks, want)
	}
	if again := w.result("tt_1117_0"); again != ok {
		t.Errorf("a second report changed the result: %+v", again)
	}
}

func TestLateReports(t *testing.T) {
	for _, outcome := range []store.Outcome{store.NoReply, store.ClientDetached} {
		t.Run(outcome.String(), func(t *testing.T) {
			w := newWorld(t)
			w.addWork("tt_1117", 1)
			host := w.first().HostID
			w.update(func(tx *store.Tx) error {
				old, err := tx.ResultByName("tt_1117_0")
				if err != nil {
					return err
				}
				r := old
				r.ServerState, r.Outcome, r.FileDeleteState = store.Over, outcome, store.DeleteDone
				return storetest.SaveResult(tx, old, r)
			})
			w.as(host, 1, "07-report-one-ok")
			if r := w.result("tt_1117_0"); r.Outcome != store.Success || r.FileDeleteState != store.DeleteInit {
				t.Errorf("got %v, files %v; want it accepted and its files to be deleted again", r.Outcome, r.FileDeleteState)
			}
		})
	}
	t.Run("another user's result is acknowledged and left alone", func(t *testing.T) {
		w := newWorld(t)
		w.addWork("tt_1117", 1)
		w.first()
		w.update(func(tx *store.Tx) error {
			u := w.User
			u.EmailAddr, u.Authenticator = "b@example.org", "00000000000000000000000000000002"
			_, err := tx.InsertUser(u)
			return err
		})
		got := w.as(0, 0, "07-report-one-ok", "<authenticator>00000000000000000000000000000001", "<authenticator>00000000000000000000000000000002")
		if len(got.ResultAcks) != 1 || w.result("tt_1117_0").ServerState != store.InProgress {
			t.Errorf("acks %v, state %v", got.ResultAcks, w.result("tt_1117_0").ServerState)
		}
	})
}
