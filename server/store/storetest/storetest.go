// Package storetest is what every database behind store.Store must pass.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"reflect"
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
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s *store.Store)
	}{
		{"a failed change leaves nothing behind", failedChange},
		{"a panic is that caller's error only", panics},
		{"concurrent changes are all kept", concurrent},
		{"names are unique", unique},
		{"a result is sent once", sendOnce},
		{"a stale save is lost", stale},
		{"who makes light of a loss goes on", lightLoss},
		{"what fails late fails as at once", late},
		{"illegal moves are refused", illegal},
		{"queues hold what waits", queues},
		{"unsent results come by priority and age", unsent},
		{"shared files are seen", shared},
		{"jobs come by their workunits' ids", jobs},
		{"rows come back as they were stored", roundTrip},
		{"work waits for files and its predecessor", waiting},
		{"files of hosts and orders about them", hostFiles},
		{"each row has its story", story},
		{"status tells what has waited longest", ages},
		{"handled messages go, others stay", messages},
		{"status counts", status},
		{"a closed store says so", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := open(t)
			defer func() { _ = s.Close() }()
			c.run(t, s)
		})
	}
}

// World is a small project in a store.
type World struct {
	App  store.App
	User store.User
	Host store.Host
}

// Fill adds an application, a user and a host.
func Fill(t *testing.T, s *store.Store) World {
	t.Helper()
	w := World{
		App:  store.App{CreateTime: T0, Name: "upper", UserFriendlyName: "Upper", Validator: "bitwise", Assimilator: "copy"},
		User: store.User{CreateTime: T0, EmailAddr: "a@example.org", Name: "Ada", Authenticator: "00000000000000000000000000000001", CrossProjectID: "c"},
	}
	update(t, s, func(tx *store.Tx) (err error) {
		if w.App.ID, err = tx.InsertApp(w.App); err != nil {
			return err
		}
		if w.User.ID, err = tx.InsertUser(w.User); err != nil {
			return err
		}
		w.Host = store.Host{CreateTime: T0, UserID: w.User.ID}
		w.Host.ID, err = tx.InsertHost(w.Host)
		return err
	})
	return w
}

// Workunit returns a workunit of the world's application, not yet stored.
func (w World) Workunit(name string) store.Workunit {
	return store.Workunit{
		CreateTime: T0, AppID: w.App.ID, Name: name, XMLDoc: "<workunit>\n</workunit>\n", RscFpopsEst: 1e9, RscFpopsBound: 1e12,
		RscMemoryBound: 1e6, RscDiskBound: 1e6, DelayBound: time.Hour, MinQuorum: 1, TargetNResults: 1,
		MaxErrorResults: 3, MaxTotalResults: 10, MaxSuccessResults: 6, ResultTemplateFile: "templates/upper_out", TransitionTime: T0,
	}
}

// Add stores a workunit and n unsent results of it.
func Add(t *testing.T, s *store.Store, wu store.Workunit, n int, files ...string) (store.Workunit, []store.Result) {
	t.Helper()
	var results []store.Result
	update(t, s, func(tx *store.Tx) error {
		id, err := tx.InsertWorkunit(wu, files)
		if err != nil {
			return err
		}
		wu.ID = id
		for i := range n {
			_, err := tx.InsertResult(store.Result{
				CreateTime: T0, WorkunitID: id, AppID: wu.AppID, Name: fmt.Sprintf("%s_%d", wu.Name, i),
				XMLDocIn: "<result>\n</result>\n", Priority: wu.Priority, ServerState: store.Unsent,
			})
			if err != nil {
				return err
			}
		}
		results, err = tx.ResultsOf(id)
		return err
	})
	return wu, results
}

func update(t *testing.T, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, s *store.Store, fn func(*store.Tx) error) {
	t.Helper()
	if err := s.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func failedChange(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	boom := errors.New("boom")
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.InsertWorkunit(w.Workunit("a"), nil); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("got %v, want %v", err, boom)
	}
	view(t, s, func(tx *store.Tx) error {
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
				_, err := tx.InsertWorkunit(w.Workunit(fmt.Sprint(i%63)), nil)
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
	view(t, s, func(tx *store.Tx) error {
		st, err := tx.Status(T0.Unix())
		if st.Workunits.Total != 63 {
			t.Errorf("got %d workunits, want 63", st.Workunits.Total)
		}
		return err
	})
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
	update(t, s, func(tx *store.Tx) error { return tx.Send(r) })
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Send(r) }); !errors.Is(err, store.ErrLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
	view(t, s, func(tx *store.Tx) error {
		got, err := tx.InProgressOf(w.Host.ID)
		if len(got) != 1 || got[0].ServerState != store.InProgress || !got[0].ReportDeadline.Equal(r.ReportDeadline) {
			t.Errorf("got %+v", got)
		}
		return err
	})
}

func stale(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 1)
	changed := wu
	changed.NeedValidate = true
	update(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, changed) })
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.SaveWorkunit(wu, changed) }); !errors.Is(err, store.ErrLost) {
		t.Errorf("workunit: got %v, want ErrLost", err)
	}
	over := rs[0]
	over.ServerState, over.Outcome = store.Over, store.DidntNeed
	update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) })
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) }); !errors.Is(err, store.ErrLost) {
		t.Errorf("result: got %v, want ErrLost", err)
	}
}

