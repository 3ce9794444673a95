package scheduler

import (
	"errors"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// HoldTrays makes requests wait until pass is called. All that wait then are one tray.
func (s *Scheduler) HoldTrays() (waiting func() int, pass func()) {
	t := &s.trays
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running += maxRead
	return func() int {
			t.mu.Lock()
			defer t.mu.Unlock()
			return len(t.waiting)
		}, func() {
			t.mu.Lock()
			t.running -= maxRead - 1
			t.mu.Unlock()
			t.pass()
		}
}

// A panic in one request of a tray ends that request only.
func TestPanicInATray(t *testing.T) {
	list := []*rpc{{request: request{req: &protocol.SchedulerRequest{HostID: 7}}}, {}, {err: errStranger}}
	done := 0
	each(list, func(r *rpc) error {
		if r == list[0] {
			panic("oh")
		}
		done++
		return nil
	})
	if err := list[0].err; err == nil || !strings.Contains(err.Error(), "host 7: oh") || list[1].err != nil || !errors.Is(list[2].err, errStranger) || done != 1 {
		t.Errorf("got %v, %v, %v after %d", err, list[1].err, list[2].err, done)
	}
}
