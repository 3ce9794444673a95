package scheduler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A quota is of an app version, and ends with the day.
func TestDailyQuota(t *testing.T) {
	w := newWorld(t)
	w.s.Config.DailyResultQuota = 2
	w.addWork("a", 5)
	ask := func() *protocol.SchedulerReply {
		return w.ask(func(r *protocol.SchedulerRequest) { r.CPUReqSeconds = 1e6 })
	}
	if got := ask(); len(got.Results) != 2 {
		t.Errorf("%d results, %s", len(got.Results), texts(got))
	}
	w.s.Config.ResendLostResults = false
	if got := ask(); len(got.Results) != 0 || !strings.Contains(texts(got), "finished a daily quota of 2 tasks") {
		t.Errorf("%d results, %s", len(got.Results), texts(got))
	}
	w.addVersion("x86_64-pc-linux-gnu", 101, false)
	if got := ask(); len(got.Results) != 2 {
		t.Errorf("a new version: %d results, %s", len(got.Results), texts(got))
	}
	w.now = w.now.Add(24 * time.Hour)
	if got := ask(); len(got.Results) != 1 {
		t.Errorf("the next day: %d results, %s", len(got.Results), texts(got))
	}
}
