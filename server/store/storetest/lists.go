package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// lists are filtered by each column, alone and together.
func lists(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var other int64
	Update(t, s, func(tx *store.Tx) (err error) {
		app := w.App
		app.Name = "other"
		other, err = tx.InsertApp(app)
		return err
	})
	for i, change := range []func(*store.Workunit){
		func(*store.Workunit) {},
		func(wu *store.Workunit) { wu.Batch = 7 },
		func(wu *store.Workunit) { wu.Batch, wu.AppID = 7, other },
		func(wu *store.Workunit) { wu.CreateTime = T0.Add(time.Hour) },
	} {
		wu := w.Workunit(fmt.Sprint("wu", i))
		change(&wu)
		wu, rs := Add(t, s, wu, 1)
		Update(t, s, func(tx *store.Tx) error {
			after := wu
			switch i {
			case 0: // its result is over
				r := rs[0]
				r.ServerState, r.Outcome, r.ValidateState = store.Over, store.Success, store.Valid
				after.CanonicalResultID = r.ID
				if err := tx.SaveResult(rs[0], r); err != nil {
					return err
				}
			case 1:
				after.ErrorMask = store.ErrorTooManyErrors
			case 2:
				sent := w.sent(rs)
				sent[0].AppVersionID = 5
				if err := tx.Send(sent...); err != nil {
					return err
				}
			case 3:
				after.NeedValidate = true
			}
			if after == wu {
				return nil
			}
			return tx.SaveWorkunit(wu, after)
		})
	}
	success, none, valid := store.Success, store.OutcomeInit, store.Valid
	view(t, s, func(tx *store.View) error {
		for _, c := range []struct {
			filter store.WorkunitFilter
			want   []string
		}{
			{store.WorkunitFilter{}, []string{"wu3", "wu2", "wu1", "wu0"}},
			{store.WorkunitFilter{Limit: 2}, []string{"wu3", "wu2"}},
			{store.WorkunitFilter{State: store.Canonical}, []string{"wu0"}},
			{store.WorkunitFilter{State: store.GivenUp}, []string{"wu1"}},
			{store.WorkunitFilter{State: store.Unfinished}, []string{"wu3", "wu2"}},
			{store.WorkunitFilter{State: store.Validating}, []string{"wu3"}},
			{store.WorkunitFilter{Errors: store.ErrorTooManyErrors | store.ErrorCancelled}, []string{"wu1"}},
			{store.WorkunitFilter{Errors: store.ErrorCancelled}, nil},
			{store.WorkunitFilter{Batch: 7}, []string{"wu2", "wu1"}},
			{store.WorkunitFilter{Batch: 7, AppID: other}, []string{"wu2"}},
			{store.WorkunitFilter{HostID: w.Host.ID}, []string{"wu2"}},
			{store.WorkunitFilter{Before: T0.Add(time.Hour)}, []string{"wu2", "wu1", "wu0"}},
			{store.WorkunitFilter{Since: T0.Add(time.Hour)}, []string{"wu3"}},
		} {
			f := c.filter
			if f.Limit == 0 {
				f.Limit = 9
			}
			list, _, err := tx.ListWorkunits(f)
			var got []string
			for _, wu := range list {
				got = append(got, wu.Name)
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%+v: got %v, %v; want %v", c.filter, got, err, c.want)
			}
		}
		for _, c := range []struct {
			filter store.ResultFilter
			want   []string
		}{
			{store.ResultFilter{Limit: 1}, []string{"wu3_0"}},
			{store.ResultFilter{State: store.Unsent}, []string{"wu3_0", "wu1_0"}},
			{store.ResultFilter{State: store.InProgress}, []string{"wu2_0"}},
			{store.ResultFilter{Outcome: &success}, []string{"wu0_0"}},
			{store.ResultFilter{Outcome: &none, AppID: w.App.ID}, []string{"wu3_0", "wu1_0"}},
			{store.ResultFilter{Validate: &valid}, []string{"wu0_0"}},
			{store.ResultFilter{HostID: w.Host.ID}, []string{"wu2_0"}},
			{store.ResultFilter{UserID: w.User.ID, VersionID: 5}, []string{"wu2_0"}},
			{store.ResultFilter{UserID: w.User.ID, VersionID: 6}, nil},
			{store.ResultFilter{Before: T0}, nil},
			{store.ResultFilter{Since: T0, State: store.Over}, []string{"wu0_0"}},
		} {
			f := c.filter
			if f.Limit == 0 {
				f.Limit = 9
			}
			list, _, err := tx.ListResults(f)
			got := []string(nil)
			for _, r := range list {
				got = append(got, r.Name)
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%+v: got %v, %v; want %v", c.filter, got, err, c.want)
			}
		}
		batches, err := tx.Batches(9)
		if err != nil || len(batches) != 1 {
			t.Fatalf("batches %+v, %v", batches, err)
		}
		if b := batches[0]; b.Batch != 7 || b.Total != 2 || b.Unfinished != 1 || b.Error != 1 || b.AppID != 0 || !b.CreateTime.Equal(T0) {
			t.Errorf("got %+v", b)
		}
		return nil
	})
}

// settings checks that a workunit without an outcome can get new settings, and that its unsent
// results follow them.
func settings(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 2)
	Update(t, s, func(tx *store.Tx) error { return tx.Send(w.sent(rs[:1])...) })
	to := store.WorkunitSettings{
		Priority: 9, MaxErrorResults: 4, MaxTotalResults: 20, MaxSuccessResults: 7, DelayBound: 10 * time.Hour, Credit: 2.5,
	}
	Update(t, s, func(tx *store.Tx) error {
		tx.SetCause(T0, "operator", "work set")
		return tx.SetWorkunit(wu, to, T0.Add(-time.Minute))
	})
	lost(t, s, func(tx *store.Tx) error { return tx.SetWorkunit(wu, to, T0) }, store.ErrLost) // not as it was
	view(t, s, func(tx *store.View) error {
		got, err := tx.Workunit(wu.ID)
		if err != nil || got.Settings() != to || !got.TransitionTime.Equal(T0.Add(-time.Minute)) {
			t.Errorf("got %+v, %v", got, err)
		}
		results, err := tx.ResultsOf(wu.ID)
		if err != nil || results[0].Priority != 0 || results[1].Priority != 9 {
			t.Errorf("results have priorities %d and %d, %v; want 0 and 9", results[0].Priority, results[1].Priority, err)
		}
		if list, err := tx.Unsent(got.Kind(), store.First, 9, store.Slice{}); err != nil || len(list) != 1 {
			t.Errorf("%d unsent of the new kind, %v; want 1", len(list), err)
		}
		story, err := tx.WorkunitHistory(wu.ID)
		if last := story[len(story)-1]; last.By != "operator" || last.Move != "priority 0 → 9, max_error_results 3 → 4, max_total_results 10 → 20, max_success_results 6 → 7, delay_bound 3600 → 36000, credit 0 → 2.5" {
			t.Errorf("history %+v", story)
		}
		wu = got
		return err
	})
	done := wu
	done.ErrorMask = store.ErrorCancelled
	Update(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, done) })
	lost(t, s, func(tx *store.Tx) error { return tx.SetWorkunit(done, store.WorkunitSettings{}, T0) }, store.ErrLost)
}
