package executor

import (
	"os/exec"
	"time"
)

// processes are a task's main program, which was started, and all that belongs to it. They are
// its run's alone.
type processes struct {
	cmd    *exec.Cmd // nil: it had finished already, see adopt
	group  *group
	exited chan struct{} // closed when it has ended
	tree   *processTree
	// lowered is where sessions of applications get their priority; sessions are those
	// that have it, as of the last look.
	lowered  *sessions
	sessions map[int]bool
	// descendants are its other processes as of the last look, with their start times.
	descendants map[int]int64
	// hidden finds processes that are known by their mark alone.
	hidden func() []int

	// loose says that what has left the main program's family and group is not its own, such
	// as the service that VirtualBox starts once for all.
	loose bool

	stopped    bool // some of it was stopped by signal
	terminated bool // it was asked to leave by signal
}

// started notes that the command runs, and waits for its end.
func (p *processes) started(cmd *exec.Cmd) {
	p.cmd, p.exited = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // says no more than cmd.ProcessState
		ended(cmd.Process.Pid)
		close(p.exited)
	}()
}

func (p *processes) pid() int { return p.cmd.Process.Pid }

// everyone returns all of its processes, as of now.
func (p *processes) everyone() []int { return append(p.others(), p.pid()) }

// within finds the processes beside the main one, and their start times: by their group,
// where that tells, or among all.
func (p *processes) within(all family) map[int]int64 {
	if p.loose {
		return all.relatives(p.pid(), nil)
	}
	pids, ok := p.group.members()
	if !ok {
		return all.relatives(p.pid(), p.descendants)
	}
	others := make(map[int]int64, len(pids))
	for _, pid := range pids {
		if pid != p.pid() {
			others[pid] = 0
		}
	}
	return others
}

// others returns all of its processes but the main one, as of now.
func (p *processes) others() []int {
	p.descendants = p.within(p.tree.look(true))
	pids := make([]int, 0, len(p.descendants))
	for pid := range p.descendants {
		pids = append(pids, pid)
	}
	return pids
}

// usage returns the bytes of memory that it occupies and has addresses for, and the CPU
// time that it has used, as of a moment ago.
func (p *processes) usage() (resident, virtual int64, cpu time.Duration) {
	all := p.tree.look(false)
	p.descendants = p.within(all)
	resident, virtual, cpu = all.usage(p.pid(), p.descendants)
	return resident, virtual, max(cpu, p.group.cpu())
}

// used is the CPU time that it has used, once it has ended.
func (p *processes) used() time.Duration {
	st := p.cmd.ProcessState
	return max(st.UserTime()+st.SystemTime(), p.group.cpu())
}

// seek counts processes to it that were found by their mark: they may have become nobody's children
// before anybody looked.
func (p *processes) seek(found []int) {
	p.descendants = p.tree.look(len(found) > 0).adopt(found, p.descendants)
}

// suspend stops the processes that do not heed messages: all but the main one, or with
// all set that as well.
func (p *processes) suspend(all bool) {
	p.stopped = true
	spared := p.pid()
	if all {
		spared = 0
	}
	if p.group.freeze(true, spared) {
		return
	}
	if all {
		signalAll([]int{p.pid()}, stop)
	}
	signalAll(p.others(), stop)
	signalAll(p.others(), stop) // that were started meanwhile
}

// wake resumes what was stopped.
func (p *processes) wake() {
	if !p.stopped {
		return
	}
	p.stopped = false
	p.group.freeze(false, 0)
	signalAll(p.everyone(), resume)
}

// terminate asks it to leave by signal, once.
func (p *processes) terminate() {
	p.terminated = true
	signalAll(p.everyone(), terminate)
}

// kill ends the process and all that belongs to it, and returns how many others
// it found.
func (p *processes) kill() int {
	n := p.group.kill()
	others := p.others()
	killGroup(p.pid())
	for _, pid := range others {
		kill(pid)
	}
	// Whatever has hidden from these is known by the mark it was given.
	marked := p.hidden()
	for _, pid := range marked {
		kill(pid)
	}
	return max(n, len(others), len(marked))
}

// clean reports whether nothing is left of the process, which has exited: whatever gets
// the slot next must be alone in it.
func (p *processes) clean() bool {
	for range 250 {
		if p.kill() == 0 {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}
