package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// teams checks that teams are founded, joined and deleted, and earn their members' credit.
func teams(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	var id int64
	Update(t, s, func(tx *store.Tx) (err error) {
		id, err = tx.InsertTeam(store.Team{CreateTime: T0, UserID: w.User.ID, Name: "The Starlings", URL: "https://example.org/"})
		return err
	})
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.InsertTeam(store.Team{CreateTime: T0, Name: "THE starlings"})
		return err
	})
	if !errors.Is(err, store.ErrExists) {
		t.Errorf("a second team of the name: %v", err)
	}
	Update(t, s, func(tx *store.Tx) error {
		return errors.Join(store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) { u.TeamID = id }), tx.AddTeamCredit(id, 2.5), tx.AddTeamCredit(id+1, 9),
			tx.SetTeam(store.Team{ID: id, UserID: w.User.ID, Description: "We *fly*."}))
	})
	view(t, s, func(tx *store.View) error {
		x, err := tx.TeamByName("the STARLINGS")
		if want := (store.Team{ID: id, CreateTime: T0, UserID: w.User.ID, Name: "The Starlings", Description: "We *fly*.", TotalCredit: 2.5}); err != nil || x != want {
			t.Errorf("got %+v, %v; want %+v", x, err, want)
		}
		list, err := tx.Members(id, 5)
		if err != nil || len(list) != 1 || list[0].ID != w.User.ID || list[0].TeamID != id {
			t.Errorf("members %+v, %v", list, err)
		}
		none, err := tx.Members(0, 5)
		if err != nil || len(none) != 0 {
			t.Errorf("members of no team: %+v, %v", none, err)
		}
		return nil
	})
	Update(t, s, func(tx *store.Tx) error {
		return errors.Join(store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) { u.TeamID = 0 }), tx.DeleteTeam(id))
	})
	view(t, s, func(tx *store.View) error {
		if _, err := tx.Team(id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a team that was deleted: %v", err)
		}
		return nil
	})
}

// owners checks the settings for what others see of an owner, and the lists of an owner's
// computers.
func owners(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	_, rs := Add(t, s, w.Workunit("a"), 2)
	second := store.Host{CreateTime: T0, UserID: w.User.ID, HostCPID: "second"}
	Update(t, s, func(tx *store.Tx) (err error) {
		second.ID, err = tx.InsertHost(second)
		return err
	})
	Update(t, s, func(tx *store.Tx) error { return tx.Send(w.sent(rs[:1])...) })
	Update(t, s, func(tx *store.Tx) error {
		return errors.Join(
			store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) {
				u.ProjectPrefs, u.Name, u.HideHosts, u.NoExport = "<resource_share>5</resource_share>", "Ada L.", true, true
				u.EmailAddr, u.PasswdHash, u.ConfirmedTime = "new@example.org", "hash", T0.Add(time.Hour)
			}),
			store.Change(tx.Host, w.Host.ID, tx.UpdateHost, func(h *store.Host) { h.Label, h.Venue, h.Hidden = "Attic", "home", true }),
			tx.Forget(store.Forgotten{Kind: store.ForgottenUser, ID: 7, CPID: "c", CreateTime: T0}),
			tx.Forget(store.Forgotten{Kind: store.ForgottenUser, ID: 7, CPID: "d", CreateTime: T0}),
		)
	})
	for what, change := range map[string]func(tx *store.Tx) error{
		"an address that was another": func(tx *store.Tx) error {
			return tx.SaveUser(store.User{ID: w.User.ID, EmailAddr: "old@example.org"}, store.User{ID: w.User.ID, EmailAddr: "x@example.org"})
		},
		"another's computer": func(tx *store.Tx) error {
			return store.Change(tx.Host, w.Host.ID, func(old, now store.Host) error {
				old.UserID++
				return tx.UpdateHost(old, now)
			}, func(h *store.Host) { h.Label = "" })
		},
	} {
		if err := s.Update(t.Context(), change); !errors.Is(err, store.ErrLost) {
			t.Errorf("%s: %v", what, err)
		}
	}
	view(t, s, func(tx *store.View) error {
		u, err := tx.User(w.User.ID)
		if err != nil || u.ProjectPrefs != "<resource_share>5</resource_share>" || u.Name != "Ada L." || !u.HideHosts || !u.NoExport ||
			u.EmailAddr != "new@example.org" || u.PasswdHash != "hash" || !u.ConfirmedTime.Equal(T0.Add(time.Hour)) {
			t.Errorf("user %+v, %v", u, err)
		}
		h, err := tx.Host(w.Host.ID)
		if err != nil || h.Label != "Attic" || h.Venue != "home" || !h.Hidden {
			t.Errorf("host %+v, %v", h, err)
		}
		list, err := tx.Forgotten(store.ForgottenUser, T0)
		if err != nil || len(list) != 1 || list[0] != (store.Forgotten{Kind: store.ForgottenUser, ID: 7, CPID: "c", CreateTime: T0}) {
			t.Errorf("forgotten: %+v, %v", list, err)
		}
		now, _, err := tx.ListResults(store.ResultFilter{HostID: w.Host.ID, State: store.InProgress, Limit: 9})
		if err != nil || len(now) != 1 {
			t.Errorf("in progress: %+v, %v", now, err)
		}
		return nil
	})
	// A computer that is merged into another takes its results along.
	over := rs[0]
	view(t, s, func(tx *store.View) (err error) { over, err = tx.Result(over.ID); return err })
	Update(t, s, func(tx *store.Tx) error {
		x := over
		x.ServerState, x.Outcome, x.ReceivedTime = store.Over, store.Success, T0
		return tx.SaveResult(over, x)
	})
	Update(t, s, func(tx *store.Tx) error { return tx.MergeHost(w.Host.ID, w.User.ID, second.ID) })
	view(t, s, func(tx *store.View) error {
		list, _, err := tx.ListResults(store.ResultFilter{HostID: second.ID, State: store.Over, Limit: 9})
		if err != nil || len(list) != 1 || list[0].ID != over.ID {
			t.Errorf("of the computer that remains: %+v, %v", list, err)
		}
		if list, _, err = tx.ListResults(store.ResultFilter{HostID: second.ID, State: store.Over, Below: over.ID, Limit: 9}); err != nil || len(list) != 0 {
			t.Errorf("before the first: %+v, %v", list, err)
		}
		return nil
	})
	for h, err := range s.Hosts(t.Context()) {
		if err != nil || h.ID != second.ID {
			t.Errorf("host %+v, %v", h, err)
		}
	}
}
