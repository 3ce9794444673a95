package api

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/files"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/rules"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/talk"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// SteerProject carries out a person's request for a project. Lasting changes are written to a file
// next to the account file.
func (a *API) SteerProject(ctx context.Context, masterURL string, what control.ProjectAction) error {
	return a.core.Do(ctx, func() error {
		p, ok := a.core.DB.Projects.Get(masterURL)
		if !ok {
			return settings.NotAttached(masterURL)
		}
		if what != control.UndoProject && what != control.FinishProject {
			if err := leaving(p, time.Now()); err != nil {
				return err
			}
		}
		yes, no := true, false
		override := func(change func(*settings.Override)) error {
			if err := settings.ChangeAccount(a.core.Dir, masterURL, change); err != nil {
				return err
			}
			return a.rules.ReadFiles()
		}
		a.core.Log.Info("user request", "project", masterURL, "action", what)
		switch what {
		case control.UpdateProject:
			_ = a.rules.ReadFiles() // changes of a moment ago are meant, too. It reports all that is wrong
			a.talk.Ask(masterURL)
			a.rules.ReadOwn(masterURL)
			p, _ = a.core.DB.Projects.Get(masterURL)
			return errors.Join(a.askAnew(talk.FeedsDue(p)), a.retryTransfers(masterURL))
		case control.SuspendProject:
			return override(func(o *settings.Override) { o.Suspended = &yes })
		case control.ResumeProject:
			if err := a.askAnew(p); err != nil {
				return err
			}
			return override(func(o *settings.Override) { o.Suspended = &no })
		case control.NoMoreWork:
			return override(func(o *settings.Override) { o.NoMoreWork = &yes })
		case control.AllowMoreWork:
			if err := a.askAnew(p); err != nil {
				return err
			}
			return override(func(o *settings.Override) { o.NoMoreWork = &no })
		case control.DetachDone:
			return override(func(o *settings.Override) { o.DetachWhenDone = &yes })
		case control.StayAttached:
			return override(func(o *settings.Override) { o.DetachWhenDone = &no })
		case control.ResetProject:
			return a.rules.Reset(p, time.Now())
		case control.UndoProject:
			return a.rules.Undo(p, time.Now())
		case control.FinishProject:
			return a.rules.Hasten(p, time.Now())
		default:
			return words.Refuse(words.T("unknown action {action} for a project", "action", strconv.Quote(string(what))))
		}
	})
}

// askAnew forgets that requests for work brought none: a person wants the project to be asked now,
// as far as there is room for work.
//
// Source: BOINC client/cs_scheduler.cpp.
func (a *API) askAnew(p state.Project) error {
	p.Retries(func(r *state.Retry) { *r = state.Retry{} })
	return a.core.DB.Update(func(tx *state.Tx) { a.core.DB.Projects.Put(tx, p.MasterURL, p) })
}

// retryTransfers makes waiting transfers of a project due.
func (a *API) retryTransfers(masterURL string) error {
	return a.core.DB.Update(func(tx *state.Tx) {
		for _, w := range a.core.DB.Wanted() {
			if f := w.File; f.Project == masterURL && !f.NextTry.IsZero() {
				f.NextTry = time.Time{}
				a.core.DB.Files.Put(tx, w.Key, f)
			}
		}
	})
}

// leaving returns why nothing can be done to a project that is being detached or reset, or nil if
// it is not.
func leaving(p state.Project, now time.Time) error {
	resets := p.Ending.Kind == state.Resetting
	switch {
	case !p.Ending.Leaves():
		return nil
	case p.Ending.Due(now) && resets:
		return words.Refuse(words.T("{url}: the project is being reset, which can no longer be undone; try again in a moment", "url", p.MasterURL))
	case p.Ending.Due(now):
		return words.Refuse(words.T("{url}: the project is being detached, which can no longer be undone; try again in a moment", "url", p.MasterURL))
	case resets:
		return words.Refuse(words.T("{url}: the project is being reset; undo that first with: starling undo {url}", "url", p.MasterURL))
	}
	return words.Refuse(words.T("{url}: the project is being detached; undo that first with: starling undo {url}", "url", p.MasterURL))
}

// SteerTask carries out a person's request for a task. The project is its master URL, or "" if the
// name alone identifies the task.
func (a *API) SteerTask(ctx context.Context, project, name string, what control.TaskAction) error {
	return a.core.Do(ctx, func() error {
		key, r, err := a.findTask(project, name)
		if err != nil {
			return err
		}
		if r.ReadyToReport || !r.Computing() {
			return words.Refuse(words.T("task {task} has already finished", "task", name))
		}
		a.core.Log.Info("user request", "result", name, "action", what)
		if what == control.AbortTask {
			return a.life.Abort(key, r, "aborted by user")
		}
		if err := mark(&r, what, time.Now()); err != nil {
			return err
		}
		return a.core.DB.Update(func(tx *state.Tx) { a.core.DB.Results.Put(tx, key, r) })
	})
}

