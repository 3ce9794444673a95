package executor

import (
	"os/exec"
	"time"
)

// processes are a task's main program, which was started, and all other processes that belong to
// it. Only its run uses them.
type processes struct {
	cmd      *exec.Cmd // nil: it had finished already, see adopt
	group    *group
	exited   chan struct{} // closed when the main program has ended
	tree     *processTree
	sessions ownSessions
	// descendants maps the other processes as of the last look to their start times.
	descendants map[int]int64
	// hidden finds processes that can be recognized only by their mark.
	hidden func() []int

	// loose means that processes which have left the main program's family and group do not belong
	// to it, such as the service that VirtualBox starts once for all its programs.
	loose bool

	stopped    bool // some of its processes were stopped by signal
	terminated bool // it was asked to exit by signal
}

// started records that the command runs, and waits for its end.
func (p *processes) started(cmd *exec.Cmd) {
	p.cmd, p.exited = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // cmd.ProcessState has the same information
		ended(cmd.Process.Pid)
		close(p.exited)
	}()
}

func (p *processes) pid() int { return p.cmd.Process.Pid }

// everyone returns all processes, as of now.
func (p *processes) everyone() []int { return append(p.others(), p.pid()) }

// within returns the processes except the main one, with their start times. If their group lists its
// members, it returns those with 0 instead of a time, or else it finds them among all processes.
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

// others returns all processes except the main one, as of now.
func (p *processes) others() []int {
	p.descendants = p.within(p.tree.look(true))
	pids := make([]int, 0, len(p.descendants))
	for pid := range p.descendants {
		pids = append(pids, pid)
	}
	return pids
}

// usage returns the bytes of memory that the processes occupy and have addresses for, and the CPU
// time that they have used, as of a moment ago.
func (p *processes) usage() (resident, virtual int64, cpu time.Duration) {
	all := p.tree.look(false)
	p.descendants = p.within(all)
	resident, virtual, cpu = all.usage(p.pid(), p.descendants)
	return resident, virtual, max(cpu, p.group.cpu())
}

// used returns the CPU time that the processes have used, once the main one has ended.
func (p *processes) used() time.Duration {
	st := p.cmd.ProcessState
	return max(st.UserTime()+st.SystemTime(), p.group.cpu())
}

// seek adds processes that were found by their mark: their parents may have ended before the agent
// saw them.
func (p *processes) seek(found []int) {
	p.descendants = p.tree.look(len(found) > 0).adopt(found, p.descendants)
}

// suspend stops the processes that ignore messages: all except the main one, or with all set that
// one as well.
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
	signalAll(p.others(), stop) // some may have been started meanwhile
}

// wake resumes stopped processes.
func (p *processes) wake() {
	if !p.stopped {
		return
	}
	p.stopped = false
	p.group.freeze(false, 0)
	signalAll(p.everyone(), resume)
}

// terminate asks all processes to exit, by signal.
func (p *processes) terminate() {
	p.terminated = true
	signalAll(p.everyone(), terminate)
}

// kill ends all processes, and returns the number of processes found in addition to the main one.
func (p *processes) kill() int {
	n := p.group.kill()
	others := p.others()
	killGroup(p.pid())
	for _, pid := range others {
		kill(pid)
	}
	// Processes that have escaped this search are recognized by their mark.
	marked := p.hidden()
	for _, pid := range marked {
		kill(pid)
	}
	return max(n, len(others), len(marked))
}

// clean ends the remaining processes and reports whether none is left. The main process has exited
// already. The next run in the slot must be alone in it.
func (p *processes) clean() bool {
	for range 250 {
		if p.kill() == 0 {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}
