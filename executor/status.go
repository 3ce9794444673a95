package executor

import (
	"context"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/appipc"
)

// listened records that the application uses the interface.
func (r *run) listened() {
	if !r.listens {
		r.listens = true
		r.update(func(p *Progress) { p.Listens = true })
	}
}

// readStatus reads the application's report, if there is a new one.
func (r *run) readStatus() {
	text, ok := r.ipc.Receive(appipc.AppStatus)
	if !ok {
		return
	}
	r.listened()
	r.log.Log(context.Background(), logflag.Detail, "message from application", logflag.Key, logflag.AppMsgReceive, "text", text)
	st := appipc.ParseStatus(text)
	var saved bool
	r.update(func(p *Progress) {
		p.CPUTime = max(p.CPUTime, st.CPUTime) // an application may not count its children
		if r.loose {
			p.Used = max(p.Used, st.CPUTime-r.task.Init.WUCPUTime)
		}
		if st.FractionDone > 0 {
			p.Fraction = st.FractionDone
		}
		if st.WorkingSet > 0 {
			p.WorkingSet, p.PeakWorkingSet = st.WorkingSet, max(p.PeakWorkingSet, st.WorkingSet)
		}
		if saved = st.CheckpointCPUTime != p.CheckpointCPUTime && st.CheckpointCPUTime > 0; saved {
			p.CheckpointCPUTime, p.CheckpointElapsed, p.WithoutCheckpoint = st.CheckpointCPUTime, p.Elapsed, false
		}
	})
	if saved {
		r.unkept = true
	}
	if r.unkept && time.Since(r.kept) >= keepPolls*r.e.timing.poll {
		r.checkpointed()
	}
}

// keepPolls is the minimum number of polls between two checkpoints of a run that are saved. Each
// costs several writes to the disk, and some programs make one a second.
const keepPolls = 10

// Saved returns the last checkpoint of a result in its slot. It may be newer than the last one that
// was reported, if the agent was killed in between. ok is false without a checkpoint.
func (e *Executor) Saved(result string, slot int) (c Checkpointed, ok bool) {
	dir, err := e.root.OpenRoot(slotName(slot))
	if err != nil {
		return c, false
	}
	defer dir.Close()
	if readSetup(dir).Result != result {
		return c, false
	}
	b, err := foreigndir.Read(dir, appipc.TaskStateFile, maxFormat)
	if err != nil {
		return c, false
	}
	st, err := appipc.ParseTaskState(b)
	return Checkpointed{Result: result, CPUTime: st.CPUTime, Elapsed: st.Elapsed, Fraction: st.FractionDone}, err == nil
}

// checkpointed saves the times from which the next run starts.
func (r *run) checkpointed() {
	p := r.snapshot()
	r.kept, r.unkept = time.Now(), false
	r.saveState(p, p.CheckpointCPUTime, p.CheckpointElapsed)
	r.countExits(0)
	r.log.Debug("checkpoint", logflag.Key, logflag.Checkpoint, "cpu", p.CheckpointCPUTime, "elapsed", p.CheckpointElapsed, "fraction", p.Fraction)
	r.e.report(Checkpointed{Result: r.task.Result, CPUTime: p.CheckpointCPUTime, Elapsed: p.CheckpointElapsed, Fraction: p.Fraction})
}

func (r *run) saveState(p Progress, cpu, elapsed time.Duration) {
	st := appipc.TaskState{
		ProjectURL: r.task.ProjectURL, ResultName: r.task.Init.ResultName,
		CPUTime: cpu, Elapsed: elapsed,
		FractionDone: p.Fraction, PeakWorkingSet: p.PeakWorkingSet, PeakSwap: p.PeakSwap, PeakDisk: p.PeakDisk,
	}
	if err := r.slot.replace(appipc.TaskStateFile, st.Encode()); err != nil {
		r.log.Warn("cannot write task state", "err", err)
	}
}

// countExits saves the number of premature exits, so that it survives a restart of the agent.
func (r *run) countExits(n int) {
	if r.slot.state.PrematureExits == n {
		return
	}
	r.slot.state.PrematureExits = n
	if err := r.slot.save(); err != nil {
		r.log.Warn("cannot write slot state", "err", err)
	}
}
