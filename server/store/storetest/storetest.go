// Package storetest has the tests that every database behind store.Store must pass.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// T0 is the time at which the tests' world begins.
var T0 = time.Unix(1_800_000_000, 0)

// Run runs the suite. open returns a new, empty store, which the suite closes,
// and another way to the same database, which it does not.
func Run(t *testing.T, open func(t *testing.T) (*store.Store, *sql.DB)) {
	t.Run("every move is allowed or refused by the database itself", func(t *testing.T) {
		s, raw := open(t)
		defer func() { _ = s.Close() }()
		moves(t, s, raw)
	})
	t.Run("what should always hold is found when it does not", func(t *testing.T) {
		s, raw := open(t)
		defer func() { _ = s.Close() }()
		doctor(t, s, raw)
	})
	t.Run("what tokens use is counted", func(t *testing.T) {
		s, raw := open(t)
		defer func() { _ = s.Close() }()
		tokens(t, s, raw)
	})
	Transactions(t, open)
	each(t, open, []testCase{
		{"queues hold what waits", queues},
		{"the clock is kept", clock},
		{"unsent results come by priority and age", unsent},
		{"a host finds what it can do", unsentFits},
		{"a token has so many kinds", kindsOfTokens},
		{"what is for somebody is apart from the rest", targets},
		{"outputs wait for the workunits after them", outputs},
		{"unsent results have a kind", sorted},
		{"the end of a batch is seen", batches},
		{"webhooks are due", webhooks},
		{"batches of tokens are their own", apiBatches},
		{"quotas count what is promised", quotas},
		{"operators sign in once with a link", operators},
		{"the last results are looked at", recent},
		{"the catalog has a stamp", stamps},
		{"shared files are seen", shared},
		{"jobs come by their workunits' ids", jobs},
		{"votes on versions are counted", speeds},
		{"what is in progress is counted by plan class", inProgress},
		{"what volunteers' own programs compute is counted apart", anonymous},
		{"rows come back as they were stored", roundTrip},
		{"work waits for files and its predecessor", waiting},
		{"new work is seen", sendable},
		{"files of hosts and orders about them", hostFiles},
		{"copies of what hosts made are wanted", copies},
		{"each row has its history", history},
		{"status tells what has waited longest", ages},
		{"handled messages go, others stay", messages},
		{"one account gets an address", addresses},
		{"accounts are listed, banned and erased", accounts},
		{"teams earn what their members earn", teams},
		{"applications have the energy of their credited results", energies},
		{"fronts are told which of all they are", fronts},
		{"owners say what is seen of them", owners},
		{"lists are filtered", lists},
		{"settings of a workunit change", settings},
		{"status counts", status},
		{"work that no host can have is found", untakenWork},
		{"what a host has had, it does not get again", hadResults},
		{"what is to come rests on what is there", forecasts},
		{"a quorum may need more computers than there are", tooFewHosts},
		{"a closed store says so", closed},
	})
}

// Transactions runs the tests of transactions.
func Transactions(t *testing.T, open func(t *testing.T) (*store.Store, *sql.DB)) {
	each(t, open, []testCase{
		{"a failed change leaves nothing behind", failedChange},
		{"a panic is that caller's error only", panics},
		{"concurrent changes are all kept", concurrent},
		{"collected changes are made together", apply},
		{"requests change a part of a host's record", work},
		{"names are unique", unique},
		{"a result is sent once", sendOnce},
		{"a stale save is lost", stale},
		{"workunits come at once", workunits},
		{"many rows change with one call", many},
		{"of many changes all are made or none", manyLost},
		{"changes of several rows keep their order", joined},
		{"several queries are asked at once", questions},
		{"who makes light of a loss goes on", lightLoss},
		{"what fails late fails as at once", late},
		{"illegal moves are refused", illegal},
	})
}

type testCase struct {
	name string
	run  func(t *testing.T, s *store.Store)
}

func each(t *testing.T, open func(t *testing.T) (*store.Store, *sql.DB), cases []testCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, _ := open(t)
			defer func() { _ = s.Close() }()
			c.run(t, s)
		})
	}
}

func failedChange(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	boom := errors.New("boom")
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		if _, err := InsertWorkunit(tx, w.Workunit("a")); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("got %v, want %v", err, boom)
	}
	view(t, s, func(tx *store.View) error {
		if _, err := tx.WorkunitByName("a"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
		return nil
	})
}

