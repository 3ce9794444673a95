package executor

import (
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
)

// ticks returns the count that the application, or a child of it, has reached.
func (b *bench) ticks(name string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(b.read(b.slotFile(name))))
	return n
}

// ticking waits until the count increases.
func (b *bench) ticking(name string) {
	b.t.Helper()
	n := b.ticks(name)
	testwait.Until(b.t, name, func() bool {
		select {
		case ev := <-b.events:
			if e, ok := ev.(Exited); ok {
				b.t.Fatalf("waiting for %s: %+v", name, e)
			}
		default:
		}
		return b.ticks(name) > n
	})
}

// still waits until the count has not changed for a hundred times as long as a step takes.
func (b *bench) still(name string) {
	b.t.Helper()
	b.stillFor(name, 200*time.Millisecond)
}

// stillFor waits until the count has not changed for a while, during which it was read 20 times.
func (b *bench) stillFor(name string, d time.Duration) {
	b.t.Helper()
	n, same, since := b.ticks(name), 0, time.Now()
	testwait.Until(b.t, name+" to stand still", func() bool {
		if m := b.ticks(name); m != n {
			n, same, since = m, 0, time.Now()
		}
		same++
		return same > 20 && time.Since(since) > d
	})
}
