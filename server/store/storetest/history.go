package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

func history(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 1)
	id := rs[0].ID
	Update(t, s, func(tx *store.Tx) error {
		tx.SetCause(T0, "scheduler", "")
		r := rs[0]
		r.HostID, r.UserID, r.SentTime, r.ReportDeadline = w.Host.ID, w.User.ID, T0, T0.Add(time.Hour)
		return tx.Send(r)
	})
	Update(t, s, func(tx *store.Tx) error {
		tx.SetCause(T0.Add(time.Minute), "scheduler", "reported")
		if err := store.Change(tx.Result, id, tx.SaveResult, func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.Success }); err != nil {
			return err
		}
		same := wu
		same.TransitionTime = T0.Add(time.Minute)
		return tx.SaveWorkunit(wu, same) // the history leaves out the next transition time
	})
	if err := s.Update(t.Context(), func(tx *store.Tx) error {
		tx.SetCause(T0, "nobody", "")
		r := rs[0] // it is not like that any more
		r.ServerState, r.Outcome = store.Over, store.DidntNeed
		return tx.SaveResult(rs[0], r)
	}); !errors.Is(err, store.ErrLost) {
		t.Errorf("got %v", err)
	}
	view(t, s, func(tx *store.View) error {
		got, err := tx.ResultHistory(id)
		want := []store.Event{
			{Move: "created unsent"},
			{
				Time: T0, By: "scheduler",
				Move: "server_state unsent → in_progress, hostid 0 → 1, report_deadline none → 2027-01-15T09:00:00Z",
			},
			{Time: T0.Add(time.Minute), By: "scheduler", Why: "reported", Move: "server_state in_progress → over, outcome init → success"},
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
		of, err := tx.WorkunitHistory(wu.ID)
		if err != nil || len(of) != 1 {
			t.Errorf("workunit: %+v, %v", of, err)
		}
		if _, err := tx.ResultHistory(id + 1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of nothing: %v", err)
		}
		return nil
	})
}

func ages(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("a"), 2)
	check := func(want map[string]int64) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			st, err := tx.Status(T0.Add(time.Minute).Unix())
			for what, age := range want {
				if st.OldestAge[what] != age {
					t.Errorf("%s has waited %d s, want %d", what, st.OldestAge[what], age)
				}
			}
			return err
		})
	}
	check(map[string]int64{"unsent": 60, "transition_due": 60, "need_validate": 0, "waiting_assimilation": 0})
	Update(t, s, func(tx *store.Tx) error {
		for i, old := range rs {
			r := old
			r.ServerState, r.Outcome, r.ReceivedTime = store.Over, store.DidntNeed, T0.Add(time.Duration(10*i)*time.Second)
			if err := tx.SaveResult(old, r); err != nil {
				return err
			}
		}
		return store.Change(tx.WorkunitByName, "a", tx.SaveWorkunit, func(wu *store.Workunit) {
			wu.AssimilateState, wu.NeedValidate, wu.TransitionTime = store.AssimilateReady, true, store.Never
		})
	})
	check(map[string]int64{"unsent": 0, "transition_due": 0, "need_validate": 50, "waiting_assimilation": 50})
}
