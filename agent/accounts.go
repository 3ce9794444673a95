package agent

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// readFiles reads preferences and accounts. What is wrong with one file leaves
// in force what held before for it.
func (a *Agent) readFiles() error {
	var errs []error
	accounts, bad, err := settings.LoadAccounts(a.cfg.DataDir)
	errs = append(errs, err)
	found := make(map[string]settings.Account)
	for _, acc := range accounts {
		found[acc.MasterURL] = acc
	}
	if len(bad) > 0 {
		// One of them may be an account that is known: a slip in a file must not
		// look like a wish to detach.
		for u, acc := range a.accounts {
			if _, ok := found[u]; !ok {
				found[u] = acc
			}
		}
	}
	a.accounts = found
	if layers, err := readPrefs(a.cfg.DataDir, a.venue()); err == nil {
		a.layers = layers
	} else {
		errs = append(errs, err)
	}
	a.mergePrefs()
	a.faults = errors.Join(errs...)
	a.meet(len(bad) == 0)
	return a.faults
}

// meet makes the projects in the state those that have an account.
func (a *Agent) meet(complete bool) {
	for u := range a.accounts {
		if _, known := a.db.Projects.Get(u); known {
			if !a.again[u] {
				delete(a.leaving, u)
			}
			continue
		}
		a.log.Info("project attached", "project", u)
		a.save(func(tx *state.Tx) {
			a.db.Projects.Put(tx, u, state.Project{MasterURL: u, AttachedAt: time.Now()})
		})
	}
	for u := range a.db.Projects.All() {
		if _, ok := a.accounts[u]; !ok && complete {
			a.leaving[u] = true
		}
	}
}

// detachDone detaches projects that are to be left once everything is reported.
func (a *Agent) detachDone() {
	for u, acc := range a.accounts {
		if !acc.DetachWhenDone || a.leaving[u] || a.talks(u) || a.holds(u) {
			continue
		}
		a.log.Info("everything is reported: the project is detached, as you asked", "project", u)
		err := settings.RemoveAccount(a.cfg.DataDir, u)
		if err == nil {
			err = a.readFiles()
		}
		if err != nil {
			a.log.Error("cannot detach", "project", u, "error", err)
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

// leave detaches projects that have no account any more: what runs is aborted,
// then everything of theirs is removed.
func (a *Agent) leave() {
	for u := range a.leaving {
		for _, run := range a.running {
			if r, ok := a.db.Results.Get(run.key); ok && r.Project == u {
				_ = a.exec.Abort(taskID(r), protocol.ExitAbortedByUser, "project detached or reset")
			}
		}
		if t, talks := a.talking[u]; talks {
			t.cancel() // nobody waits for a slow server to be rid of it
			continue
		}
		if a.busy(u) {
			continue
		}
		p, _ := a.db.Projects.Get(u)
		if !a.forget(u) {
			continue
		}
		delete(a.leaving, u)
		if !a.again[u] {
			a.log.Info("project detached", "project", u)
			continue
		}
		delete(a.again, u)
		a.log.Info("project reset", "project", u)
		a.save(func(tx *state.Tx) {
			a.db.Projects.Put(tx, u, state.Project{
				MasterURL: u, Name: p.Name, AttachedAt: p.AttachedAt, SchedulerURLs: p.SchedulerURLs, CodeSignKey: p.CodeSignKey,
				HostID: p.HostID, RPCSeqno: p.RPCSeqno, Debt: p.Debt, CPUTime: p.CPUTime, Contact: p.Contact,
			})
		})
	}
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

// Reload reads the account and preference files again, as part of the loop, and
// returns what is wrong with them.
func (a *Agent) Reload(ctx context.Context) error {
	return a.do(ctx, func() error {
		err := a.readFiles()
		if err != nil {
			a.log.Error("settings are not all usable; what held before goes on", "error", err)
		}
		return err
	})
}

// changed has the files that people edit read again.
func (a *Agent) changed() {
	a.log.Info("preferences or accounts have changed and are read again")
	if err := a.readFiles(); err != nil {
		a.log.Error("settings are not all usable; what held before goes on", "error", err)
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
