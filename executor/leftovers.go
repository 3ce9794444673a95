package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v3/process"

	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/beat"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol/appipc"
)

// KillLeftovers ends the applications of an earlier agent that was killed and could not end them
// itself. Two processes in one slot would ruin the work of both, so KillLeftovers must be called
// before the first Start. It returns an error if some are still running when ctx ends.
func (e *Executor) KillLeftovers(ctx context.Context) error {
	for {
		pids := append(e.inhabitants(filepath.Join(e.dir, "slots"), e.ours), e.lockHolders()...)
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			e.log.Warn("killing application left by an earlier agent", "pid", pid)
			kill(pid)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("end leftover processes %v: %w", pids, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// inhabitants returns the applications' processes whose slot is dir or below it. They are
// recognized by a mark that they cannot remove, see sandbox.Marked. Without a sandbox they are
// recognized by a mark in their environment or, where that cannot be read, by their working
// directory. A process whose environment lacks the mark, such as a person's shell in a slot, does
// not count.
func (e *Executor) inhabitants(dir string, mark func(uint64) bool) []int {
	return e.inhabitantsOf(e.takeCensus(), dir, mark)
}

func (e *Executor) inhabitantsOf(all []inhabitant, dir string, mark func(uint64) bool) []int {
	var found []int
	for _, x := range all {
		switch {
		case mark(x.mark):
		case x.mark != 0 || !below(x.in, dir) || e.elsewhere(x.pid): // it belongs to another slot or to none
			continue
		}
		p := &process.Process{Pid: int32(x.pid)} //nolint:gosec // process ids are that small
		if status, err := p.Status(); err == nil && len(status) > 0 && status[0] == process.Zombie {
			continue
		}
		found = append(found, x.pid)
	}
	return found
}

// An inhabitant is a process that may belong to an application.
type inhabitant struct {
	pid  int
	mark uint64
	in   string // if it lacks a mark: the slot in its environment, or else its working directory
}

// takeCensus examines all processes except this one.
func (e *Executor) takeCensus() (all []inhabitant) {
	pids, err := process.Pids()
	if err != nil {
		e.log.Warn("cannot list processes", "err", err)
		return nil
	}
	for _, pid := range pids {
		if int(pid) == os.Getpid() {
			continue
		}
		x := inhabitant{pid: int(pid), mark: sandbox.Marked(int(pid))}
		p := &process.Process{Pid: pid}
		if x.mark == 0 {
			if env, err := p.Environ(); err == nil {
				x.in = slotOf(env)
			} else if cwd, err := p.Cwd(); err == nil {
				x.in = strings.TrimSuffix(cwd, " (deleted)")
			}
		}
		if x.mark != 0 || x.in != "" {
			all = append(all, x)
		}
	}
	return all
}

// A census lists all processes that may belong to applications. All runs share it.
type census struct {
	mu    sync.Mutex
	taken time.Time
	all   []inhabitant
}

// recent returns a census that was taken at most one poll ago.
func (e *Executor) recent(now time.Time) []inhabitant {
	c := &e.census
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.taken) >= e.timing.poll {
		c.all, c.taken = e.takeCensus(), now
	}
	return c.all
}

// elsewhere reports whether the path of our data directory leads to a different one for a process,
// as in a container.
func (e *Executor) elsewhere(pid int) bool {
	there, err := os.Stat(fmt.Sprintf("/proc/%d/root%s", pid, e.dir))
	return err == nil && !os.SameFile(there, e.place)
}

// inhabitants returns the processes in the run's slot, whatever their parents are.
func (r *run) inhabitants() []int {
	return r.e.inhabitants(r.dir(), r.marked())
}

// marked returns a function that reports whether a mark belongs to the run's slot.
func (r *run) marked() func(uint64) bool {
	mark := r.e.mark(r.task.Slot)
	return func(m uint64) bool { return m == mark }
}

// seek now and then adds processes to the run whose parents ended before the agent saw them.
func (r *run) seek(now time.Time) {
	if !r.sought.IsZero() && now.Before(beat.Next(r.sought, r.e.timing.disk)) {
		return // all runs search at the same time
	}
	r.sought = now
	r.processes.seek(r.e.inhabitantsOf(r.e.recent(now), r.dir(), r.marked()))
}

// lockHolders returns the processes that hold the lock of a slot.
func (e *Executor) lockHolders() []int {
	var found []int
	_ = foreigndir.Names(e.root, "slots", func(name string) bool {
		f, err := foreigndir.Open(e.root, path.Join("slots", name, appipc.LockFile))
		if err != nil {
			return true
		}
		if pid := lockHolder(f); pid > 1 && pid != os.Getpid() {
			found = append(found, pid)
		}
		_ = f.Close()
		return true
	}) // without slots there cannot be locks
	return found
}

func kill(pid int) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return // another user's, which the caller finds again and reports
	}
	_ = p.Release()
}

func below(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, dir+string(filepath.Separator))
}

// slotOf returns the folder in the mark of a process's environment, or "".
func slotOf(env []string) string {
	for _, v := range env {
		if dir, ok := strings.CutPrefix(v, slotMark+"="); ok {
			return dir
		}
	}
	return ""
}
