package rules

import (
	"errors"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/state"
)

// ReadFiles reads preferences and accounts. If a file is missing or has errors, its previous
// content stays in effect. The error is about these files. Faults also has the faults of other
// files.
func (ru *Rules) ReadFiles() error {
	accounts, errAccounts := settings.ReadAccounts(ru.Dir)
	if err := accounts.Keep(ru.Dir); err != nil {
		ru.Log.Warn("account files cannot be backed up; a file missing at the next start would not be restored", "err", err)
	}
	before := ru.Accounts
	ru.Accounts = accounts.InForce
	errPrefs := ru.readPrefs()
	ru.MergePrefs()
	attached := ru.syncProjects(before, accounts, time.Now())
	ru.faults = errors.Join(errAccounts, errPrefs)
	ru.ReadOwn(attached...)
	return errors.Join(ru.SettingsFaults, ru.faults)
}

// syncProjects makes the projects in the state those that have an account. before has the accounts
// until now, and is empty when the agent starts. Nothing is given up at once: see GiveUp. It returns
// those that are new.
func (ru *Rules) syncProjects(before map[string]settings.Account, accounts settings.Accounts, now time.Time) (attached []string) {
	for u, acc := range accounts.InForce {
		p, known := ru.DB.Projects.Get(u)
		if !known && ru.folderTaken(u, now) {
			continue
		}
		if !known {
			p = state.Project{MasterURL: u, AttachedAt: now}
			ru.Log.Info("project attached", "project", u)
			attached = append(attached, u)
		}
		was, wasDetached := accounts.Detached[u]
		if p.Ending.Kind == state.Detaching && wasDetached && was.Authenticator != acc.Authenticator {
			p.Ending.At = now // attached by another account: everything of the first one is removed first
			ru.PutProject(p)
			continue
		}
		ending := p.Ending
		p.Ending = ru.presence(p.Ending, accounts.Missing[u], now)
		old, read := before[u]
		rekeyed := read && old.Authenticator != acc.Authenticator || !read && slices.Contains(accounts.Rekeyed, u)
		if rekeyed { // the wait was for the old key
			p.Contact.MinRPCTime, p.Contact.NextRPCTime = now, now
		}
		if !known || rekeyed || p.Ending != ending {
			ru.tellPresence(u, ending, p.Ending)
			ru.PutProject(p)
		}
		if wasDetached {
			ru.forgetAccount(u)
		}
	}
	for u, p := range ru.DB.Projects.All() {
		if _, ok := accounts.InForce[u]; ok || p.Ending.Kind == state.Detaching {
			continue
		}
		ending := p.Ending
		if _, asked := accounts.Detached[u]; asked {
			since := settings.DetachedAt(ru.Dir, u)
			if since.After(now) {
				since = now
			}
			p.Ending = ru.ends(u, state.Detaching, since)
			ru.Log.Info("project is being detached", "project", u, "at", p.Ending.At)
		} else {
			p.Ending = ru.presence(p.Ending, settings.AccountPath(ru.Dir, u), now)
			ru.tellPresence(u, ending, p.Ending)
		}
		if p.Ending != ending {
			ru.PutProject(p)
		}
	}
	for u := range accounts.Detached {
		if _, known := ru.DB.Projects.Get(u); !known {
			ru.forgetAccount(u)
		}
	}
	return attached
}

// folderTaken reports whether a project with another address has the folder of a new one. If it is being
// detached, it ends now. Then the accounts are read again.
func (ru *Rules) folderTaken(u string, now time.Time) bool {
	for other, p := range ru.DB.Projects.All() {
		if !settings.SameFolder(other, u) {
			continue
		}
		ru.Log.Info("project is attached once the one with the same folder is removed", "project", u, "other", other)
		if p.Ending.Kind == state.Detaching {
			p.Ending.At = now
			ru.PutProject(p)
		}
		return true
	}
	return false
}

// presence updates an ending when the account file is seen. If missing is set, the file with that
// name is not there.
func (ru *Rules) presence(e state.Ending, missing string, now time.Time) state.Ending {
	switch {
	case missing == "" && e.Kind != state.Resetting:
		return state.Ending{}
	case missing != "" && e.Kind == "":
		return state.Ending{Kind: state.AccountMissing, Since: now, At: now.Add(missingFor), File: missing}
	}
	return e
}

func (ru *Rules) tellPresence(u string, before, now state.Ending) {
	switch {
	case now.Kind == before.Kind:
	case now.Kind == state.AccountMissing:
		ru.Log.Warn("account file is missing; the project continues without new work and will be detached if the file does not come back", "project", u, "file", now.File, "at", now.At)
	case before.Kind == state.AccountMissing:
		ru.Log.Info("account file is back; the project resumes", "project", u, "file", before.File)
	case before.Kind == state.Detaching:
		ru.Log.Info("project reattached; its tasks resume", "project", u)
	}
}

func (ru *Rules) forgetAccount(u string) {
	if err := settings.ForgetAccount(ru.Dir, u); err != nil {
		ru.Log.Warn("cannot remove the backup of a removed account file", "project", u, "err", err)
	}
}

// Changed reads the files that people edit again.
func (ru *Rules) Changed() {
	ru.Log.Info("preferences or accounts changed; reloaded")
	if err := ru.ReadFiles(); err != nil {
		ru.Log.Error("some settings are invalid; the previous values stay in effect", "err", err)
	}
}
