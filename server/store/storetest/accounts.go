package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// addresses lets accounts take one new e-mail address at the same time.
func addresses(t *testing.T, s *store.Store) {
	const accounts = 8
	ids := make([]int64, accounts)
	Update(t, s, func(tx *store.Tx) (err error) {
		for i := range ids {
			u := store.User{CreateTime: T0, EmailAddr: fmt.Sprint(i, "@example.org"), Authenticator: protocol.Authenticator(fmt.Sprintf("%032d", i)), CrossProjectID: fmt.Sprint(i)}
			if ids[i], err = tx.InsertUser(u); err != nil {
				return err
			}
		}
		return nil
	})
	errs := make(chan error, accounts)
	for _, id := range ids {
		go func() {
			errs <- s.Update(context.Background(), func(tx *store.Tx) error {
				return store.Change(tx.User, id, tx.SaveUser, func(u *store.User) { u.EmailAddr = "new@example.org" })
			})
		}()
	}
	taken := 0
	for range ids {
		switch err := <-errs; {
		case errors.Is(err, store.ErrExists):
			taken++
		case err != nil:
			t.Error(err)
		}
	}
	if taken != accounts-1 {
		t.Errorf("%d of %d accounts found the address taken", taken, accounts)
	}
}

// accounts are listed, banned and erased, with their hosts.
func accounts(t *testing.T, s *store.Store) {
	w := Fill(t, s)
	other := store.User{CreateTime: T0, EmailAddr: "b_%@example.org", Name: "Bob", Authenticator: "00000000000000000000000000000002", CrossProjectID: "d"}
	_, rs := Add(t, s, w.Workunit("a"), 2)
	Update(t, s, func(tx *store.Tx) (err error) {
		if other.ID, err = tx.InsertUser(other); err != nil {
			return err
		}
		if err := store.Change(tx.Host, w.Host.ID, tx.UpdateHost, func(h *store.Host) {
			h.RPCTime, h.DomainName, h.LastIPAddr, h.ExternalIPAddr, h.HostCPID = T0, "box", "192.0.2.1", "192.0.2.2", "x"
		}); err != nil {
			return err
		}
		if err := tx.AddSession("hash", w.User.ID, T0, T0.Add(time.Hour)); err != nil {
			return err
		}
		if err := store.Change(tx.User, other.ID, tx.SaveUser, func(u *store.User) { u.BannedTime, u.BanReason = T0, "why" }); err != nil {
			return err
		}
		return tx.Send(w.sent(rs[:1])...)
	})
	users := func(f store.UserFilter, want ...string) {
		t.Helper()
		if f.Limit == 0 {
			f.Limit = 9
		}
		view(t, s, func(tx *store.View) error {
			list, err := tx.ListUsers(f)
			var got []string
			for _, u := range list {
				got = append(got, u.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: got %v, want %v", f, got, want)
			}
			return err
		})
	}
	hosts := func(f store.HostFilter, want int) {
		t.Helper()
		f.Limit = 9
		if list := Get(t, s, (*store.View).ListHosts, f); len(list) != want {
			t.Errorf("%+v: %d hosts, want %d", f, len(list), want)
		}
	}
	users(store.UserFilter{}, "Bob", "Ada")
	users(store.UserFilter{Limit: 1}, "Bob")
	users(store.UserFilter{Banned: true}, "Bob")
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.User, other.ID, tx.SaveUser, func(u *store.User) { u.Trusted = true })
	})
	users(store.UserFilter{Trusted: true}, "Bob")
	trusted := func(when string, want ...int64) {
		t.Helper()
		view(t, s, func(tx *store.View) error {
			if got, err := tx.TrustedUsers([]int64{other.ID, w.User.ID}); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: trusted are %v, %v; want %v", when, got, err, want)
			}
			return nil
		})
	}
	trusted("banned")
	users(store.UserFilter{Search: "ada"}, "Ada")
	users(store.UserFilter{Search: "_%@"}, "Bob")
	users(store.UserFilter{Search: "%"}, "Bob")
	users(store.UserFilter{Search: "nobody"})
	hosts(store.HostFilter{}, 1)
	hosts(store.HostFilter{UserID: other.ID}, 0)
	hosts(store.HostFilter{Since: T0}, 1)
	hosts(store.HostFilter{Since: T0.Add(time.Second)}, 0)
	hosts(store.HostFilter{Excluded: true}, 0)
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.Host, w.Host.ID, tx.UpdateHost, func(h *store.Host) { h.MaxResultsDay = -1 })
	})
	hosts(store.HostFilter{Excluded: true, UserID: w.User.ID}, 1)
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.Host, w.Host.ID, tx.UpdateHost, func(h *store.Host) { h.MaxResultsDay = 0 })
	})
	hosts(store.HostFilter{Excluded: true}, 0)
	view(t, s, func(tx *store.View) error {
		if u, err := tx.User(other.ID); err != nil || !u.Banned() || u.BanReason != "why" || !u.BannedTime.Equal(T0) {
			t.Errorf("got %+v, %v", u, err)
		}
		sum, err := tx.HostsOfUsers([]int64{w.User.ID, other.ID})
		if h := sum[w.User.ID]; len(sum) != 1 || h.Count != 1 || !h.Last.Equal(T0) {
			t.Errorf("got %+v", sum)
		}
		if err != nil {
			return err
		}
		list, err := tx.InProgressOfUser(w.User.ID, 9)
		if len(list) != 1 || list[0].ID != rs[0].ID {
			t.Errorf("in progress: %+v", list)
		}
		if err != nil {
			return err
		}
		if list, err = tx.InProgressOfUser(other.ID, 9); len(list) != 0 {
			t.Errorf("in progress of another: %+v", list)
		}
		return err
	})
	Update(t, s, func(tx *store.Tx) error {
		return store.Change(tx.User, other.ID, tx.SaveUser, func(u *store.User) { u.BannedTime = time.Time{} })
	})
	users(store.UserFilter{Banned: true})

	want := store.User{
		ID: w.User.ID, CreateTime: w.User.CreateTime, EmailAddr: "deleted-1", Name: "Deleted",
		Authenticator: "00000000000000000000000000000003", CrossProjectID: "e", DeletedTime: T0,
		HideHosts: true, NoExport: true,
	}
	erase := func(tx *store.Tx) error {
		return store.Change(tx.User, w.User.ID, tx.EraseUser, func(u *store.User) { *u = want })
	}
	Update(t, s, erase)
	lost(t, s, erase, store.ErrLost)
	lost(t, s, func(tx *store.Tx) error {
		return store.Change(tx.User, w.User.ID, tx.SaveUser, func(u *store.User) { u.BannedTime = T0 })
	}, store.ErrLost)
	view(t, s, func(tx *store.View) error {
		u, err := tx.User(w.User.ID)
		if err != nil || u != want || !u.Banned() {
			t.Errorf("got %+v, %v; want %+v", u, err, want)
		}
		if _, err := tx.UserOfSession("hash", T0); err == nil {
			t.Error("its visit goes on")
		}
		h, err := tx.Host(w.Host.ID)
		if h.DomainName+h.LastIPAddr+h.ExternalIPAddr+h.HostCPID != "" || h.MaxResultsDay != -1 || h.UserID != w.User.ID {
			t.Errorf("its host: %+v", h)
		}
		return err
	})
}
