package rules

import (
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/state"
)

const (
	// UndoFor is the time during which a detach or reset can be undone. Tasks wait suspended, and
	// nothing of theirs is lost.
	UndoFor = 5 * time.Minute
	// missingFor is the time for which an account file must be missing before the project is
	// detached. leastNotice is the minimum time after its start for which an agent announces that
	// first.
	missingFor  = 24 * time.Hour
	leastNotice = time.Hour
	// removeAgain is the pause after files of a project could not be removed, for example because a
	// program that was just ended still has them open. After removeFor they stay.
	removeAgain = time.Minute
	removeFor   = 10 * time.Minute
)

// ends returns the ending of a project that is to be detached or reset: soon, or now if it has no
// tasks that could be missed.
func (ru *Rules) ends(project string, kind state.EndingKind, since time.Time) state.Ending {
	e := state.Ending{Kind: kind, Since: since, At: since}
	if ru.Life.Holds(project) {
		e.At = since.Add(UndoFor)
	}
	return e
}

// Reset makes a project start over.
func (ru *Rules) Reset(p state.Project, now time.Time) error {
	p.Ending = ru.ends(p.MasterURL, state.Resetting, now)
	return ru.DB.Update(func(tx *state.Tx) { ru.DB.Projects.Put(tx, p.MasterURL, p) })
}

// EndedBy records which account manager requested a detach.
func (ru *Rules) EndedBy(project, manager string) {
	if p, ok := ru.DB.Projects.Get(project); ok && p.Ending.Kind == state.Detaching {
		p.Ending.Manager = manager
		ru.PutProject(p)
	}
}

// Undo takes a detach or reset back.
func (ru *Rules) Undo(p state.Project, now time.Time) error {
	switch {
	case !p.Ending.Leaves():
		return words.Refuse(words.T("{url}: nothing to undo: the project is not being detached or reset", "url", p.MasterURL))
	case p.Ending.Due(now):
		return words.Refuse(words.T("{url}: too late to undo: its tasks are being removed", "url", p.MasterURL))
	case p.Ending.Kind == state.Detaching:
		if err := settings.RestoreAccount(ru.Dir, p.MasterURL); err != nil {
			return err
		}
		_ = ru.ReadFiles() // faults of other files are in Status
		return nil
	}
	p.Ending = state.Ending{}
	return ru.DB.Update(func(tx *state.Tx) { ru.DB.Projects.Put(tx, p.MasterURL, p) })
}

// Hasten ends a project now that is being detached or reset.
func (ru *Rules) Hasten(p state.Project, now time.Time) error {
	if !p.Ending.Leaves() {
		return words.Refuse(words.T("{url}: the project is not being detached or reset", "url", p.MasterURL))
	}
	p.Ending.At = now
	return ru.DB.Update(func(tx *state.Tx) { ru.DB.Projects.Put(tx, p.MasterURL, p) })
}

// Announce makes sure that a missing account file is reported for a while after a
// start, however long it has been missing.
func (ru *Rules) Announce(now time.Time) {
	for _, p := range ru.DB.Projects.All() {
		if e := &p.Ending; e.Kind == state.AccountMissing && e.At.Before(now.Add(leastNotice)) {
			e.At = now.Add(leastNotice)
			ru.PutProject(p)
		}
	}
}

// DetachDone detaches projects that are to be left once everything is reported.
func (ru *Rules) DetachDone() {
	for u, acc := range ru.Accounts {
		if !acc.DetachWhenDone || ru.Ending(u).Leaves() || ru.Talk.Talks(u) || ru.Life.Holds(u) {
			continue
		}
		ru.Log.Info("all tasks are reported; detaching the project as requested", "project", u)
		err := settings.RemoveAccount(ru.Dir, u)
		if err == nil {
			err = ru.ReadFiles()
		}
		if err != nil {
			ru.Log.Error("cannot detach", "project", u, "err", err)
		}
	}
}

