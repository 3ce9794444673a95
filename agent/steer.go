package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// SteerProject does to a project what a person asks. What lasts is written beside
// the account file.
func (a *Agent) SteerProject(ctx context.Context, masterURL string, what control.ProjectAction) error {
	return a.do(ctx, func() error {
		if _, ok := a.db.Projects.Get(masterURL); !ok {
			return fmt.Errorf("%s: not attached", masterURL)
		}
		yes, no := true, false
		override := func(change func(*settings.Override)) error {
			if err := settings.ChangeAccount(a.cfg.DataDir, masterURL, change); err != nil {
				return err
			}
			return a.readFiles()
		}
		a.log.Info("as you asked", "project", masterURL, "action", what)
		switch what {
		case control.UpdateProject:
			a.asked[masterURL] = true
		case control.SuspendProject:
			return override(func(o *settings.Override) { o.Suspended = &yes })
		case control.ResumeProject:
			return override(func(o *settings.Override) { o.Suspended = &no })
		case control.NoMoreWork:
			return override(func(o *settings.Override) { o.NoMoreWork = &yes })
		case control.AllowMoreWork:
			return override(func(o *settings.Override) { o.NoMoreWork = &no })
		case control.DetachDone:
			return override(func(o *settings.Override) { o.DetachWhenDone = &yes })
		case control.StayAttached:
			return override(func(o *settings.Override) { o.DetachWhenDone = &no })
		case control.ResetProject:
			a.leaving[masterURL], a.again[masterURL] = true, true
		default:
			return fmt.Errorf("%q is nothing that can be done to a project", what)
		}
		return nil
	})
}

// SteerTask does to a task what a person asks. The project is its master URL; ""
// if the name alone tells which task is meant.
func (a *Agent) SteerTask(ctx context.Context, project, name string, what control.TaskAction) error {
	return a.do(ctx, func() error {
		key, r, err := a.findTask(project, name)
		if err != nil {
			return err
		}
		if r.ReadyToReport || !r.Computing() {
			return fmt.Errorf("task %s is computed already", name)
		}
		a.log.Info("as you asked", "result", name, "action", what)
		switch what {
		case control.SuspendTask, control.ResumeTask:
			r.Suspended = what == control.SuspendTask
			return a.db.Update(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) })
		case control.AbortTask:
			return a.abort(key, r, "aborted by user")
		}
		return fmt.Errorf("%q is nothing that can be done to a task", what)
	})
}

// abort gives up a result that is not computed yet.
func (a *Agent) abort(key string, r state.Result, why string) error {
	if a.running[taskID(r)] != nil {
		return a.exec.Abort(taskID(r), protocol.ExitAbortedByUser, why)
	}
	slot := r.Slot
	a.move(key, r, state.AbortRequested, func(r *state.Result) {
		r.ExitStatus, r.Message, r.Slot = protocol.ExitAbortedByUser, why, state.NoSlot
		r.Stderr = errorReport(r.Message, r.Stderr)
		r.Ready(time.Now())
	})
	if slot != state.NoSlot {
		a.clear(slot)
	}
	return nil
}

func (a *Agent) findTask(project, name string) (key string, r state.Result, err error) {
	found := 0
	for k, v := range a.db.Results.All() {
		if v.Name == name && (project == "" || project == v.Project) {
			key, r = k, v
			found++
		}
	}
	switch found {
	case 0:
		return "", r, fmt.Errorf("no task is called %s; starling tasks lists them", name)
	case 1:
		return key, r, nil
	}
	return "", r, fmt.Errorf("%d projects have a task called %s; say which project", found, name)
}

// SetMode sets what a person wants for now: computing, or with network set the
// use of the network. After the given time, if above 0, the preferences hold
// again.
func (a *Agent) SetMode(ctx context.Context, network bool, kind prefs.ModeKind, d time.Duration) error {
	return a.do(ctx, func() error {
		m := prefs.Mode{Kind: kind}
		if d > 0 && kind != prefs.Auto {
			m.Until = time.Now().Add(d).Round(0)
		}
		h, _ := a.db.Hosts.Get(state.Self)
		if network {
			h.NetMode = m
		} else {
			h.RunMode = m
		}
		return a.db.Update(func(tx *state.Tx) { a.db.Hosts.Put(tx, state.Self, h) })
	})
}

// Decision returns the last pass: what was looked at, what was decided, and why
// everything else was not.
func (a *Agent) Decision(ctx context.Context) (r decide.Record, err error) {
	err = a.do(ctx, func() error {
		a.decide(time.Now())
		r = a.last.Record
		return nil
	})
	return r, err
}

// Prefs returns the computing preferences in force, with the origin of each.
func (a *Agent) Prefs(ctx context.Context) (p prefs.Effective, err error) {
	err = a.do(ctx, func() error {
		p = a.prefs
		return nil
	})
	return p, err
}
