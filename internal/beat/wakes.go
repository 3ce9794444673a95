package beat

import (
	"sync"
	"sync/atomic"
)

// wakes counts, by cause, how often this process did something without being asked.
var wakes sync.Map // of *atomic.Int64

// Woke counts a wake-up of this process. It is safe for concurrent use.
func Woke(cause string) {
	n, known := wakes.Load(cause)
	if !known {
		n, _ = wakes.LoadOrStore(cause, new(atomic.Int64))
	}
	n.(*atomic.Int64).Add(1)
}

// Wakes returns the number of wake-ups since the start of this process, by cause.
func Wakes() map[string]int64 {
	all := make(map[string]int64)
	wakes.Range(func(cause, n any) bool {
		all[cause.(string)] = n.(*atomic.Int64).Load()
		return true
	})
	return all
}
