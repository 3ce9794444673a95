package executor

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// sessions lowers the priority of applications' sessions. Where the kernel groups processes by
// session (sched_autogroup_enabled, the default of most distributions), each session competes with
// all others as a whole. The priority of a process then counts only within its session, so an
// application that leads a session gets half of a CPU that another program needs. To prevent this,
// a session can be given a niceness. A sessions is safe for concurrent use.
type sessions struct {
	mu      sync.Mutex
	waiting map[int]int // the niceness that a session is to get, by a process in it
	retry   *time.Timer // set while some are waiting
}

// autogroupPause is a little longer than the kernel's shortest time between two changes by
// users without privileges.
//
// Source: proc_sched_autogroup_set_nice, kernel/sched/autogroup.c.
const autogroupPause = 120 * time.Millisecond

// lower gives the session of a process this niceness, at once or as soon as the kernel allows.
func (s *sessions) lower(pid, nice int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = make(map[int]int)
	}
	s.waiting[pid] = nice
	if s.retry == nil {
		s.tryAll()
	}
}

// again lowers the sessions that had to wait.
func (s *sessions) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retry = nil
	s.tryAll()
}

// tryAll lowers sessions until the kernel asks for a pause. The caller holds the lock. Other errors
// are final: the process has ended, or the kernel does not group processes by session.
func (s *sessions) tryAll() {
	for pid, nice := range s.waiting {
		if errors.Is(setAutogroup(pid, nice), unix.EAGAIN) {
			s.retry = time.AfterFunc(autogroupPause, s.again)
			return
		}
		delete(s.waiting, pid)
	}
}

func setAutogroup(pid, nice int) error {
	f, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/autogroup", os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(strconv.Itoa(nice))
	return err
}

// ownSessions are the sessions of an application.
type ownSessions struct {
	all     *sessions
	lowered map[int]bool // as of the last look
}

// lowerSessions lowers all sessions of the application's processes that have not been lowered yet.
// Sessions that the programs create later are found at the next poll.
func (p *processes) lowerSessions(nice int) {
	if nice <= 0 {
		return
	}
	own, err := unix.Getsid(0)
	if err != nil {
		return
	}
	all := p.tree.look(false)
	now := make(map[int]bool, len(p.sessions.lowered))
	see := func(pid, session int) {
		if session == 0 || session == own || now[session] {
			return
		}
		now[session] = true
		if !p.sessions.lowered[session] {
			p.sessions.all.lower(pid, nice)
		}
	}
	see(p.pid(), p.pid()) // the list may be too old to include it
	for pid := range p.descendants {
		see(pid, all[pid].session)
	}
	p.sessions.lowered = now
}
