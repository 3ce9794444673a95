package workgen

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/server/store"
)

// target refuses settings that are not possible for a single computer or account.
func (s *Spec) target(p Params) error {
	n := 0
	for _, named := range []bool{s.Host != 0, s.User != "", s.Team != ""} {
		if named {
			n++
		}
	}
	switch {
	case n > 1:
		return errors.New("a workunit can be for one computer, one account or one team, not several")
	case n == 0 || s.Team != "":
		return nil
	case s.Host < 0:
		return fmt.Errorf("computer %d: want a number above 0", s.Host)
	case p.MinQuorum > 1 || p.TargetNResults > 1:
		return fmt.Errorf("a workunit for one computer or account has nothing to compare its result with: want 1 result and a quorum of 1, not %d and %d",
			p.TargetNResults, p.MinQuorum)
	}
	return nil
}

// target finds whom a workunit is for.
func (p *prepared) target(tx *store.View) (store.Target, error) {
	switch {
	case p.host != 0:
		if _, err := tx.Host(p.host); err != nil {
			return store.Target{}, fmt.Errorf("computer %d: %w", p.host, err)
		}
		return store.Target{Type: store.TargetHost, ID: p.host}, nil
	case p.user != "":
		u, err := tx.UserByEmail(strings.ToLower(p.user))
		if err != nil {
			return store.Target{}, fmt.Errorf("account %s: %w", p.user, err)
		}
		hosts, err := tx.HostsOfUser(u.ID, 1)
		if err == nil && len(hosts) == 0 && !p.awaitHosts {
			err = fmt.Errorf("account %s has no computers: have its owner attach one first, or let the work wait for one (--await-computers)", p.user)
		}
		if err != nil {
			return store.Target{}, err
		}
		return store.Target{Type: store.TargetUser, ID: u.ID}, nil
	case p.team != "":
		t, err := tx.TeamByName(strings.TrimSpace(p.team))
		if n, bad := strconv.ParseInt(p.team, 10, 64); bad == nil && errors.Is(err, store.ErrNotFound) {
			t, err = tx.Team(n)
		}
		if err != nil {
			return store.Target{}, fmt.Errorf("team %s: %w", p.team, err)
		}
		return store.Target{Type: store.TargetTeam, ID: t.ID}, nil
	}
	return store.Target{}, nil
}
