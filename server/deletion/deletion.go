// Package deletion deletes accounts, as their owners and operators may.
package deletion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
)

// batch is the number of results given up in a transaction.
const batch = 500

// Delete deletes an account. The data that identifies its owner and the owner's computers is
// deleted, its key and password become invalid, and the results in progress on its computers are
// given up as detached, so that others get them. Its results and credit stay, with an account that
// has no name. Statistics sites are asked to forget it, and a team that it led gets the member with
// the most credit as its leader. Delete returns the number of results that were given up. by
// identifies the actor, for the workunits' history.
//
// It is done in several transactions. If one fails, Delete can be called again. It returns ErrLost if the
// account was deleted before, to the end.
func Delete(ctx context.Context, s *store.Store, id int64, by string, now time.Time) (given int, err error) {
	err = s.Update(ctx, func(tx *store.Tx) error {
		held, err := tx.UsersToChange([]int64{id})
		if err != nil {
			return err
		}
		u, ok := held[id]
		if !ok {
			return store.ErrNotFound
		}
		return Erase(tx, u, now)
	})
	before := errors.Is(err, store.ErrLost) // though perhaps not to the end
	if err != nil && !before {
		return 0, err
	}
	given, err = GiveUp(ctx, s, id, by, now)
	if err == nil && before && given == 0 {
		err = store.ErrLost
	}
	return given, err
}

// Erase is the first step of Delete: everything but the results in progress. It returns ErrLost if the
// account was deleted before.
func Erase(tx *store.Tx, u store.User, now time.Time) error {
	if err := forget(tx, u, now); err != nil {
		return err
	}
	err := tx.EraseUser(u, store.User{
		ID: u.ID, EmailAddr: fmt.Sprintf("deleted-%d", u.ID), // not a valid address, so it cannot be used to sign up
		Name: "Deleted account", Authenticator: account.NewKey(), CrossProjectID: string(account.NewKey()),
		DeletedTime: now, HideHosts: true, NoExport: true,
	})
	if err != nil || u.TeamID == 0 {
		return err
	}
	return Resign(tx, u.ID, u.TeamID)
}

// GiveUp is the second step of Delete.
func GiveUp(ctx context.Context, s *store.Store, id int64, by string, now time.Time) (given int, err error) {
	for {
		n, ended := 0, 0
		err := s.Update(ctx, func(tx *store.Tx) (err error) {
			n, ended, err = giveUp(tx, id, by, now)
			return err
		})
		if err != nil || n == 0 {
			return given, err
		}
		given += ended
	}
}

// forget adds an account and its computers to the deletions that statistics sites read.
func forget(tx *store.Tx, u store.User, now time.Time) error {
	cpid := protocol.ExternalCPID(u.CrossProjectID, u.EmailAddr)
	if err := tx.Forget(store.Forgotten{Kind: store.ForgottenUser, ID: u.ID, CPID: cpid, CreateTime: now}); err != nil {
		return err
	}
	hosts, err := tx.HostsOfUser(u.ID, 1e6)
	if err != nil {
		return err
	}
	for _, h := range hosts {
		if err := tx.Forget(store.Forgotten{Kind: store.ForgottenHost, ID: h.ID, CPID: h.HostCPID, CreateTime: now}); err != nil {
			return err
		}
	}
	return nil
}

// Resign makes the member with the most credit the leader of a team whose former leader is no
// longer a member. A team without members is deleted.
func Resign(tx *store.Tx, userID, teamID int64) error {
	team, err := tx.TeamToChange(teamID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	members, err := tx.Members(teamID, 1)
	switch {
	case err != nil:
		return err
	case len(members) == 0:
		return tx.DeleteTeam(teamID)
	case team.UserID != userID:
		return nil
	}
	team.UserID = members[0].ID
	return tx.SetTeam(team)
}

// giveUp gives some of an account's results up. It returns how many there were, and of how many
// it is true that they were not reported meanwhile.
func giveUp(tx *store.Tx, id int64, by string, now time.Time) (n, ended int, err error) {
	tx.SetCause(now, by, "its account was deleted")
	results, err := tx.InProgressOfUser(id, batch)
	if err != nil {
		return 0, 0, err
	}
	for _, old := range results {
		x := old
		x.ServerState, x.Outcome, x.ReceivedTime = store.Over, store.ClientDetached, now
		switch err := tx.SaveResult(old, x); {
		case errors.Is(err, store.ErrLost): // reported just now
			continue
		case err != nil:
			return 0, 0, err
		}
		ended++
		if err := tx.TransitionBy(old.WorkunitID, now); err != nil {
			return 0, 0, err
		}
	}
	return len(results), ended, nil
}