// mark records a person's request on a result.
func mark(r *state.Result, what control.TaskAction, now time.Time) error {
	switch what {
	case control.SuspendTask, control.ResumeTask:
		r.Suspended = what == control.SuspendTask
		if !r.Suspended && r.Crashes > 0 { // a person's word counts for more than a suspicion
			r.SetAside, r.Crashes, r.NotBefore = false, 0, time.Time{}
		}
		r.AbortAt = time.Time{}
		return nil
	case control.AbortSoon:
		r.AbortAt = now.Add(rules.UndoFor)
		return nil
	case control.AbortTask:
	}
	return words.Refuse(words.T("unknown action {action} for a task", "action", strconv.Quote(string(what))))
}

// SteerTasks carries out a person's request for many tasks, all with one write to disk, and returns
// their number. Tasks that have finished or no longer exist are left out.
func (a *API) SteerTasks(ctx context.Context, tasks []control.TaskRef, what control.TaskAction) (n int, err error) {
	err = a.core.Do(ctx, func() error {
		now := time.Now()
		changed := make(map[string]state.Result)
		for _, t := range tasks {
			key := state.Key(t.Project, t.Task)
			r, ok := a.core.DB.Results.Get(key)
			if !ok || r.ReadyToReport || !r.Computing() {
				continue
			}
			if err := mark(&r, what, now); err != nil {
				return err
			}
			changed[key] = r
		}
		a.core.Log.Info("user request", "action", what, "results", len(changed))
		err := a.core.DB.Update(func(tx *state.Tx) {
			for key, r := range changed {
				a.core.DB.Results.Put(tx, key, r)
			}
		})
		if err == nil {
			n = len(changed)
		}
		return err
	})
	return n, err
}

func (a *API) findTask(project, name string) (key string, r state.Result, err error) {
	if _, attached := a.core.DB.Projects.Get(project); project != "" && !attached {
		return "", r, settings.NotAttached(project)
	}
	found := 0
	for k, v := range a.core.DB.Results.All() {
		if v.Name == name && (project == "" || project == v.Project) {
			key, r = k, v
			found++
		}
	}
	switch found {
	case 0:
		return "", r, words.Explain(control.ErrNoTask, words.T("no such task: {task}; to list the tasks: starling tasks", "task", name))
	case 1:
		return key, r, nil
	}
	return "", r, words.Refuse(words.T("{n} projects have a task called {task}; say which: --project PROJECT", "n", found, "task", name))
}

// SetMode sets a person's current mode for an activity. After the given time, if above 0, the
// preferences apply again.
func (a *API) SetMode(ctx context.Context, what control.Activity, kind prefs.ModeKind, d time.Duration) error {
	if d < 0 { // ModeFor would take it for no limit
		return words.Refuse(words.T("the time for a mode is negative; give a time above 0, or 0 to keep it until it is changed"))
	}
	return a.core.Do(ctx, func() error {
		m := prefs.ModeFor(kind, d, time.Now())
		h, _ := a.core.DB.Hosts.Get(state.Self)
		switch what {
		case control.Computing:
			h.RunMode = m
		case control.Network:
			h.NetMode = m
		case control.GPUs:
			h.GPUMode = m
		default:
			return words.Refuse(words.T("unknown activity {activity}; the mode is set of computing, network or gpu", "activity", strconv.Quote(string(what))))
		}
		return a.core.DB.Update(func(tx *state.Tx) { a.core.DB.Hosts.Put(tx, state.Self, h) })
	})
}

// SteerTransfer tries a transfer again now, or gives its file up.
func (a *API) SteerTransfer(ctx context.Context, project, name string, abort bool) error {
	return a.core.Do(ctx, func() error {
		if _, attached := a.core.DB.Projects.Get(project); !attached {
			return settings.NotAttached(project)
		}
		key := state.Key(project, name)
		all := a.core.DB.Wanted()
		i := slices.IndexFunc(all, func(w state.WantedFile) bool { return w.Key == key })
		if i < 0 {
			return words.Refuse(words.T("No such file")) // tools compare the text
		}
		f := all[i].File
		f.NextTry = time.Time{}
		if abort {
			a.parts.Files.Cancel(key)
			files.Abandon(&f, time.Now())
		}
		return a.core.DB.Update(func(tx *state.Tx) { a.core.DB.Files.Put(tx, key, f) })
	})
}

