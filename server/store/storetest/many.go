package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// addMany stores n workunits with an unsent result each.
func addMany(t *testing.T, s *store.Store, w World, prefix string, n int) (list []store.Result) {
	t.Helper()
	Update(t, s, func(tx *store.Tx) error {
		list = nil
		for i := range n {
			wu := w.Workunit(fmt.Sprint(prefix, i))
			wu.TransitionTime = store.Never
			id, err := InsertWorkunit(tx, wu)
			if err != nil {
				return err
			}
			x := store.Result{CreateTime: T0, WorkunitID: id, AppID: wu.AppID, Name: wu.Name + "_0", XMLDocIn: "<result>\n</result>\n", ServerState: store.Unsent, Kind: wu.Kind()}
			if x.ID, err = InsertResult(tx, x); err != nil {
				return err
			}
			list = append(list, x)
		}
		return nil
	})
	return list
}

// sent returns results as they are sent to the world's host, each a little different.
func (w World) sent(list []store.Result) []store.Result {
	out := slices.Clone(list)
	for i := range out {
		x := &out[i]
		x.ServerState, x.HostID, x.UserID, x.SentTime = store.InProgress, w.Host.ID, w.User.ID, T0
		x.ReportDeadline = T0.Add(time.Duration(i+1) * time.Second)
		x.AppVersionID, x.VersionNum, x.FlopsEstimate = int64(i%3+1), int64(100+i), 1e9+float64(i)/4
	}
	return out
}

// sendAndEnd sends a result to the world's host with a version. end changes it, or leaves it in progress.
func (w World) sendAndEnd(t *testing.T, s *store.Store, r store.Result, version int64, end func(*store.Result)) {
	t.Helper()
	r = w.sent([]store.Result{r})[0]
	r.AppVersionID = version
	Update(t, s, func(tx *store.Tx) error {
		if err := tx.Send(r); err != nil {
			return err
		}
		now := r
		if end(&now); now.ServerState == store.InProgress {
			return nil
		}
		now.ReceivedTime = T0
		return tx.SaveResult(r, now)
	})
}

// reported returns the changes that report sent results as successes.
func reported(list []store.Result) (out []store.ResultChange) {
	for i, old := range list {
		x := old
		x.ServerState, x.Outcome, x.ReceivedTime, x.CPUTime = store.Over, store.Success, T0.Add(time.Hour), 0.25*float64(i)
		x.StderrOut = fmt.Sprint("it's \\ \"", i, "\" {NULL,}\n")
		if i%2 == 1 {
			x.Outcome, x.ValidateState, x.ExitStatus = store.ClientError, store.Invalid, int64(-i)
		}
		out = append(out, store.ResultChange{Old: old, Now: x})
	}
	return out
}

// many changes more rows with one call than any reply holds.
func many(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	for _, n := range []int{0, 1, 2, 2500} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			list := addMany(t, s, w, fmt.Sprintf("of%d_", n), n)
			sent := w.sent(list)
			due := map[int64]time.Time{1 << 40: T0} // a workunit that is gone
			for i, x := range list {
				due[x.WorkunitID] = T0.Add(time.Duration(i) * time.Minute)
			}
			Update(t, s, func(tx *store.Tx) error {
				tx.SetCause(T0, "test", "why")
				if err := tx.Send(sent...); err != nil {
					return err
				}
				return tx.TransitionEachBy(due)
			})
			changes := reported(sent)
			Update(t, s, func(tx *store.Tx) error {
				tx.SetCause(T0.Add(time.Hour), "test", "why")
				if err := tx.SaveResults(changes); err != nil {
					return err
				}
				for id := range due {
					due[id] = due[id].Add(time.Hour) // later: it changes nothing
				}
				return tx.TransitionEachBy(due)
			})
			view(t, s, func(tx *store.View) error {
				names := []string{"nobody", "zero\x00", "not \xff UTF-8", `back\u0000slash`}
				for _, x := range list {
					names = append(names, x.Name)
				}
				got := make(map[string]store.Result)
				if err := tx.Ask(store.ResultsByName(names, func(r store.Result) { got[r.Name] = r })); err != nil {
					return err
				}
				if len(got) != n {
					t.Errorf("%d results by their names, want %d", len(got), n)
				}
				for i, c := range changes {
					want, have := c.Now, got[c.Now.Name]
					want.Kind = have.Kind // which is not read
					if have != want {
						t.Fatalf("got %+v, want %+v", have, want)
					}
					wu, err := tx.Workunit(want.WorkunitID)
					if err != nil {
						return err
					}
					if at := T0.Add(time.Duration(i) * time.Minute); !wu.TransitionTime.Equal(at) {
						t.Fatalf("workunit %d is looked at at %v, want %v", wu.ID, wu.TransitionTime, at)
					}
					if i > 3 {
						continue
					}
					history, err := tx.ResultHistory(want.ID)
					if err != nil {
						return err
					}
					if n := len(history); n != 3 || !strings.Contains(history[1].Move, "unsent → in_progress") || !strings.Contains(history[2].Move, "in_progress → over") {
						t.Fatalf("story of %s: %+v", want.Name, history)
					}
				}
				return nil
			})
		})
	}
}

