package scheduler_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A host gets one task at a time of an application that needs little CPU time, however much it asks
// for. The reply has the small amount of CPU time that the task uses.
func TestOneTaskAtATimeThatNeedsLittleCPUTime(t *testing.T) {
	w := newWorld(t)
	w.s.Config.ResendLostResults = false
	w.addWork("a", 3)
	mark := func(light bool) {
		w.update(func(tx *store.Tx) error {
			return store.Change(tx.AppByName, "upper", tx.SaveApp, func(a *store.App) { a.NonCPUIntensive = light })
		})
	}
	ask := func(has ...protocol.OtherResult) *protocol.SchedulerReply {
		return w.ask(func(r *protocol.SchedulerRequest) {
			r.Host.NCPUs, r.CPUReqSeconds, r.CPUReqInstances, r.OtherResults = 4, 1e6, 4, has
		})
	}
	mark(true)
	got := ask()
	if !got.NonCPUIntensive || len(got.Results) != 1 || len(got.Apps) != 1 || !got.Apps[0].NonCPUIntensive || got.AppVersions[0].AvgNCPUs != 0.01 {
		t.Fatalf("got %+v", got)
	}
	has := protocol.OtherResult{Name: got.Results[0].Name}
	if got := ask(has); len(got.Results) != 0 || !strings.Contains(texts(got), "limit on tasks in progress") {
		t.Errorf("with a task: %d results, %s", len(got.Results), texts(got))
	}
	if got := ask(); len(got.Results) != 1 {
		t.Errorf("without it: %d results, %s", len(got.Results), texts(got))
	}
	mark(false)
	if got := ask(has); got.NonCPUIntensive || len(got.Results) != 1 || got.AppVersions[0].AvgNCPUs != 1 {
		t.Errorf("an ordinary application: got %+v", got)
	}
}