func panics(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	if err := s.Update(t.Context(), func(*store.Tx) error { panic("boom") }); err == nil {
		t.Error("no error")
	}
	Add(t, s, w.Workunit("a"), 1)
}

func concurrent(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for i := range 64 {
		wg.Go(func() {
			errs <- s.Update(context.Background(), func(tx *store.Tx) error {
				_, err := InsertWorkunit(tx, w.Workunit(fmt.Sprint(i%63)))
				return err
			})
		})
	}
	wg.Wait()
	close(errs)
	taken := 0
	for err := range errs {
		switch {
		case errors.Is(err, store.ErrExists):
			taken++
		case err != nil:
			t.Error(err)
		}
	}
	if taken != 1 {
		t.Errorf("%d names were taken, want 1", taken)
	}
	if st := Get(t, s, (*store.View).Status, T0.Unix()); st.Workunits.Total != 63 {
		t.Errorf("got %d workunits, want 63", st.Workunits.Total)
	}
}

func unique(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	for name, fn := range map[string]func(tx *store.Tx) error{
		"app":  func(tx *store.Tx) error { _, err := tx.InsertApp(w.App); return err },
		"user": func(tx *store.Tx) error { _, err := tx.InsertUser(w.User); return err },
	} {
		if err := s.Update(t.Context(), fn); !errors.Is(err, store.ErrExists) {
			t.Errorf("second %s: got %v, want ErrExists", name, err)
		}
	}
}

func sendOnce(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("a"), 1)
	r := rs[0]
	r.HostID, r.UserID, r.SentTime, r.ReportDeadline = w.Host.ID, w.User.ID, T0, T0.Add(time.Hour)
	Update(t, s, func(tx *store.Tx) error { return tx.Send(r) })
	lost(t, s, func(tx *store.Tx) error { return tx.Send(r) }, store.ErrLost)
	if got := Get(t, s, (*store.View).InProgressOf, w.Host.ID); len(got) != 1 || got[0].ServerState != store.InProgress || !got[0].ReportDeadline.Equal(r.ReportDeadline) {
		t.Errorf("got %+v", got)
	}
}

func stale(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 1)
	changed := wu
	changed.NeedValidate = true
	Update(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, changed) })
	lost(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, changed) }, store.ErrLost)
	over := rs[0]
	over.ServerState, over.Outcome = store.Over, store.DidntNeed
	Update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) })
	lost(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) }, store.ErrLost)
}

// lost demands that an update fails with an error.
func lost(t *testing.T, s *store.Store, fn func(*store.Tx) error, want error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// A change that turns out to be lost at the next query, or at the commit, is still lost to its
// caller, and the changes that the caller makes then are kept.
func lightLoss(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("a"), 2)
	over := rs[0]
	over.ServerState, over.Outcome = store.Over, store.DidntNeed
	Update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) })
	for name, ask := range map[string]bool{"at the next query": true, "at the commit": false} {
		losses := 0
		Update(t, s, func(tx *store.Tx) error {
			losses = 0
			if err := tx.AddHostCredit(w.Host.ID, 1, 0, T0, 0); err != nil {
				return err
			}
			if err := tx.SaveResult(rs[0], over); errors.Is(err, store.ErrLost) {
				losses++
			} else if err != nil {
				return err
			}
			if ask {
				if _, err := tx.Host(w.Host.ID); err != nil {
					return err
				}
			}
			return tx.AddUserCredit(w.User.ID, 1, 0, T0)
		})
		if losses != 1 {
			t.Errorf("%s: %d losses, want 1", name, losses)
		}
	}
	if h, u := Get(t, s, (*store.View).Host, w.Host.ID), Get(t, s, (*store.View).User, w.User.ID); h.TotalCredit != 2 || u.TotalCredit != 2 {
		t.Errorf("the host has %v, the user %v; want 2 each", h.TotalCredit, u.TotalCredit)
	}
}