// Attach makes an account file and makes contact.
func (a *API) Attach(ctx context.Context, masterURL string, key protocol.Authenticator) error {
	acc := settings.Account{MasterURL: masterURL, Authenticator: key, ResourceShare: 100}
	return a.change(ctx, func() error { return settings.WriteAccount(a.core.Dir, acc) })
}

// change changes account files and reads them. Both happen in the loop: a file that is read during
// a change would look lost.
func (a *API) change(ctx context.Context, files func() error) error {
	return a.core.Do(ctx, func() error {
		if err := files(); err != nil {
			return err
		}
		if err := a.rules.ReadFiles(); err != nil { // of other files (Status has it too)
			a.core.Log.Error("some settings are invalid; the previous values stay in effect", "err", err)
		}
		return nil
	})
}

// Detach removes an account file. Its tasks are given up, if that is not undone in time.
func (a *API) Detach(ctx context.Context, masterURL string) error {
	return a.change(ctx, func() error { return settings.RemoveAccount(a.core.Dir, masterURL) })
}

// ProjectConfig asks a project about itself.
func (a *API) ProjectConfig(ctx context.Context, masterURL string) (*protocol.ProjectConfig, error) {
	c, err := a.talk.Sched.ProjectConfig(ctx, masterURL)
	return c, words.Explain(err, schedulerop.Text(err, time.Now()))
}

// LookupAccount asks a project for the key of an account.
func (a *API) LookupAccount(ctx context.Context, masterURL, email, passwdHash string) (protocol.Authenticator, error) {
	key, err := a.talk.Sched.LookupHash(ctx, masterURL, email, passwdHash)
	return key, words.Explain(err, schedulerop.Text(err, time.Now()))
}

// CreateAccount makes an account at a project.
func (a *API) CreateAccount(ctx context.Context, masterURL, email, passwdHash, name string, consent bool) (protocol.Authenticator, error) {
	key, err := a.talk.Sched.CreateAccount(ctx, masterURL, schedulerop.NewAccount{Email: email, PasswdHash: passwdHash, Name: name, Consent: consent})
	return key, words.Explain(err, schedulerop.Text(err, time.Now()))
}

// SetPrefsOverride makes l the tools' changes to the preferences, and reads the preferences again.
func (a *API) SetPrefsOverride(ctx context.Context, l prefs.Layer) error {
	a.editing.Lock()
	defer a.editing.Unlock()
	return a.setPrefsOverride(ctx, l)
}

func (a *API) setPrefsOverride(ctx context.Context, l prefs.Layer) error {
	if err := settings.WritePrefsOverride(a.core.Dir, l); err != nil {
		return err
	}
	return a.Reload(ctx)
}

// JoinManager makes the agent follow an account manager from now on, if that answers and accepts
// the account. It returns when the projects that it names are attached.
func (a *API) JoinManager(ctx context.Context, managerURL, login, passwdHash string) error {
	return a.talk.JoinManager(ctx, managerURL, login, passwdHash)
}

// SyncManager asks the account manager now.
func (a *API) SyncManager(ctx context.Context) error { return a.talk.SyncManager(ctx) }

// LeaveManager stops using the account manager. Projects stay, with the settings in their account
// files. With detach, the projects that the manager attached are detached.
func (a *API) LeaveManager(ctx context.Context, detach bool) error {
	return a.talk.LeaveManager(ctx, detach)
}

// Benchmark measures the computer again, while tasks keep running.
func (a *API) Benchmark(ctx context.Context) error {
	s := hostinfo.Measure()
	return a.core.Do(ctx, func() error {
		h, _ := a.core.DB.Hosts.Get(state.Self)
		h.Fpops, h.Iops, h.Measured = s.Fpops, s.Iops, time.Now()
		a.core.Host.Fpops, a.core.Host.Iops, a.core.Host.Calculated = h.Fpops, h.Iops, h.Measured
		a.core.Log.Info("computer measured", "gflops_per_cpu", s.Fpops/1e9, "giops_per_cpu", s.Iops/1e9)
		return a.core.DB.Update(func(tx *state.Tx) { a.core.DB.Hosts.Put(tx, state.Self, h) })
	})
}

// Drain finishes the computer's work without losing any: no work is fetched, no task starts, and
// those of a scope finish. The scope "" cancels that.
func (a *API) Drain(ctx context.Context, scope decide.DrainScope) error {
	return a.core.Do(ctx, func() error {
		a.core.Log.Info("user request", "action", "drain", "scope", cmp.Or(scope, "cancel"))
		a.life.Drain(scope, time.Now())
		return nil
	})
}

// Quit ends Run.
func (a *API) Quit() {
	a.core.Log.Info("shutdown requested by a tool")
	a.parts.Quit()
}
