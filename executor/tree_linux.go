package executor

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"
)

// A processTree knows which processes belong together. One look at /proc
// serves all runs, since each asks once a second.
type processTree struct {
	mu    sync.Mutex
	taken time.Time
	all   map[int]relative
}

type relative struct {
	parent, group int
	resident      int64 // pages
}

// treeAge is how old a look may be.
const treeAge = 500 * time.Millisecond

// resident returns the bytes of memory that the process, its descendants and
// its process group occupy.
func (t *processTree) resident(pid int) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := time.Now(); now.Sub(t.taken) > treeAge {
		t.all, t.taken = processes(), now
	}
	var pages int64
	for p, r := range t.all {
		if r.group == pid || t.descends(p, pid) {
			pages += r.resident
		}
	}
	return pages * int64(os.Getpagesize())
}

func (t *processTree) descends(p, ancestor int) bool {
	for range 64 { // parents change while we read: there may be a loop
		if p == ancestor {
			return true
		}
		r, ok := t.all[p]
		if !ok || r.parent == 0 {
			return false
		}
		p = r.parent
	}
	return false
}

func processes() map[int]relative {
	all := make(map[int]relative)
	dir, err := os.Open("/proc")
	if err != nil {
		return all
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// The command's name, in parentheses, may hold anything.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) < 22 {
			continue
		}
		number := func(i int) int64 {
			n, _ := strconv.ParseInt(string(fields[i]), 10, 64)
			return n
		}
		all[pid] = relative{parent: int(number(1)), group: int(number(2)), resident: number(21)}
	}
	return all
}
