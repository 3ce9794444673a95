package executor

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/reason"
)

// maxStep is the longest time between two polls that counts as computing. A longer time means that
// the host was asleep.
const maxStep = 10 * time.Second

// A run is one process of a task. One goroutine owns it: the one that starts it, and then serve.
// Others give commands and read the progress.
type run struct {
	e        *Executor
	task     Task
	log      *slog.Logger
	commands commands
	cleared  <-chan struct{} // closed when the slot has been emptied for it, or nil if it is not being emptied

	slot *slot
	root *rootFS // of the task's image, or nil
	processes
	dialogue
	throttle

	began    time.Time // when the process was started
	polled   time.Time
	measured time.Time // when the disk usage was last measured
	sought   time.Time // when processes that hide were last sought
	kept     time.Time // when a checkpoint was last saved
	unkept   bool      // the application has made another checkpoint since
	finished time.Time // when the finish file was first seen
	deadline time.Time // when a process that was asked to exit is killed, or zero if it was not asked
	ending   ending

	timeLimit time.Duration // 0: none
	bounded   Allowance     // the limits that the system enforces
	smoothed  float64       // average working set in bytes
	weighed   time.Time     // when smoothed was computed
	stderr    int64         // size of stderr.txt in bytes

	mu       sync.Mutex
	progress Progress
}

// start prepares the slot and starts the process. It does not start the process of a run that is to
// pause or to end by then, since it has not done any work yet that memory would keep.
func (r *run) start() (err error) {
	t := &r.task
	if r.cleared != nil {
		select {
		case <-r.cleared:
		case <-r.e.starting.Done():
			return ErrStopped
		}
	}
	if dir, err := filepath.EvalSymlinks(t.ProjectDir); err == nil {
		t.ProjectDir = dir
	}
	if err := r.e.checked.verify(*t, time.Now()); err != nil {
		return err
	}
	s, resumed, err := r.e.openSlot(*t)
	if err != nil {
		return err
	}
	r.slot = s
	defer func() {
		if err != nil {
			r.closeSlot()
		}
	}()
	r.restore(resumed)
	if resumed && r.adopt() {
		return nil
	}
	for _, stale := range []string{appipc.FinishFile, appipc.TemporaryExitFile} {
		if err := foreigndir.RemoveAll(s.dir, stale); err != nil {
			return err
		}
	}
	if r.root, err = r.unpackImage(r.e.starting); err != nil {
		return err
	}
	r.carryOut(false)
	if r.held() {
		r.quit()
	}
	if !r.deadline.IsZero() {
		return nil
	}
	told := r.e.initData(*t)
	if r.ipc, r.shared, err = s.channels(&told); err != nil {
		r.ipc = appipc.FileChannels{}
		return err
	}
	if err := s.replace(appipc.InitDataFile, told.Encode()); err != nil {
		return err
	}
	cmd, stderr, err := r.e.command(*t, s)
	if err != nil {
		return err
	}
	defer stderr.Close()
	if r.loose = r.e.free(*t); !r.loose {
		if r.group, err = r.e.groups.make(t.Slot); err != nil {
			return err
		}
	}
	r.bound(r.e.allowance())
	if r.root != nil {
		cmd.Env = append(cmd.Env, appipc.ImageVariable+"="+r.root.id)
		if dir := r.root.shared.Libraries; dir != "" {
			cmd.Env = append(cmd.Env, appipc.ImageLibraries+"="+dir)
		}
	}
	if err := r.e.starter(*t, r.group, r.root).start(cmd, *t); err != nil {
		return startError(err, s.project, t.Program)
	}
	if err := lowerPriority(cmd.Process.Pid, t.Init); err != nil {
		r.log.Debug("cannot lower priority", "err", err)
	}
	if len(t.CPUs) > 0 {
		if err := runOn(cmd.Process.Pid, t.CPUs); err != nil {
			r.log.Warn("the task runs on all CPUs", "result", t.Result, "err", err)
		}
	}
	r.started(cmd)
	r.lowerSessions(niceOf(t.Init))
	r.polled, r.credit = time.Now(), 1
	r.began, r.weighed = r.polled, r.polled
	r.timeLimit, r.trickleDown = t.timeLimit(), s.has(appipc.TrickleDownPrefix)
	r.update(func(p *Progress) { p.PID = cmd.Process.Pid })
	r.log.Info("result started", logflag.Key, logflag.Task, "pid", cmd.Process.Pid, "resumed", resumed)
	return nil
}

