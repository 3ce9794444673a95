package agent

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/state"
)

// readFiles reads preferences and accounts. Where a file is missing or has errors,
// what it last said holds. The error is what is wrong.
func (a *Agent) readFiles() error {
	accounts, errAccounts := settings.ReadAccounts(a.cfg.DataDir)
	if err := accounts.Keep(a.cfg.DataDir); err != nil {
		a.log.Warn("account files cannot be copied; a restart while one is missing would not find it", "err", err)
	}
	a.accounts = accounts.InForce
	errPrefs := a.readPrefs()
	a.mergePrefs()
	a.syncProjects(accounts, time.Now())
	a.faults = errors.Join(a.settingsFaults, errAccounts, errPrefs)
	return a.faults
}

// syncProjects makes the projects in the state those that have an account. Nothing
// is given up at once: see giveUp.
func (a *Agent) syncProjects(accounts settings.Accounts, now time.Time) {
	for u, acc := range accounts.InForce {
		p, known := a.db.Projects.Get(u)
		if !known {
			p = state.Project{MasterURL: u, AttachedAt: now}
			a.log.Info("project attached", "project", u)
		}
		was, wasDetached := accounts.Detached[u]
		if p.Ending.Kind == state.Detaching && wasDetached && was.Authenticator != acc.Authenticator {
			p.Ending.At = now // attached by another account: what is of the first one goes before that
			a.putProject(p)
			continue
		}
		before := p.Ending
		p.Ending = a.presence(p.Ending, accounts.Missing[u], now)
		if !known || p.Ending != before {
			a.tellPresence(u, before, p.Ending)
			a.putProject(p)
		}
		if wasDetached {
			a.forgetAccount(u)
		}
	}
	for u, p := range a.db.Projects.All() {
		if _, ok := accounts.InForce[u]; ok || p.Ending.Kind == state.Detaching {
			continue
		}
		before := p.Ending
		if _, asked := accounts.Detached[u]; asked {
			since := settings.DetachedAt(a.cfg.DataDir, u)
			if since.After(now) {
				since = now
			}
			p.Ending = a.ends(u, state.Detaching, since)
			a.log.Info("project is being detached", "project", u, "at", p.Ending.At)
		} else {
			p.Ending = a.presence(p.Ending, settings.AccountPath(a.cfg.DataDir, u), now)
			a.tellPresence(u, before, p.Ending)
		}
		if p.Ending != before {
			a.putProject(p)
		}
	}
	for u := range accounts.Detached {
		if _, known := a.db.Projects.Get(u); !known {
			a.forgetAccount(u)
		}
	}
}

// presence is what becomes of an ending when the account file is seen, or with
// missing set is not.
func (a *Agent) presence(e state.Ending, missing string, now time.Time) state.Ending {
	switch {
	case missing == "" && e.Kind != state.Resetting:
		return state.Ending{}
	case missing != "" && e.Kind == "":
		return state.Ending{Kind: state.AccountMissing, Since: now, At: now.Add(missingFor), File: missing}
	}
	return e
}

func (a *Agent) tellPresence(u string, before, now state.Ending) {
	switch {
	case now.Kind == before.Kind:
	case now.Kind == state.AccountMissing:
		a.log.Warn("account file is missing; the project continues without new work, and is detached if the file stays away", "project", u, "file", now.File, "at", now.At)
	case before.Kind == state.AccountMissing:
		a.log.Info("account file is back; the project continues as before", "project", u, "file", before.File)
	case before.Kind == state.Detaching:
		a.log.Info("project attached again; its tasks continue", "project", u)
	}
}

func (a *Agent) putProject(p state.Project) bool {
	return a.save(func(tx *state.Tx) { a.db.Projects.Put(tx, p.MasterURL, p) })
}

func (a *Agent) forgetAccount(u string) {
	if err := settings.ForgetAccount(a.cfg.DataDir, u); err != nil {
		a.log.Warn("a removed account file is left", "project", u, "err", err)
	}
}

// Reload reads the account and preference files again, as part of the loop, and
// returns what is wrong with them.
func (a *Agent) Reload(ctx context.Context) error {
	return a.do(ctx, func() error {
		err := a.readFiles()
		if err != nil {
			a.log.Error("some settings are invalid; the previous values stay in effect", "err", err)
		}
		return err
	})
}

// changed has the files that people edit read again.
func (a *Agent) changed() {
	a.log.Info("preferences or accounts have changed and are read again")
	if err := a.readFiles(); err != nil {
		a.log.Error("some settings are invalid; the previous values stay in effect", "err", err)
	}
}

// do runs f in the loop and waits for it.
func (a *Agent) do(ctx context.Context, f func() error) error { return a.through(ctx, a.events, f) }

func (a *Agent) through(ctx context.Context, loop chan<- func(), f func() error) error {
	done := make(chan error, 1)
	select {
	case loop <- func() { done <- f() }:
	case <-ctx.Done():
		return ctx.Err()
	case <-a.ctx.Done():
		return errors.New("the agent is stopping")
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-a.ctx.Done():
		return errors.New("the agent is stopping")
	}
}
