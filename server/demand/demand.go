// Package demand decides when hosts that got no work should ask again: soon while the project has
// had work lately, and never so many at a time that they are a burden. It does not depend on hosts
// or a database.
package demand

import (
	"sync"
	"time"
)

// Bounds of the wait.
const (
	least = 30 * time.Second
	// lately is the time after the last work in which hosts are called back at all. Later their
	// own waits hold, of minutes to a day.
	lately = 2 * time.Hour
)

// Wait returns the time after which a host should ask again if the last work was seen so long ago.
// It is half of that time, so that a host asks some ten times before it is left to its own
// schedule, which 0 means.
func Wait(since time.Duration) time.Duration {
	if since < 0 || since >= lately {
		return 0
	}
	return max(least, since/2)
}

const (
	slot = 10 * time.Second
	// perSlot is the number of hosts that one process calls back in a slot: ten a second, a
	// hundredth of the requests that a server can answer.
	perSlot = 100
	slots   = int(lately / slot)
)

// A Book spreads hosts over the time to come. Its zero value is empty. It is safe for concurrent use.
type Book struct {
	mu    sync.Mutex
	begin int64 // of the first slot
	taken [slots]int
}

// Next returns the time after which one more host should ask, want or longer: if many ask, each
// gets a different time. 0 means that all times are taken.
func (b *Book) Next(now time.Time, want time.Duration) time.Duration {
	if want <= 0 {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	first := now.UnixNano() / int64(slot)
	b.turn(first)
	for i := int((now.Add(want).UnixNano()+int64(slot)-1)/int64(slot) - first); i < slots; i++ {
		at := (first + int64(i)) % int64(slots)
		if n := b.taken[at]; n < perSlot {
			b.taken[at]++
			return time.Unix(0, (first+int64(i))*int64(slot)).Add(slot * time.Duration(n) / perSlot).Sub(now)
		}
	}
	return 0
}

// turn removes slots in the past.
func (b *Book) turn(first int64) {
	past := first - b.begin
	if past < 0 || past >= int64(slots) { // the clock jumped, or it is the first
		b.taken, past = [slots]int{}, 0
	}
	for i := range past {
		b.taken[(b.begin+i)%int64(slots)] = 0
	}
	b.begin = first
}
