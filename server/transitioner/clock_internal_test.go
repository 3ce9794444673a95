package transitioner

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// Deadlines that passed while no server ran, or because the clock was set, are extended once.
func TestDeadlinesAreExtendedAfterAnOutage(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	result := func(deadline time.Duration) store.Result {
		return store.Result{ServerState: store.InProgress, ReportDeadline: now.Add(deadline)}
	}
	for _, tt := range []struct {
		name     string
		last     time.Duration // time of the last pass, from now
		deadline time.Duration
		want     time.Duration // deadline from now
	}{
		{"a short pause", -5 * time.Minute, -time.Minute, -time.Minute},
		{"it passed during an outage", -10 * time.Hour, -9 * time.Hour, time.Hour},
		{"it passed before", -10 * time.Hour, -11 * time.Hour, -11 * time.Hour},
		{"it is about to pass", -10 * time.Hour, time.Minute, time.Hour},
		{"there is time", -10 * time.Hour, 2 * time.Hour, 2 * time.Hour},
		{"the clock was set back", 10 * time.Hour, -time.Minute, -time.Minute},
	} {
		c := new(Clock)
		if c.start(store.Clock{Seen: now.Add(tt.last)}, now); c.back.IsZero() != (tt.last < 0) {
			t.Errorf("%s: set back until %v", tt.name, c.back)
		}
		given := result(tt.deadline)
		if got := c.extended([]store.Result{given}, now)[0].ReportDeadline; !got.Equal(now.Add(tt.want)) {
			t.Errorf("%s: got %v, want %v", tt.name, got.Sub(now), tt.want)
		}
		if got := c.extended([]store.Result{given}, now.Add(extension))[0]; got != given {
			t.Errorf("%s: extended for good", tt.name)
		}
	}
	var none *Clock
	if got := none.extended([]store.Result{result(-time.Hour)}, now)[0]; !got.ReportDeadline.Before(now) {
		t.Error("extended without a clock")
	}
}

// A second outage during an extension does not shorten it for results that it was for.
func TestTwoOutages(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	c := new(Clock)
	c.start(store.Clock{Seen: now.Add(-10 * time.Hour)}, now)
	later := now.Add(30 * time.Minute)
	c.jump(now, 30*time.Minute, later)
	if !c.From.Equal(now.Add(-10*time.Hour)) || !c.Until.Equal(later.Add(extension)) {
		t.Errorf("got %v to %v", c.From.Sub(now), c.Until.Sub(now))
	}
}

// A clock that was set back is not forgotten if the database fails.
func TestWorkunitsAreLookedAtAgainAfterAFailure(t *testing.T) {
	st := storetest.Open(t, "")
	now := time.Now().Round(0)
	c := new(Clock)
	c.start(store.Clock{Seen: now.Add(10 * time.Hour)}, now)
	tr := &Transitioner{Store: st, Log: slog.New(slog.DiscardHandler), Clock: c}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tr.watch(gone, now); err == nil || c.back.IsZero() {
		t.Errorf("after the failure: %v, %v", err, c.back)
	}
	if err := tr.watch(t.Context(), now); err != nil || !c.back.IsZero() {
		t.Errorf("after the mend: %v, %v", err, c.back)
	}
}

// A result that was sent while the clock was a year ahead has the time that it was given, from when the clock was
// corrected.
func TestAResultThatWasSentWhileTheClockWasAhead(t *testing.T) {
	st := storetest.Open(t, "")
	w := storetest.Fill(t, st)
	now := time.Now().Round(time.Second)
	ahead := now.Add(365 * 24 * time.Hour)
	wu := w.Workunit("wu")
	_, rs := storetest.Add(t, st, wu, 1)
	storetest.Update(t, st, func(tx *store.Tx) error {
		r := rs[0]
		r.HostID, r.UserID, r.SentTime, r.ReportDeadline = 1, 1, ahead, ahead.Add(time.Hour)
		if err := tx.Send(r); err != nil {
			return err
		}
		return tx.PutOffTransition(r.WorkunitID, r.ReportDeadline)
	})
	tr := &Transitioner{
		Store: st, Log: slog.New(slog.DiscardHandler), Clock: new(Clock),
		Describe: func(store.Workunit, string, int64) (string, error) { return "<result>\n</result>\n", nil },
	}
	storetest.Update(t, st, func(tx *store.Tx) error { return tx.SaveClock(store.Clock{Seen: ahead}) })
	state := func(at time.Duration) store.Result {
		t.Helper()
		if _, err := tr.Pass(t.Context(), now.Add(at)); err != nil {
			t.Fatal(err)
		}
		return storetest.Get(t, st, (*store.View).ResultByName, rs[0].Name)
	}
	if r := state(0); r.ServerState != store.InProgress || !r.ReportDeadline.Equal(now.Add(time.Hour)) || r.SentTime.After(now) {
		t.Errorf("at first: %v, sent %v, due %v", r.ServerState, r.SentTime.Sub(now), r.ReportDeadline.Sub(now))
	}
	tr.Clock.last = now.Add(59 * time.Minute)
	if r := state(time.Hour + 2*time.Second); r.Outcome != store.NoReply {
		t.Errorf("after its hour: %v, %v", r.ServerState, r.Outcome)
	}
}
