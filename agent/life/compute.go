package life

import (
	"fmt"
	"strconv"
	"time"

	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/state"
)

// ended forgets a process that has ended and returns its result's key.
func (l *Life) ended(task string) (key string) {
	if run := l.running[task]; run != nil {
		key = run.key
		l.saved(key)
	}
	delete(l.running, task)
	return key
}

// ran handles a report of the executor.
func (l *Life) ran(e executor.Event) {
	switch e := e.(type) {
	case executor.Checkpointed:
		l.checkpointed(e)
	case executor.TrickledUp:
		l.trickledUp(e)
	case executor.UploadRequested:
		l.uploadRequested(e)
	case executor.Exited:
		l.exited(e, time.Now())
	}
}

func (l *Life) checkpointed(e executor.Checkpointed) {
	run := l.running[e.Result]
	if run == nil {
		return
	}
	key := run.key
	l.saved(key)
	if r, ok := l.DB.Results.Get(key); ok {
		r.Checkpoint = state.Checkpoint{CPUTime: e.CPUTime, Elapsed: e.Elapsed, Fraction: e.Fraction}
		r.Energy = r.Energy.Plus(l.energy(key, false))
		l.Save(func(tx *state.Tx) { l.DB.Results.Put(tx, key, r) })
	}
}

// energy returns the energy of a task since the last call, which is to be saved.
func (l *Life) energy(key string, ended bool) state.Energy {
	if l.Ledger.Energy == nil {
		return state.Energy{}
	}
	return l.Ledger.Energy.Take(time.Now(), key, ended)
}

// exited makes the end of a run durable. If that fails the result stays in its
// slot as it is, and its application is started again to find its work done.
func (l *Life) exited(e executor.Exited, now time.Time) {
	if run := l.running[e.Result]; run != nil {
		run.used = e.Used
	}
	l.Account(now)
	key := l.ended(e.Result)
	r, ok := l.DB.Results.Get(key)
	if !ok {
		return
	}
	slot := r.Slot
	r.CPUTime, r.Elapsed, r.Live = e.CPUTime, e.Elapsed, false
	r.Energy = r.Energy.Plus(l.energy(key, true))
	r.PeakRSS, r.PeakSwap, r.PeakDisk = e.PeakWorkingSet, e.PeakSwap, e.PeakDisk
	log := l.Log.With("project", r.Project, "result", r.Name)
	switch e.Verdict {
	case executor.Success:
		log.Info("result finished", logflag.Key, logflag.Task, "cpu_seconds", e.CPUTime.Seconds(), "elapsed_seconds", e.Elapsed.Seconds())
		r.Stderr = Report("", e.Stderr)
		l.finished(key, r, e.Outputs, now)
	case executor.ComputeError, executor.Aborted:
		event := state.ComputeFailed
		if e.Verdict == executor.Aborted {
			event = state.AbortRequested
		}
		l.MoveAll(Move{key, r, event, func(r *state.Result) {
			r.ExitStatus, r.Message, r.Cause, r.Slot = e.ExitStatus, e.Message, e.Reason, state.NoSlot
			if r.Message == "" {
				r.Message = "exit status " + strconv.Itoa(e.ExitStatus)
			}
			r.Stderr = Report(r.Message, e.Stderr)
			r.Ready(now)
		}})
	case executor.Postponed:
		log.Info("result postponed by its application", logflag.Key, logflag.Task, "for", e.Delay, "why", e.Message)
		r.NotBefore, r.Obstacle = now.Add(e.Delay), e.Reason
		l.Save(func(tx *state.Tx) { l.DB.Results.Put(tx, key, r) })
	case executor.WillRestart:
		log.Debug("result stopped; it will resume later", logflag.Key, logflag.Task, "why", e.Message)
		l.Save(func(tx *state.Tx) { l.DB.Results.Put(tx, key, r) })
	}
	if e.Verdict.Over() {
		if r, _ := l.DB.Results.Get(key); r.Slot == state.NoSlot {
			go l.clear(slot)
		}
	}
}

// finished records a result's output files, to be uploaded.
func (l *Life) finished(key string, r state.Result, outputs []executor.Output, now time.Time) {
	next, ok := state.Next(r.State, state.Finished)
	if !ok {
		return
	}
	r.State, r.Slot, r.Completed = next, state.NoSlot, now
	r.Checkpoint.Fraction = 1
	saved := l.Save(func(tx *state.Tx) {
		for _, o := range outputs {
			k := state.Key(r.Project, o.Physical)
			f, known := l.DB.Files.Get(k)
			if !known {
				continue
			}
			sent := f.Done && f.MD5 == o.MD5 // while it ran
			f.NBytes, f.MD5, f.Local, f.Used = o.NBytes, o.MD5, state.FilePresent, now
			f.Done = sent || o.Missing || len(f.UploadURLs) == 0
			if o.Missing {
				f.Local = state.FileAbsent
			}
			l.DB.Files.Put(tx, k, f)
		}
		l.DB.Results.Put(tx, key, r)
		if p, ok := l.DB.Projects.Get(r.Project); ok {
			// A finished result frees a CPU: it is worth asking for work again.
			v, known := l.DB.Versions.Get(r.Version)
			s := p.Stream(v.Kind())
			s.Retry = state.Retry{}
			if !l.DB.NonCPUIntensive(v) { // else its time says nothing about others
				s.Estimates, v.Estimates = l.learn(s.Estimates, r), l.learn(v.Estimates, r)
				if known {
					l.DB.Versions.Put(tx, r.Version, v)
				}
			}
			p.SetStream(v.Kind(), s)
			p.Fetch.Errors, p.Fetch.Failure = 0, state.Failure{}
			l.DB.Projects.Put(tx, r.Project, p)
		}
	})
	if !saved {
		l.Log.Error("cannot record a finished result; it will be examined again", "result", r.Name)
	}
}

// learn returns estimates that are updated after a result is finished.
func (l *Life) learn(before state.Estimates, r state.Result) state.Estimates {
	u, _ := l.DB.Units.Get(state.Key(r.Project, r.WorkunitName))
	whole := l.Stated(r.Version, u.RscFpopsEst)
	if whole <= 0 {
		return before
	}
	learnt := jobsched.Estimator(before).Finished(r.Elapsed.Seconds() / whole.Seconds())
	l.Log.Debug("estimate updated", logflag.Key, logflag.DCF, "result", r.Name, "stated", whole, "took", r.Elapsed, "before", fmt.Sprintf("%+v", before), "now", fmt.Sprintf("%+v", learnt))
	return state.Estimates(learnt)
}