// lost demands that an update fails with an error.
func lost(t *testing.T, s *store.Store, fn func(*store.Tx) error, want error) {
	t.Helper()
	if err := s.Update(t.Context(), fn); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// A change whose loss shows only when the next query is asked, or at the commit, is
// lost to its caller none the less, and what he does then is kept.
func lightLoss(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("a"), 2)
	over := rs[0]
	over.ServerState, over.Outcome = store.Over, store.DidntNeed
	update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) })
	for name, ask := range map[string]bool{"at the next query": true, "at the commit": false} {
		losses := 0
		update(t, s, func(tx *store.Tx) error {
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
	view(t, s, func(tx *store.Tx) error {
		h, err := tx.Host(w.Host.ID)
		if err != nil {
			return err
		}
		u, err := tx.User(w.User.ID)
		if h.TotalCredit != 2 || u.TotalCredit != 2 {
			t.Errorf("the host has %v, the user %v; want 2 each", h.TotalCredit, u.TotalCredit)
		}
		return err
	})
}

// A change that nobody waited for fails its transaction, with the error that it
// would have failed with at once.
func late(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 1)
	none, sent := wu, rs[0]
	none.MinQuorum = -1
	sent.HostID, sent.UserID, sent.SentTime, sent.ReportDeadline = w.Host.ID, w.User.ID, T0, T0
	update(t, s, func(tx *store.Tx) error { return tx.Send(sent) })
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
	view(t, s, func(tx *store.Tx) error {
		h, err := tx.Host(w.Host.ID)
		if h.TotalCredit != 0 {
			t.Errorf("what came before stayed: %v", h.TotalCredit)
		}
		return err
	})
}

func illegal(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("a"), 1)
	over := rs[0]
	over.ServerState, over.Outcome, over.ValidateState, over.GrantedCredit = store.Over, store.Success, store.Valid, 2
	update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], over) })
	back, more := over, over
	back.ServerState = store.InProgress
	more.GrantedCredit = 4
	for name, r := range map[string]store.Result{"back in progress": back, "credit again": more} {
		if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.SaveResult(over, r) }); !errors.Is(err, store.ErrIllegal) {
			t.Errorf("%s: got %v, want ErrIllegal", name, err)
		}
	}
}