// manyLost tries changes of several rows when one change is impossible, and checks that none is
// made.
func manyLost(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	list := addMany(t, s, w, "x", 5)
	sent := w.sent(list)
	Update(t, s, func(tx *store.Tx) error { return tx.Send(sent[3:4]...) })
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.Workunit, list[4].WorkunitID, tx.SaveWorkunit, func(wu *store.Workunit) {
			wu.ErrorMask = store.ErrorCancelled
		})
	})
	unsentNow := func(ids ...int) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			for _, i := range ids {
				x, err := tx.Result(list[i].ID)
				if err != nil {
					return err
				}
				if x.ServerState != store.Unsent {
					t.Errorf("%s is %v", x.Name, x.ServerState)
				}
			}
			return nil
		})
	}
	stale := sent[0]
	stale.Outcome = store.ClientError // as it never was
	illegal := reported(sent[:2])
	illegal[1].Now.ServerState, illegal[1].Now.Outcome = store.Inactive, store.OutcomeInit
	for _, tt := range []struct {
		name string
		fn   func(tx *store.Tx) error
		want error
	}{
		{"one is sent already", func(tx *store.Tx) error { return tx.Send(sent[0], sent[1], sent[3]) }, store.ErrLost},
		{"one is not needed any more", func(tx *store.Tx) error { return tx.Send(sent[0], sent[4]) }, store.ErrLost},
		{"one is not there", func(tx *store.Tx) error {
			return tx.Send(sent[0], store.Result{ID: 1 << 40, HostID: 1, SentTime: T0, ReportDeadline: T0})
		}, store.ErrLost},
		{"one is named twice", func(tx *store.Tx) error { return tx.Send(sent[0], sent[1], sent[0]) }, store.ErrLost},
		{"all are lost", func(tx *store.Tx) error { return tx.Send(sent[3], sent[4]) }, store.ErrLost},
		{"one report is stale", func(tx *store.Tx) error {
			if err := tx.Send(sent[:3]...); err != nil {
				return err
			}
			return tx.SaveResults(append(reported(sent[1:3]), reported([]store.Result{stale})...))
		}, store.ErrLost},
		{"one report is twice there", func(tx *store.Tx) error {
			if err := tx.Send(sent[:3]...); err != nil {
				return err
			}
			return tx.SaveResults(append(reported(sent[:3]), reported(sent[:1])...))
		}, store.ErrLost},
		{"one move is illegal", func(tx *store.Tx) error {
			if err := tx.Send(sent[:2]...); err != nil {
				return err
			}
			return tx.SaveResults(illegal)
		}, store.ErrIllegal},
		{"what is stored is out of bounds", func(tx *store.Tx) error {
			bad := slices.Clone(sent[:2])
			bad[1].HostID = 0 // results in progress need a host
			return tx.Send(bad...)
		}, store.ErrIllegal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := s.Update(t.Context(), tt.fn); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			unsentNow(0, 1, 2)
		})
	}
	Update(t, s, func(tx *store.Tx) error { return tx.Send(sent[:3]...) })
}

// questions asks several queries at once.
func questions(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	list := addMany(t, s, w, "x", 3)
	look := func(tx *store.View) error {
		var hosts []store.Host
		var users []store.User
		named := make(map[string]store.Result)
		var nothing []store.Workunit
		var kinds, again []int64
		err := tx.Ask(
			store.HostsByID([]int64{1 << 40, w.Host.ID}, func(h store.Host) { hosts = append(hosts, h) }),
			store.UsersByKey([]string{string(w.User.Authenticator)}, func(u store.User) { users = append(users, u) }),
			store.ResultsByName([]string{"x0_0", "x2_0", "y"}, func(r store.Result) { named[r.Name] = r }),
			store.WorkunitsByID(nil, func(wu store.Workunit) { nothing = append(nothing, wu) }),
			store.UnsentKinds(func(kind int64) { kinds = append(kinds, kind) }),
			store.UnsentKinds(func(kind int64) { again = append(again, kind) }),
		)
		if err != nil {
			return err
		}
		if !slices.Equal(hosts, []store.Host{w.Host}) || !slices.Equal(users, []store.User{w.User}) || named["x2_0"] != list[2] || len(named) != 2 || nothing != nil ||
			len(kinds) != 1 || len(again) != 1 {
			t.Errorf("got %+v, %+v, %+v, %v, %v, %v", hosts, users, named, nothing, kinds, again)
		}
		return tx.Ask()
	}
	view(t, s, look)
	Update(t, s, func(tx *store.Tx) error {
		if err := tx.Send(w.sent(list[:1])...); err != nil {
			return err
		}
		var names []store.Held
		count := make(map[string]int)
		if err := tx.Ask(
			store.CountInProgress([]int64{w.Host.ID}, func(c store.Count) { count[c.PlanClass] += c.N }),
			store.InProgressNames([]int64{w.Host.ID, 1 << 40}, func(h store.Held) { names = append(names, h) }),
		); err != nil {
			return err
		}
		if !slices.Equal(names, []store.Held{{HostID: w.Host.ID, Name: "x0_0"}}) || !maps.Equal(count, map[string]int{"": 1}) {
			t.Errorf("what the transaction has sent: %v; in progress by plan class %v", names, count)
		}
		return tx.TransitionBy(list[0].WorkunitID, T0)
	})
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		if err := tx.Send(w.sent(list[:2])...); err != nil { // the first is
			return err
		}
		return tx.Ask(store.UnsentKinds(func(int64) {}))
	})
	if !errors.Is(err, store.ErrLost) {
		t.Errorf("got %v, want ErrLost", err)
	}
}