// late checks that a postponed change that fails makes its transaction fail, with the error of an
// immediate change.
func late(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 1)
	none, sent := wu, rs[0]
	none.MinQuorum = -1
	sent.HostID, sent.UserID, sent.SentTime, sent.ReportDeadline = w.Host.ID, w.User.ID, T0, T0
	Update(t, s, func(tx *store.Tx) error { return tx.Send(sent) })
	for _, c := range []struct {
		name string
		want error
		fn   func(tx *store.Tx) error
	}{
		{"a name is taken", store.ErrExists, func(tx *store.Tx) error { return tx.AddResult(rs[0]) }},
		{"a row is not as it must be", store.ErrIllegal, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, none) }},
		{"a result was sent", store.ErrLost, func(tx *store.Tx) error { return tx.Send(sent) }},
	} {
		for _, ask := range []bool{false, true} {
			err := s.Update(t.Context(), func(tx *store.Tx) error {
				if err := tx.AddHostCredit(w.Host.ID, 1, 0, T0, 0); err != nil {
					return err
				}
				if err := c.fn(tx); err != nil {
					return err
				}
				if ask {
					if _, err := tx.Host(w.Host.ID); err != nil {
						return err
					}
				}
				return tx.TransitionBy(wu.ID, T0)
			})
			if !errors.Is(err, c.want) {
				t.Errorf("%s, asked %v: got %v, want %v", c.name, ask, err, c.want)
			}
		}
	}
	if h := Get(t, s, (*store.View).Host, w.Host.ID); h.TotalCredit != 0 {
		t.Errorf("what came before stayed: %v", h.TotalCredit)
	}
}

func illegal(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("a"), 1)
	over := rs[0]
	over.ServerState, over.Outcome, over.ValidateState, over.GrantedCredit = store.Over, store.Success, store.Valid, 2
	Update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) })
	back, more := over, over
	back.ServerState = store.InProgress
	more.GrantedCredit = 4
	for name, r := range map[string]store.Result{"back in progress": back, "credit again": more} {
		if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.SaveResult(over, r) }); !errors.Is(err, store.ErrIllegal) {
			t.Errorf("%s: got %v, want ErrIllegal", name, err)
		}
	}
}

func roundTrip(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	want := w.Workunit("a")
	want.Batch, want.Priority, want.DelayBound, want.Credit = 7, -3, 90*time.Second, 7.25
	want, _ = Add(t, s, want, 0)
	app := w.App
	app.Credit, app.TargetNResults, app.NonCPUIntensive = "fixed:3", 2, true
	Update(t, s, func(tx *store.Tx) error { return tx.SaveApp(w.App, app) })
	h := w.Host
	old := h
	h.RPCTime, h.NCPUs, h.Fpops, h.DomainName, h.MaxResultsDay = T0, 8, 1.5e9, "box", -1
	h.Platforms, h.UsableMemory, h.UsableDisk, h.Unsuited = "a b", math.Inf(1), 7, "avx2 mt"
	h.Client = "8.2.4"
	h.SetCoprocessors([]store.Coproc{{Kind: "NVIDIA", Name: "Card", Count: 2, Memory: 8 << 30, Driver: "55090", PeakFlops: 1e13}, {Kind: "fake", Count: 1}})
	Update(t, s, func(tx *store.Tx) error { return tx.UpdateHost(old, h) })
	lost(t, s, func(tx *store.Tx) error { return tx.UpdateHost(old, h) }, store.ErrLost)
	view(t, s, func(tx *store.View) error {
		if got, err := tx.Workunit(want.ID); err != nil || got != want {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		if got, err := tx.AppByName(app.Name); err != nil || got != app {
			t.Errorf("got %+v, %v\nwant %+v", got, err, app)
		}
		got, err := tx.Host(h.ID)
		if err != nil || got != h {
			t.Errorf("got %+v, %v\nwant %+v", got, err, h)
		}
		if list := got.Coprocessors(); len(list) != 2 || list[0].Count != 2 || list[1].Kind != "fake" {
			t.Errorf("coprocessors %+v", list)
		}
		if got, err := tx.UserByKey(w.User.Authenticator); err != nil || got != w.User {
			t.Errorf("got %+v, %v\nwant %+v", got, err, w.User)
		}
		return nil
	})
}

func status(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	Add(t, s, w.Workunit("a"), 2)
	view(t, s, func(tx *store.View) error {
		st, err := tx.Status(T0.Unix())
		if st.Done || st.Workunits.Unfinished != 1 || st.Results.ByServerState["unsent"] != 2 || st.Users != 1 || st.Hosts != 1 ||
			st.Workunits.TransitionsPending != 1 {
			t.Errorf("got %+v", st)
		}
		return err
	})
	if wrong := Look(t, s, (*store.View).Doctor); len(wrong) != 0 {
		t.Errorf("doctor says %v", wrong)
	}
}

func closed(t *testing.T, s *store.Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	lost(t, s, func(*store.Tx) error { return nil }, store.ErrClosed)
}
