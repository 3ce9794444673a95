package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// SteerProject does to a project what a person asks. What lasts is written beside
// the account file.
func (a *Agent) SteerProject(ctx context.Context, masterURL string, what control.ProjectAction) error {
	return a.do(ctx, func() error {
		p, ok := a.db.Projects.Get(masterURL)
		if !ok {
			return fmt.Errorf("%s: %w", masterURL, settings.ErrNotAttached)
		}
		if p.Ending.Leaves() && what != control.UndoProject && what != control.FinishProject {
			return fmt.Errorf("%s: the project is being %s; take that back first with: starling undo %s", masterURL, map[bool]string{true: "reset", false: "detached"}[p.Ending.Kind == state.Resetting], masterURL)
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
			return a.reset(p, time.Now())
		case control.UndoProject:
			return a.undo(p, time.Now())
		case control.FinishProject:
			return a.hasten(p, time.Now())
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
			if !r.Suspended && r.Crashes > 0 { // a person's word counts for more than a suspicion
				r.SetAside, r.Crashes, r.NotBefore = false, 0, time.Time{}
			}
			r.AbortAt = time.Time{}
			return a.db.Update(func(tx *state.Tx) { a.db.Results.Put(tx, key, r) })
		case control.AbortSoon:
			r.AbortAt = time.Now().Add(undoFor)
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
	a.moveAll([]move{aborted(key, r, why)})
	if slot != state.NoSlot {
		go a.clear(slot)
	}
	return nil
}

// aborted gives up a result that has no process.
func aborted(key string, r state.Result, why string) move {
	return move{key, r, state.AbortRequested, func(r *state.Result) {
		r.ExitStatus, r.Message, r.Slot = protocol.ExitAbortedByUser, why, state.NoSlot
		r.Stderr = errorReport(r.Message, r.Stderr)
		r.Ready(time.Now())
	}}
}

func (a *Agent) findTask(project, name string) (key string, r state.Result, err error) {
	if _, attached := a.db.Projects.Get(project); project != "" && !attached {
		return "", r, fmt.Errorf("%s: %w", project, settings.ErrNotAttached)
	}
	found := 0
	for k, v := range a.db.Results.All() {
		if v.Name == name && (project == "" || project == v.Project) {
			key, r = k, v
			found++
		}
	}
	switch found {
	case 0:
		return "", r, fmt.Errorf("%w: %s; starling tasks lists them", control.ErrNoTask, name)
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
		m := prefs.ModeFor(kind, d, time.Now())
		h, _ := a.db.Hosts.Get(state.Self)
		if network {
			h.NetMode = m
		} else {
			h.RunMode = m
		}
		return a.db.Update(func(tx *state.Tx) { a.db.Hosts.Put(tx, state.Self, h) })
	})
}

// SteerTransfer tries a transfer again now, or gives its file up.
func (a *Agent) SteerTransfer(ctx context.Context, project, name string, abort bool) error {
	return a.do(ctx, func() error {
		if _, attached := a.db.Projects.Get(project); !attached {
			return fmt.Errorf("%s: %w", project, settings.ErrNotAttached)
		}
		key := state.Key(project, name)
		all := a.db.Wanted()
		i := slices.IndexFunc(all, func(w state.WantedFile) bool { return w.Key == key })
		if i < 0 {
			return errors.New("No such file") //nolint:staticcheck // tools compare the text
		}
		f := all[i].File
		if t := a.moving[key]; t != nil && abort {
			t.cancel()
		}
		f.NextTry = time.Time{}
		if abort {
			f.Local, f.Error = state.FileFailed, "aborted by user"
		}
		return a.db.Update(func(tx *state.Tx) { a.db.Files.Put(tx, key, f) })
	})
}

// Attach makes an account file and makes contact.
func (a *Agent) Attach(ctx context.Context, masterURL string, key protocol.Authenticator) error {
	acc := settings.Account{MasterURL: masterURL, Authenticator: key, ResourceShare: 100}
	if err := settings.WriteAccount(a.cfg.DataDir, acc); err != nil {
		return err
	}
	_ = a.Reload(ctx) // what is wrong with other files is logged, and in Status
	return nil
}

// Detach removes an account file; its tasks are given up, if that is not undone
// in time.
func (a *Agent) Detach(ctx context.Context, masterURL string) error {
	if err := settings.RemoveAccount(a.cfg.DataDir, masterURL); err != nil {
		return err
	}
	_ = a.Reload(ctx) // what is wrong with other files is logged, and in Status
	return nil
}

// ProjectConfig asks a project about itself.
func (a *Agent) ProjectConfig(ctx context.Context, masterURL string) (*protocol.ProjectConfig, error) {
	return a.sched.ProjectConfig(ctx, masterURL)
}

// LookupAccount asks a project for the key of an account.
func (a *Agent) LookupAccount(ctx context.Context, masterURL, email, passwdHash string) (protocol.Authenticator, error) {
	return a.sched.LookupHash(ctx, masterURL, email, passwdHash)
}

// CreateAccount makes an account at a project.
func (a *Agent) CreateAccount(ctx context.Context, masterURL, email, passwdHash, name string) (protocol.Authenticator, error) {
	return a.sched.CreateAccount(ctx, masterURL, schedulerop.NewAccount{Email: email, PasswdHash: passwdHash, Name: name})
}

// SetPrefsOverride makes l what tools changed of the preferences, and has them
// read again.
func (a *Agent) SetPrefsOverride(ctx context.Context, l prefs.Layer) error {
	if err := settings.WritePrefsOverride(a.cfg.DataDir, l); err != nil {
		return err
	}
	return a.Reload(ctx)
}

// Benchmark measures the computer again, while tasks go on.
func (a *Agent) Benchmark(ctx context.Context) error {
	s := hostinfo.Measure()
	return a.do(ctx, func() error {
		h, _ := a.db.Hosts.Get(state.Self)
		h.Fpops, h.Iops, h.Measured = s.Fpops, s.Iops, time.Now()
		a.host.Fpops, a.host.Iops, a.host.Calculated = h.Fpops, h.Iops, h.Measured
		a.log.Info("computer measured", "gflops_per_cpu", s.Fpops/1e9, "giops_per_cpu", s.Iops/1e9)
		return a.db.Update(func(tx *state.Tx) { a.db.Hosts.Put(tx, state.Self, h) })
	})
}

// Quit ends Run.
func (a *Agent) Quit() {
	a.log.Info("a tool asked the agent to end")
	a.quit()
}
