package agent

import (
	"fmt"
	"os"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

const (
	// undoFor is how long a detach or reset can be taken back: tasks wait
	// suspended, and nothing of theirs is lost.
	undoFor = 5 * time.Minute
	// missingFor is how long an account file must be missing for the project to be
	// detached, and leastNotice how long an agent says so after its start before it
	// does.
	missingFor  = 24 * time.Hour
	leastNotice = time.Hour
)

// ending is what is going to become of a project.
func (a *Agent) ending(project string) state.Ending {
	p, _ := a.db.Projects.Get(project)
	return p.Ending
}

// ends is how a project ends that is to be detached or reset: soon, or now if it has
// no tasks that could be missed.
func (a *Agent) ends(project string, kind state.EndingKind, since time.Time) state.Ending {
	e := state.Ending{Kind: kind, Since: since, At: since}
	if a.holds(project) {
		e.At = since.Add(undoFor)
	}
	return e
}

// reset has a project start anew.
func (a *Agent) reset(p state.Project, now time.Time) error {
	p.Ending = a.ends(p.MasterURL, state.Resetting, now)
	return a.db.Update(func(tx *state.Tx) { a.db.Projects.Put(tx, p.MasterURL, p) })
}

// undo takes a detach or reset back.
func (a *Agent) undo(p state.Project, now time.Time) error {
	switch {
	case !p.Ending.Leaves():
		return fmt.Errorf("%s: nothing to undo: the project is neither being detached nor reset", p.MasterURL)
	case p.Ending.Due(now):
		return fmt.Errorf("%s: too late: its tasks are being given up", p.MasterURL)
	case p.Ending.Kind == state.Detaching:
		if err := settings.RestoreAccount(a.cfg.DataDir, p.MasterURL); err != nil {
			return err
		}
		_ = a.readFiles() // what is wrong with other files is in Status
		return nil
	}
	p.Ending = state.Ending{}
	return a.db.Update(func(tx *state.Tx) { a.db.Projects.Put(tx, p.MasterURL, p) })
}

// hasten ends a project now that is being detached or reset.
func (a *Agent) hasten(p state.Project, now time.Time) error {
	if !p.Ending.Leaves() {
		return fmt.Errorf("%s: the project is neither being detached nor reset", p.MasterURL)
	}
	p.Ending.At = now
	return a.db.Update(func(tx *state.Tx) { a.db.Projects.Put(tx, p.MasterURL, p) })
}

// announce makes sure that a missing account file is told of for a while after a
// start, however long it has been missing.
func (a *Agent) announce(now time.Time) {
	for _, p := range a.db.Projects.All() {
		if e := &p.Ending; e.Kind == state.AccountMissing && e.At.Before(now.Add(leastNotice)) {
			e.At = now.Add(leastNotice)
			a.putProject(p)
		}
	}
}

// detachDone detaches projects that are to be left once everything is reported.
func (a *Agent) detachDone() {
	for u, acc := range a.accounts {
		if !acc.DetachWhenDone || a.ending(u).Leaves() || a.talks(u) || a.holds(u) {
			continue
		}
		a.log.Info("everything is reported; the project is detached, as requested", "project", u)
		err := settings.RemoveAccount(a.cfg.DataDir, u)
		if err == nil {
			err = a.readFiles()
		}
		if err != nil {
			a.log.Error("cannot detach", "project", u, "err", err)
		}
	}
}

// holds reports whether there are results of a project.
func (a *Agent) holds(project string) bool {
	for range a.db.Results.Of(project) {
		return true
	}
	return false
}

// giveUp removes what is left of projects whose time has come: those being detached
// or reset, and those whose account file stayed away.
func (a *Agent) giveUp(now time.Time, w *waker) {
	for u, p := range a.db.Projects.All() {
		switch {
		case p.Ending.Kind == "":
			continue
		case now.Before(p.Ending.At):
			w.by(p.Ending.At)
			continue
		case p.Ending.Kind == state.AccountMissing && !a.stayedAway(u, now):
			continue
		}
		for _, run := range a.running {
			if r, ok := a.db.Results.Get(run.key); ok && r.Project == u {
				_ = a.exec.Abort(taskID(r), protocol.ExitAbortedByUser, "project detached or reset")
			}
		}
		if t, talks := a.talking[u]; talks {
			t.cancel() // nobody waits for a slow server to be rid of it
			continue
		}
		if !a.busy(u) {
			a.finish(u)
		}
	}
}

// stayedAway reports whether an account file is missing even now, and makes that a
// detach.
func (a *Agent) stayedAway(u string, now time.Time) bool {
	_ = a.readFiles()
	p, ok := a.db.Projects.Get(u)
	if !ok || p.Ending.Kind != state.AccountMissing {
		return false
	}
	a.log.Warn("account file stayed away: the project is detached", "project", u, "file", p.Ending.File, "since", p.Ending.Since)
	if err := settings.RemoveAccount(a.cfg.DataDir, u); err != nil {
		a.log.Debug("nothing is kept of an account", "project", u, "err", err)
	}
	p.Ending = state.Ending{Kind: state.Detaching, Since: now, At: now}
	return a.putProject(p)
}

// finish forgets a project that has nothing under way any more; one that is being
// reset starts anew.
func (a *Agent) finish(u string) {
	p, _ := a.db.Projects.Get(u)
	if !a.forget(u) {
		return
	}
	if p.Ending.Kind != state.Resetting {
		a.log.Info("project detached", "project", u)
		a.forgetAccount(u)
		_ = a.readFiles() // it may have been attached by another account
		return
	}
	a.log.Info("project reset", "project", u)
	a.putProject(state.Project{
		MasterURL: u, Name: p.Name, AttachedAt: p.AttachedAt, SchedulerURLs: p.SchedulerURLs, CodeSignKey: p.CodeSignKey,
		HostID: p.HostID, RPCSeqno: p.RPCSeqno, Debt: p.Debt, CPUTime: p.CPUTime, Contact: p.Contact,
	})
	_ = a.readFiles() // its account file may be missing
}

// busy reports whether a project still has a process or a transfer.
func (a *Agent) busy(project string) bool {
	for _, run := range a.running {
		if r, ok := a.db.Results.Get(run.key); ok && r.Project == project {
			return true
		}
	}
	for _, t := range a.moving {
		if t.file.Project == project {
			t.cancel()
			return true
		}
	}
	return false
}

// forget removes all that belongs to a project.
func (a *Agent) forget(project string) bool {
	var slots []int
	ok := a.save(func(tx *state.Tx) {
		for k, r := range a.db.Results.Of(project) {
			if r.Slot != state.NoSlot {
				slots = append(slots, r.Slot)
			}
			a.db.Results.Delete(tx, k)
		}
		for k := range a.db.Units.Of(project) {
			a.db.Units.Delete(tx, k)
		}
		for k := range a.db.Versions.Of(project) {
			a.db.Versions.Delete(tx, k)
		}
		for k := range a.db.Apps.Of(project) {
			a.db.Apps.Delete(tx, k)
		}
		for k := range a.db.Files.Of(project) {
			a.db.Files.Delete(tx, k)
		}
		a.db.Projects.Delete(tx, project)
	})
	if !ok {
		return false
	}
	for _, n := range slots {
		go a.clear(n)
	}
	if err := os.RemoveAll(a.projectDir(project)); err != nil {
		a.log.Warn("files of a detached project are left", "project", project, "error", err)
	}
	return true
}

// abortDue aborts the tasks whose time to take that back is over.
func (a *Agent) abortDue(now time.Time, w *waker) {
	for key, r := range a.db.Results.All() {
		switch {
		case r.AbortAt.IsZero() || r.ReadyToReport || !r.Computing():
		case now.Before(r.AbortAt):
			w.by(r.AbortAt)
		default:
			if err := a.abort(key, r, "aborted by user"); err != nil {
				a.log.Warn("cannot abort a task", "result", r.Name, "err", err)
			}
		}
	}
}
