package ranking

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// The lists have the first by total credit and by recent credit. Old credit counts less for the
// latter, even if the stored value was not updated.
func TestTake(t *testing.T) {
	s := storetest.Open(t, "")
	now := time.Unix(1_800_000_000, 0)
	const n = 5 * Top
	storetest.Update(t, s, func(tx *store.Tx) error {
		team, err := tx.InsertTeam(store.Team{CreateTime: now, UserID: 1, Name: "Team"})
		if err != nil {
			return err
		}
		for i := 1; i <= n; i++ {
			key := fmt.Sprintf("%032d", i)
			id, err := tx.InsertUser(store.User{CreateTime: now, Name: "user " + key, EmailAddr: key, Authenticator: protocol.Authenticator(key)})
			if err != nil {
				return err
			}
			host, err := tx.InsertHost(store.Host{CreateTime: now, UserID: id, HostCPID: key})
			if err != nil {
				return err
			}
			at := now
			if i > n-10 {
				at = now.Add(-100 * 24 * time.Hour) // they earned most, long ago
			}
			if err := errors.Join(tx.AddUserCredit(id, float64(i), float64(i), at), tx.AddHostCredit(host, float64(i), float64(i), at, 0)); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.AddTeamCredit(team, 7),
			store.Change(tx.User, 1, tx.SaveUser, func(u *store.User) { u.TeamID = team }),
			store.Change(tx.User, 2, tx.SaveUser, func(u *store.User) { u.TeamID = team }),
			store.Change(tx.User, n, tx.SaveUser, func(u *store.User) { u.HideHosts = true }),
			store.Change(tx.Host, n-1, tx.UpdateHost, func(h *store.Host) { h.Hidden = true }),
		)
	})
	got, err := Take(t.Context(), s, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Users) != Top || got.Users[0].ID != n || got.Users[Top-1].ID != n-Top+1 {
		t.Errorf("%d users, the first %+v, the last %+v", len(got.Users), got.Users[0], got.Users[len(got.Users)-1])
	}
	if got.RecentUsers[0].ID != n-10 || got.RecentUsers[Top-1].ID != n-10-Top+1 {
		t.Errorf("lately the first %+v, the last %+v", got.RecentUsers[0], got.RecentUsers[Top-1])
	}
	if got.Hosts[0].ID != n || got.Hosts[0].UserID != 0 || got.Hosts[1].ID != n-2 || got.Hosts[1].UserID != n-2 {
		t.Errorf("computers: first %+v, of somebody who does not say so, then %+v, as one is hidden", got.Hosts[0], got.Hosts[1])
	}
	if len(got.Teams) != 1 || got.Teams[0].Total != 7 || got.Teams[0].Members != 2 || got.Teams[0].Recent != 3 {
		t.Errorf("teams %+v", got.Teams)
	}
	if got.Earning != n || got.Computers != n || got.Crews != 1 || got.Speed <= 0 {
		t.Errorf("%d accounts, %d computers and %d teams earn, at %v", got.Earning, got.Computers, got.Crews, got.Speed)
	}
}