// restore sets the times to the times of the last checkpoint, as given by the caller or by the
// slot's state file, whichever is later. In a new slot they become zero.
func (r *run) restore(resumed bool) {
	d := &r.task.Init
	p := Progress{WithoutCheckpoint: true}
	if !resumed {
		d.WUCPUTime, d.StartingElapsedTime = 0, 0
	} else if b, err := r.slot.read(appipc.TaskStateFile); err == nil {
		st, err := appipc.ParseTaskState(b)
		if err == nil && st.ResultName == d.ResultName && (st.ProjectURL == r.task.ProjectURL || r.task.ProjectURL == "") {
			d.WUCPUTime = max(d.WUCPUTime, st.CPUTime)
			d.StartingElapsedTime = max(d.StartingElapsedTime, st.Elapsed)
			p.Fraction, p.WithoutCheckpoint = st.FractionDone, false
			p.PeakWorkingSet, p.PeakSwap, p.PeakDisk = st.PeakWorkingSet, st.PeakSwap, st.PeakDisk
		}
	}
	p.CPUTime, p.CheckpointCPUTime = d.WUCPUTime, d.WUCPUTime
	p.Elapsed, p.CheckpointElapsed = d.StartingElapsedTime, d.StartingElapsedTime
	r.update(func(q *Progress) { *q = p })
}

func (r *run) closeSlot() {
	r.slot.close()
	r.slot = nil
	if r.root != nil {
		r.root.done()
		r.root = nil
	}
	if err := r.group.remove(); err != nil {
		r.log.Warn("cannot clean up after application", "err", err)
	}
	r.group = nil
	if r.shared != nil {
		_ = r.shared.Close()
		r.shared, r.ipc = nil, appipc.FileChannels{}
	}
}

// serve watches the process until it ends, and reports the end.
func (r *run) serve() {
	if r.cmd != nil {
		r.watch()
	}
	r.carryOut(true)
	ev := r.end()
	r.e.release(r)
	r.e.report(ev)
	r.e.ended.Done()
}

// poll does the regular work at the end of each interval.
func (r *run) poll() {
	now := time.Now()
	allowed := r.e.allowance()
	r.count(now)
	r.seek(now)
	rss, swap, cpu := r.usage()
	r.log.Log(context.Background(), logflag.Detail, "memory", logflag.Key, logflag.MemUsage, "working_set", r.snapshot().WorkingSet, "smoothed", int64(r.smoothed), "others", len(r.descendants))
	r.lowerSessions(niceOf(r.task.Init))
	r.update(func(p *Progress) {
		p.WorkingSet, p.PeakWorkingSet = rss, max(p.PeakWorkingSet, rss)
		p.PeakSwap = max(p.PeakSwap, swap)
		p.CPUTime, p.Used = max(p.CPUTime, r.task.Init.WUCPUTime+cpu), max(p.Used, cpu)
	})
	beat := appipc.Heartbeat{WorkingSet: rss, MaxWorkingSet: allowed.Memory, NetworkSuspended: allowed.NetworkSuspended}
	if r.ipc.Send(appipc.Heartbeats, beat.Encode()) {
		if r.beats > 0 { // it has read the previous one
			r.listened()
		}
		r.beats++
		r.log.Log(context.Background(), logflag.Detail, "heartbeat", logflag.Key, logflag.Heartbeat, "text", beat.Encode())
	}
	r.readStatus()
	r.mail()
	r.limitCPU(allowed.CPU)
	r.tell()
	r.follow(now)
	r.limit(now, allowed)
	if r.finished.IsZero() {
		if _, err := r.slot.dir.Lstat(appipc.FinishFile); err == nil {
			r.finished = now
		}
	}
	limits := r.e.timing
	switch {
	case !r.deadline.IsZero():
		if now.After(r.deadline) {
			r.log.Warn("application ignores quit request, killing it")
			r.kill()
		}
	case !r.finished.IsZero() && now.Sub(r.finished) > limits.afterFinish:
		r.abort(protocol.ExitAbortedByClient, "finish file present too long", reason.NeverEnded)
	case !r.unread.IsZero() && r.listens && now.Sub(r.unread) > limits.unread:
		r.log.Warn("application does not read messages, killing it")
		r.kill() // it will be started again
	}
}

// count adds the time since the last call to the elapsed time, converted to time at full speed.
func (r *run) count(now time.Time) {
	step := now.Sub(r.polled)
	r.polled = now
	r.update(func(p *Progress) {
		if !p.Suspended && !r.throttled && step > 0 && step <= maxStep {
			p.Elapsed += r.computed(step)
		}
	})
}

func (r *run) snapshot() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.progress
}

func (r *run) update(f func(*Progress)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.progress)
}
