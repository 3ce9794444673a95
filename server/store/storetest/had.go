package storetest

import (
	"cmp"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// hadResults checks that a host that had a result of a workunit, and its user, count as having had
// one, unless a withdrawn version spoiled it. It also checks the results that all hosts have had.
func hadResults(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var version, beside int64
	Update(t, s, func(tx *store.Tx) (err error) {
		if version, err = AddVersion(tx, "linux", store.AppVersion{AppID: w.App.ID, VersionNum: 100, XMLDoc: "-"}); err != nil {
			return err
		}
		beside, err = tx.InsertHost(store.Host{CreateTime: T0, UserID: w.User.ID}) // another of the user
		now := w.Host
		now.RPCTime = T0
		if err == nil {
			err = tx.UpdateHost(w.Host, now)
		}
		return err
	})
	wu, rest := make(map[string]int64), make(map[string]store.Result)
	for name, end := range map[string]func(*store.Result){
		"none":    nil,
		"sent":    func(*store.Result) {},
		"success": func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.Success },
		"error":   func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.ClientError },
		"invalid": func(r *store.Result) {
			r.ServerState, r.Outcome, r.ValidateState = store.Over, store.Success, store.Invalid
		},
		"late":     func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.NoReply }, // it may come yet
		"unneeded": func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.DidntNeed },
	} {
		x, results := Add(t, s, w.Workunit(name), 2)
		wu[name], rest[name] = x.ID, results[1]
		if end == nil {
			continue
		}
		w.sendAndEnd(t, s, results[0], version, end)
	}
	ids := make([]int64, 0, len(wu))
	for _, id := range wu {
		ids = append(ids, id)
	}
	want := func(when string, names ...string) {
		t.Helper()
		had := make(map[int64]bool)
		for _, name := range names {
			had[wu[name]] = true
		}
		view(t, s, func(tx *store.View) error {
			byHost, byUser := make(map[int64]bool), make(map[int64]bool)
			add := func(to map[int64]bool, by int64) func(store.Had) {
				return func(h store.Had) {
					if to[h.WorkunitID] = true; h.By != by {
						t.Errorf("%s %d has had one of %d", when, h.By, h.WorkunitID)
					}
				}
			}
			err := tx.Ask(
				store.HadByHosts([]int64{w.Host.ID, beside}, ids, add(byHost, w.Host.ID)),
				store.HadByUsers([]int64{w.User.ID}, ids, add(byUser, w.User.ID)),
			)
			if err != nil || !maps.Equal(byHost, had) || !maps.Equal(byUser, had) {
				t.Errorf("%s the host has had %v of %v, and the user %v, %v; want %v", when, byHost, wu, byUser, err, names)
			}
			for since, n := range map[time.Time]int{T0: len(names), T0.Add(time.Second): len(wu)} { // no host is left in the second
				found := 0
				err := tx.HadByAll(since, false, false, func(n store.Need) {
					if n.AppID != w.App.ID || !n.Oldest.Equal(T0) {
						t.Errorf("%s: %+v", when, n)
					}
					found += int(n.Results)
				})
				// Both results of the workunit without sent results are unsent.
				if since.After(T0) {
					n++
				}
				if err != nil || found != n {
					t.Errorf("%s: hosts since %v have all had %d, %v; want %d", when, since, found, err, n)
				}
			}
			return nil
		})
		undone := errors.New("undone")
		for name, x := range rest { // a second result of the workunit
			must := undone
			if had[wu[name]] {
				must = store.ErrLost
			}
			x = w.sent([]store.Result{x})[0]
			for _, send := range []func(tx *store.Tx) error{
				func(tx *store.Tx) error { return tx.SendToHost(x) },
				func(tx *store.Tx) error { return tx.SendToUser(x) },
			} {
				if err := s.Update(t.Context(), func(tx *store.Tx) error {
					err := send(tx)
					if err == nil {
						_, err = tx.Host(w.Host.ID) // the answer to a query comes after that to the change
					}
					return cmp.Or(err, undone)
				}); !errors.Is(err, must) {
					t.Errorf("%s a second result of workunit %s is sent: %v, want %v", when, name, err, must)
				}
			}
		}
	}
	want("before the withdrawal", "sent", "success", "error", "invalid", "late", "unneeded")
	Update(t, s, func(tx *store.Tx) error { return tx.DeprecateVersion(version) })
	want("after it", "sent", "success", "late")

	// Another computer of the user may have these results, unless the rule is one result per user.
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.Host, beside, tx.UpdateHost, func(h *store.Host) { h.RPCTime = T0 })
	})
	view(t, s, func(tx *store.View) error {
		for perUser, want := range map[bool]int{false: 0, true: 3} {
			found := 0
			if err := tx.HadByAll(T0, perUser, false, func(n store.Need) { found += int(n.Results) }); err != nil || found != want {
				t.Errorf("by user %t: %d, %v; want %d", perUser, found, err, want)
			}
		}
		return nil
	})

	// For a suspicious workunit, only computers of trusted accounts count.
	suspicious := func(when string, want int64) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			for _, only := range []bool{false, true} {
				found := int64(0)
				err := tx.HadByAll(T0, true, only, func(n store.Need) {
					if n.Suspicious {
						found += n.Results
					}
				})
				if err != nil || found != want {
					t.Errorf("%s: %d suspicious, %v; want %d", when, found, err, want)
				}
			}
			return nil
		})
	}
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.Workunit, wu["success"], tx.SaveWorkunit, func(wu *store.Workunit) { wu.Suspicious = true })
	})
	suspicious("nobody is trusted", 0)
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) { u.Trusted = true })
	})
	suspicious("its only account is trusted", 1)
}
