package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// With a task time each host gets, among results of the same priority, one that takes about that
// time on it.
func TestHostsGetTasksOfTheirSize(t *testing.T) {
	// Two hosts: the first does four times as many operations a second as the second.
	const fast, slow = "<p_fpops>4000000000", "<p_fpops>1000000000"
	for _, c := range []struct {
		name     string
		taskTime time.Duration
		age      time.Duration
		fast     string
		slow     string
	}{
		{"any size", 0, 0, "h1_0", "h1_0"},
		{"an hour", time.Hour, 0, "h4_0", "h1_0"},
		{"four hours", 4 * time.Hour, 0, "h16_0", "h4_0"},
		{"longer than any", 1000 * time.Hour, 0, "h16_0", "h16_0"},
		{"waiting for a day", 4 * time.Hour, 24 * time.Hour, "h1_0", "h1_0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for speed, want := range map[string]string{fast: c.fast, slow: c.slow} {
				w := newWorld(t)
				w.update(func(tx *store.Tx) error {
					return store.Change(tx.AppByName, "upper", tx.SaveApp, func(a *store.App) { a.TaskTime = c.taskTime })
				})
				for _, hours := range []float64{1, 4, 16} {
					w.addWork(fmt.Sprintf("h%v", hours), 1, func(wu *store.Workunit) {
						wu.RscFpopsEst, wu.RscFpopsBound, wu.DelayBound = hours*3600*1e9, 1e18, 1e4*time.Hour
					})
				}
				w.now = w.now.Add(c.age)
				got := w.send(capture(t, "01-first-contact-with-work", "<cpu_req_secs>86400", "<cpu_req_secs>1", slow, speed))
				if list := names(got.Results, resultName); len(list) != 1 || list[0] != want {
					t.Errorf("%s: got %v, want %s", speed, list, want)
				}
			}
		})
	}
}
