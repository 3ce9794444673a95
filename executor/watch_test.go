package executor

import (
	"testing"
	"time"
)

// counts returns the number of times that runs were woken.
func (e *Executor) counts() (polls, retries, commands int64) {
	return e.woken.polls.Load(), e.woken.retries.Load(), e.woken.commands.Load()
}

// polled waits for so many further polls.
func (b *bench) polled(n int64) {
	b.t.Helper()
	before, _, _ := b.counts()
	b.progress(func(Progress) bool {
		now, _, _ := b.counts()
		return now >= before+n
	})
}

// While a run computes, only its polls wake it.
func TestNothingWakesARunButItsPolls(t *testing.T) {
	b := newBench(t)
	b.start(b.task("wait"))
	b.appears("working")
	b.progress(func(p Progress) bool { return p.Listens })
	b.polled(20)
	if _, retries, commands := b.counts(); retries != 0 || commands != 0 {
		t.Errorf("woken by %d retries and %d commands", retries, commands)
	}
}

// Only some checkpoints are saved of a program that makes them all the time, and the last one
// before it exits.
func TestFewCheckpointsAreKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	begin := time.Now()
	b.start(b.task("hasty"))
	n, last := 0, Checkpointed{}
	checkpoint := func(ev Event) bool {
		c, ok := ev.(Checkpointed)
		if ok {
			if n++; c.CPUTime < last.CPUTime {
				t.Errorf("%v after %v", c, last)
			}
			last = c
		}
		return ok
	}
	for n < 5 {
		if ev := <-b.events; !checkpoint(ev) {
			t.Fatalf("got %+v", ev)
		}
	}
	if most := int(time.Since(begin)/(keepPolls*b.timing.poll)) + 1; n > most {
		t.Errorf("%d checkpoints are kept, want at most %d", n, most)
	}
	latest := b.Progress()["r_0"].CheckpointCPUTime
	_ = b.Quit("r_0")
	for checkpoint(<-b.events) {
	}
	if last.CPUTime < latest {
		t.Errorf("kept %v, and the program had saved %v", last.CPUTime, latest)
	}
	if c, ok := b.Saved("r_0", 0); !ok || c.CPUTime != last.CPUTime {
		t.Errorf("in the slot: %+v, want %+v", c, last)
	}
}

// Messages are sent again only for a while to an application that does not read them, and a
// suspended application is polled less often.
func TestASuspendedRunRests(t *testing.T) {
	b := newBench(t)
	b.timing.unresponsive = 50 * time.Millisecond
	b.start(b.task("spin"))
	b.ticking("child.ticks")
	_ = b.Suspend("r_0")
	b.still("ticks")
	b.polled(1)
	_, before, _ := b.counts()
	b.polled(5)
	if _, retries, commands := b.counts(); retries != before || commands != 1 {
		t.Errorf("woken by %d retries and %d commands more", retries-before, commands)
	}
	_ = b.Resume("r_0")
	b.ticking("ticks")
}

// The time between polls depends on the state of the run.
func TestIntervals(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		set  func(*run)
		want time.Duration
	}{
		"computes":              {func(*run) {}, 5 * time.Second},
		"new":                   {func(r *run) { r.began = now }, time.Second},
		"limited in CPU time":   {func(r *run) { r.e.allowed.CPU = 50 }, time.Second},
		"not to be limited":     {func(r *run) { r.e.allowed.CPU, r.task.Unthrottled = 50, true }, 5 * time.Second},
		"much memory":           {func(r *run) { r.e.allowed.MostMemory, r.progress.WorkingSet = 100, 60 }, time.Second},
		"many processes":        {func(r *run) { r.e.allowed.Processes, r.descendants = 2, map[int]int64{1: 1, 2: 2} }, time.Second},
		"much on stderr":        {func(r *run) { r.task.Init.RscDiskBound, r.stderr = 100, 60 }, time.Second},
		"watched":               {func(r *run) { r.e.asked.Store(&now) }, time.Second},
		"suspended":             {func(r *run) { r.progress.Suspended = true }, 10 * time.Second},
		"suspended and watched": {func(r *run) { r.progress.Suspended = true; r.e.asked.Store(&now) }, 10 * time.Second},
		"suspended, not read":   {func(r *run) { r.progress.Suspended, r.unread = true, now }, time.Second},
		"stopped by signal":     {func(r *run) { r.progress.Suspended, r.unread, r.stopped = true, now, true }, 10 * time.Second},
		"suspended, leaving":    {func(r *run) { r.progress.Suspended, r.deadline = true, now }, time.Second},
		"suspended, has an end": {func(r *run) { r.progress.Suspended, r.finished = true, now }, time.Second},
	} {
		r := &run{e: &Executor{timing: standardTiming}}
		c.set(r)
		if got := r.interval(now); got != c.want {
			t.Errorf("%s: looked at every %v, want %v", name, got, c.want)
		}
	}
}
