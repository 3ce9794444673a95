package workfetch_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/workfetch"
)

// A project whose tasks fail waits for that reason, and it names the task.
func TestTasksThatFailAreTheReason(t *testing.T) {
	failed := reason.Reason{Task: "w_0", Code: reason.Crashed, About: "signal 11"}
	r := workfetch.Choose(snapshot(nil, known(func(p *workfetch.Project) {
		p.Backoff, p.Failures, p.Failed = now.Add(time.Hour), 2, failed
	})))[0]
	if want := "The last 2 tasks failed, most recently w_0 because its application crashed (signal 11). More work is requested at 13:00."; r.Code != reason.TasksFail || r.Text.String() != want || !r.Cure.Is() {
		t.Errorf("got %+v, want %q", r, want)
	}
	r = workfetch.Choose(snapshot(nil, known(func(p *workfetch.Project) {
		p.Backoff, p.BackoffWhy, p.Failures, p.Failed = now.Add(time.Hour), "The last request brought no work (out of tasks)", 2, failed
	})))[0]
	if r.Code != reason.NoWorkBackoff {
		t.Errorf("got %+v, want what the last request brought", r)
	}
}