// GiveUp removes the remains of projects whose time has come: those being detached or reset, and
// those whose account file stayed away.
func (ru *Rules) GiveUp(now time.Time, w *core.Waker) {
	for u, p := range ru.DB.Projects.All() {
		switch {
		case p.Ending.Kind == "":
			delete(ru.unremoved, u)
			continue
		case now.Before(p.Ending.At):
			delete(ru.unremoved, u)
			w.By(p.Ending.At)
			continue
		case p.Ending.Kind == state.AccountMissing && !ru.stayedAway(u, now):
			continue
		}
		ru.Life.AbortAll(u, outcome.ProjectLeft)
		if ru.Talk.Cancel(u) { // a slow server does not delay that
			continue
		}
		if !ru.Life.Busy(u) {
			ru.finish(u, now, w)
		}
	}
}

// stayedAway reports whether an account file is missing even now, and makes that a
// detach.
func (ru *Rules) stayedAway(u string, now time.Time) bool {
	_ = ru.ReadFiles()
	p, ok := ru.DB.Projects.Get(u)
	if !ok || p.Ending.Kind != state.AccountMissing {
		return false
	}
	ru.Log.Warn("account file did not come back; detaching the project", "project", u, "file", p.Ending.File, "since", p.Ending.Since)
	if err := settings.RemoveAccount(ru.Dir, u); err != nil {
		ru.Log.Debug("no backup of the account", "project", u, "err", err)
	}
	p.Ending = state.Ending{Kind: state.Detaching, Since: now, At: now}
	return ru.PutProject(p)
}

// finish removes a project that has nothing in progress any longer. A project that is being reset
// starts over. The files are removed first. The ending is durable, so an agent that crashes in
// between repeats all of this.
func (ru *Rules) finish(u string, now time.Time, w *core.Waker) {
	if !ru.removeFiles(u, now, w) {
		return
	}
	p, _ := ru.DB.Projects.Get(u)
	var next *state.Project
	if p.Ending.Kind == state.Resetting {
		next = &state.Project{
			MasterURL: u, Name: p.Name, AttachedAt: p.AttachedAt, SchedulerURLs: p.SchedulerURLs, CodeSignKey: p.CodeSignKey,
			HostID: p.HostID, RPCSeqno: p.RPCSeqno, Debt: p.Debt, CPUTime: p.CPUTime, Contact: p.Contact,
		}
	}
	if !ru.Life.Forget(u, next) {
		return
	}
	delete(ru.unremoved, u)
	if next == nil {
		ru.Log.Info("project detached", "project", u)
		ru.forgetAccount(u)
		_ = ru.ReadFiles() // it may have been attached by another account
		return
	}
	ru.Log.Info("project reset", "project", u)
	_ = ru.ReadFiles() // its account file may be missing
	ru.ReadOwn(u)
}

// An unremoved is a project whose files could not be removed.
type unremoved struct {
	since time.Time
	again time.Time // not tried before
}

// removeFiles removes a project's files, and reports whether that is over. If it fails, it is tried
// again for a while.
func (ru *Rules) removeFiles(u string, now time.Time, w *core.Waker) bool {
	was, failed := ru.unremoved[u]
	if failed && now.Before(was.again) {
		w.By(was.again)
		return false
	}
	err := ru.Files.Forget(u)
	switch {
	case err == nil:
		return true
	case !failed:
		was.since = now
		ru.Log.Warn("cannot remove files of a project that is being detached or reset; trying again", "project", u, "until", now.Add(removeFor), "err", err)
	case now.Sub(was.since) >= removeFor:
		ru.Log.Error("cannot remove files of a project that is being detached or reset; they stay", "project", u, "folder", ru.ProjectDir(u), "err", err)
		return true
	}
	if ru.unremoved == nil {
		ru.unremoved = make(map[string]unremoved)
	}
	was.again = now.Add(removeAgain)
	ru.unremoved[u] = was
	w.By(was.again)
	return false
}
