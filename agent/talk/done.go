package talk

import (
	"github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// acknowledged forgets results that the server has received. Only what this
// very request reported can be acknowledged by its reply.
func (r *replier) acknowledged(tx *state.Tx) {
	reported := make(map[string]bool)
	for _, res := range r.req.Results {
		reported[res.Name] = true
	}
	for _, name := range r.reply.ResultAcks {
		key := state.Key(r.project.MasterURL, name)
		res, ok := r.t.DB.Results.Get(key)
		if !ok || !reported[name] || !res.ReadyToReport {
			continue
		}
		r.acked++
		r.done = append(r.done, res)
		r.project.CPUTime += res.CPUTime
		r.project.Energy = r.project.Energy.Plus(res.Energy)
		r.t.DB.Results.Delete(tx, key)
		r.t.DB.Report(tx, r.ended(res), r.now)
		r.say(false, "result reported", logflag.Key, logflag.SchedOps, "result", name)
	}
}

// ended returns a result's record for the history.
func (r *replier) ended(res state.Result) state.EndedTask {
	e := outcome.Ended(r.t.DB, res)
	e.ProjectName = r.project.Name // from this reply
	return e
}

func (r *replier) aborts(tx *state.Tx) {
	abort := func(name string, started bool) {
		key := state.Key(r.project.MasterURL, name)
		res, ok := r.t.DB.Results.Get(key)
		if !ok || res.ReadyToReport || !started && !res.Started.IsZero() {
			return
		}
		r.say(true, "the project no longer needs a result", "result", name)
		if r.t.Life.Runs(res) {
			r.aborted = append(r.aborted, res)
			return
		}
		next, ok := state.Next(res.State, state.AbortRequested)
		if !ok {
			return
		}
		res.State, res.ExitStatus, res.Slot = next, protocol.ExitAbortedByProject, state.NoSlot
		res.Stderr = life.AddError(res.Stderr, "aborted by project - no longer usable")
		res.Ready(r.now)
		r.t.DB.Results.Put(tx, key, res)
		r.t.DB.End(tx, r.ended(res))
	}
	for _, name := range r.reply.ResultAborts {
		abort(name, true)
	}
	for _, name := range r.reply.ResultAbortsIfNotStarted {
		abort(name, false)
	}
}
