package executor

import (
	"strconv"
	"strings"
	"time"
)

// ticks returns how far the application, or a child of it, has counted.
func (b *bench) ticks(name string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(b.read(b.slotFile(name))))
	return n
}

// ticking waits until it has counted on.
func (b *bench) ticking(name string) {
	b.t.Helper()
	for n := b.ticks(name); b.ticks(name) <= n; {
		select {
		case ev := <-b.events:
			if e, ok := ev.(Exited); ok {
				b.t.Fatalf("waiting for %s: %+v", name, e)
			}
		case <-time.After(time.Millisecond):
		}
	}
}

// still waits until it counts no more: for a hundred times as long as it needs.
func (b *bench) still(name string) {
	b.t.Helper()
	for n, same := b.ticks(name), 0; same < 100; {
		time.Sleep(2 * time.Millisecond)
		if m := b.ticks(name); m == n {
			same++
		} else {
			n, same = m, 0
		}
	}
}