func queues(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	wu, rs := Add(t, s, w.Workunit("a"), 1)
	lens := func(when time.Time) (out [5]int) {
		view(t, s, func(tx *store.Tx) error {
			for i, q := range []func() ([]int64, error){
				func() ([]int64, error) { return tx.Due(when, 10) },
				func() ([]int64, error) { return tx.NeedValidate(0, 10) },
				func() ([]int64, error) { return tx.ToAssimilate(0, 10) },
				func() ([]int64, error) { return tx.WorkunitsToDelete(0, 10) },
				func() ([]int64, error) { return tx.ResultsToDelete(0, 10) },
			} {
				ids, err := q()
				if err != nil {
					return err
				}
				out[i] = len(ids)
			}
			return nil
		})
		return out
	}
	if got, want := lens(T0), [5]int{1, 0, 0, 0, 0}; got != want {
		t.Errorf("new: got %v, want %v", got, want)
	}
	if got, want := lens(T0.Add(-time.Second)), [5]int{}; got != want {
		t.Errorf("before it is due: got %v, want %v", got, want)
	}
	step := func(change func(*store.Workunit), want [5]int) {
		t.Helper()
		after := wu
		change(&after)
		update(t, s, func(tx *store.Tx) error { return tx.SaveWorkunit(wu, after) })
		wu = after
		if got := lens(T0); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	step(func(w *store.Workunit) { w.TransitionTime = store.Never }, [5]int{})
	step(func(w *store.Workunit) { w.NeedValidate = true }, [5]int{0, 1, 0, 0, 0})
	step(func(w *store.Workunit) { w.NeedValidate, w.AssimilateState = false, store.AssimilateReady }, [5]int{0, 0, 1, 0, 0})
	step(func(w *store.Workunit) {
		w.AssimilateState, w.FileDeleteState = store.AssimilateDone, store.DeleteReady
	}, [5]int{0, 0, 0, 1, 0})
	gone := rs[0]
	gone.FileDeleteState = store.DeleteReady
	update(t, s, func(tx *store.Tx) error { return tx.SaveResult(rs[0], gone) })
	if got, want := lens(T0), [5]int{0, 0, 0, 1, 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	update(t, s, func(tx *store.Tx) error { return tx.TransitionBy(wu.ID, T0.Add(time.Hour)) })
	update(t, s, func(tx *store.Tx) error { return tx.TransitionBy(wu.ID, T0.Add(2*time.Hour)) })
	view(t, s, func(tx *store.Tx) error {
		got, err := tx.Workunit(wu.ID)
		if !got.TransitionTime.Equal(T0.Add(time.Hour)) {
			t.Errorf("transition time %v, want the earlier of two", got.TransitionTime)
		}
		return err
	})
}

func unsent(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	for i, prio := range []int64{0, 5, 0, 5} {
		wu := w.Workunit(fmt.Sprint("w", i))
		wu.Priority = prio
		Add(t, s, wu, 1)
	}
	var got []int64
	view(t, s, func(tx *store.Tx) error {
		for prio, after := int64(math.MaxInt64), int64(0); ; {
			list, err := tx.Unsent(prio, after, 3)
			if err != nil || len(list) == 0 {
				return err
			}
			for _, c := range list {
				got = append(got, c.WorkunitID)
				prio, after = c.Priority, c.ID
			}
		}
	})
	if want := []int64{2, 4, 1, 3}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func jobs(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	a, of := Add(t, s, w.Workunit("a"), 2)
	b, _ := Add(t, s, w.Workunit("b"), 0)
	_, others := Add(t, s, w.Workunit("c"), 1)
	view(t, s, func(tx *store.Tx) error {
		got, err := tx.Jobs([]int64{b.ID, a.ID, 99})
		want := map[int64]store.Job{a.ID: {Workunit: a, Results: of}, b.ID: {Workunit: b}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		if got, err := tx.Jobs(nil); err != nil || len(got) != 0 {
			t.Errorf("none: got %+v, %v", got, err)
		}
		if _, err := tx.Job(99); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("one that is not there: %v", err)
		}
		results, err := tx.Results([]int64{others[0].ID, of[1].ID})
		if err != nil || len(results) != 2 || results[of[1].ID] != of[1] || results[others[0].ID] != others[0] {
			t.Errorf("got %+v, %v", results, err)
		}
		return nil
	})
}

func shared(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	a, _ := Add(t, s, w.Workunit("a"), 0, "in1", "in2")
	b, _ := Add(t, s, w.Workunit("b"), 0, "in2")
	view(t, s, func(tx *store.Tx) error {
		for name, want := range map[string]bool{"in1": false, "in2": true} {
			if got, err := tx.FileShared(name, a.ID); err != nil || got != want {
				t.Errorf("%s: got %v, %v; want %v", name, got, err, want)
			}
		}
		return nil
	})
	done := b
	done.AssimilateState, done.FileDeleteState = store.AssimilateDone, store.DeleteDone
	update(t, s, func(tx *store.Tx) error { return SaveWorkunit(tx, b, done) })
	view(t, s, func(tx *store.Tx) error {
		if got, err := tx.FileShared("in2", a.ID); err != nil || got {
			t.Errorf("after the other's end: got %v, %v; want false", got, err)
		}
		return nil
	})
}

func roundTrip(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	want := w.Workunit("a")
	want.Batch, want.Priority, want.DelayBound = 7, -3, 90*time.Second
	want, _ = Add(t, s, want, 0)
	h := w.Host
	old := h
	h.RPCTime, h.NCPUs, h.Fpops, h.DomainName, h.MaxResultsDay = T0, 8, 1.5e9, "box", -1
	update(t, s, func(tx *store.Tx) error { return tx.UpdateHost(old, h) })
	if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.UpdateHost(old, h) }); !errors.Is(err, store.ErrLost) {
		t.Errorf("storing what another request has changed: %v, want ErrLost", err)
	}
	view(t, s, func(tx *store.Tx) error {
		if got, err := tx.Workunit(want.ID); err != nil || got != want {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
		if got, err := tx.Host(h.ID); err != nil || got != h {
			t.Errorf("got %+v, %v\nwant %+v", got, err, h)
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
	view(t, s, func(tx *store.Tx) error {
		st, err := tx.Status(T0.Unix())
		if st.Done || st.Workunits.Unfinished != 1 || st.Results.ByServerState["unsent"] != 2 || st.Users != 1 || st.Hosts != 1 ||
			st.Workunits.TransitionsPending != 1 {
			t.Errorf("got %+v", st)
		}
		return err
	})
	view(t, s, func(tx *store.Tx) error {
		wrong, err := tx.Doctor()
		if len(wrong) != 0 {
			t.Errorf("doctor says %v", wrong)
		}
		return err
	})
}

func closed(t *testing.T, s *store.Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Update(t.Context(), func(*store.Tx) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
