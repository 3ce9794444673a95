package executor

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A processTree lists the processes that belong together. One look at /proc serves all runs, since
// they poll at the same time.
type processTree struct {
	mu    sync.Mutex
	taken time.Time
	all   family
}

// A family maps IDs to all processes, as of one look.
type family map[int]relative

type relative struct {
	parent, group int
	session       int
	cpu           int64 // clock ticks, including children that were waited for
	start         int64 // clock ticks since boot: together with the ID it identifies a process forever
	resident      int64 // pages
	virtual       int64 // bytes
}

// treeAge is the maximum age of a look that is used again.
const treeAge = 500 * time.Millisecond

// clockTick is the unit of times in /proc. It is the same on all systems that Go supports.
const clockTick = time.Second / 100

// look returns the processes as they are now or, if not fresh, as they were recently. A fresh look
// lists all processes. The other, which is taken every few seconds, lists only the descendants of
// this process, if the kernel provides them: all processes that applications start remain
// descendants, see adoptOrphans.
func (t *processTree) look(fresh bool) family {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); fresh || now.Sub(t.taken) > treeAge {
		t.taken, t.all = now, make(family)
		zombies := make(map[int]relative)
		if fresh || !adopts.Load() || !descendants(os.Getpid(), t.all, zombies, 0) {
			everyProcess(t.all, zombies)
		}
		reap(zombies)
	}
	return t.all
}

// descendants adds the descendants of a process, and reports whether the kernel lists them.
func descendants(pid int, all family, zombies map[int]relative, depth int) bool {
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/[0-9]*")
	if err != nil || depth > 64 {
		return false
	}
	for _, thread := range threads {
		list, err := os.ReadFile(thread + "/children")
		if err != nil {
			if _, errThread := os.Stat(thread); errThread == nil && pid == os.Getpid() {
				return false // this kernel does not list them
			}
			continue // the process has ended
		}
		for name := range strings.FieldsSeq(string(list)) {
			child, err := strconv.Atoi(name)
			if err == nil && all.add(child, zombies) {
				descendants(child, all, zombies, depth+1)
			}
		}
	}
	return true
}

// relatives returns the descendants of a process, the members of its process group, and earlier
// relatives that are still alive with their descendants, since a process whose parent has ended has
// lost its place in the tree.
func (f family) relatives(pid int, earlier map[int]int64) map[int]int64 {
	found := make(map[int]int64)
	for p, r := range f {
		if p != pid && f.related(p, pid, earlier) {
			found[p] = r.start
		}
	}
	return found
}

// adopt adds processes to earlier relatives and returns all of them.
func (f family) adopt(pids []int, earlier map[int]int64) map[int]int64 {
	if earlier == nil {
		earlier = make(map[int]int64)
	}
	for _, pid := range pids {
		if r, ok := f[pid]; ok {
			earlier[pid] = r.start
		}
	}
	return earlier
}

func (f family) related(p, pid int, earlier map[int]int64) bool {
	for range 64 { // parents change during the look, so there may be a loop
		r, ok := f[p]
		if !ok {
			return false
		}
		if start, was := earlier[p]; p == pid || r.group == pid || was && start == r.start {
			return true
		}
		p = r.parent
	}
	return false
}

// usage returns the bytes of memory that the process and its relatives occupy and have addresses
// for, and the CPU time that they have used.
func (f family) usage(pid int, descendants map[int]int64) (resident, virtual int64, cpu time.Duration) {
	sum := f[pid]
	for p := range descendants {
		sum.resident += f[p].resident
		sum.virtual += f[p].virtual
		sum.cpu += f[p].cpu
	}
	return sum.resident * int64(os.Getpagesize()), sum.virtual, time.Duration(sum.cpu) * clockTick
}

// everyProcess adds all processes, and to zombies those that have ended but have not been waited
// for.
func everyProcess(all family, zombies map[int]relative) {
	dir, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all.add(pid, zombies)
		}
	}
}

// add adds a process, and reports whether it is alive.
func (f family) add(pid int, zombies map[int]relative) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	// The command's name, in parentheses, may contain any characters.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 22 {
		return false
	}
	number := func(i int) int64 {
		n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
		return n
	}
	r := relative{
		parent: int(number(1)), group: int(number(2)), session: int(number(3)),
		cpu: number(11) + number(12) + number(13) + number(14), start: number(19), virtual: number(20), resident: number(21),
	}
	if fields[0][0] == 'Z' {
		zombies[pid] = r
		return false
	}
	f[pid] = r
	return true
}
