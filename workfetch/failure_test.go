package workfetch_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/workfetch"
)

func TestEveryFailureHasACauseAndACure(t *testing.T) {
	seen := make(map[workfetch.FailureCode]bool)
	for _, s := range workfetch.FailureSayings {
		if seen[s.Code] {
			t.Errorf("%s is there twice", s.Code)
		}
		seen[s.Code] = true
		for _, about := range []string{"", "in_1"} {
			f := workfetch.Failure{Task: "w_0", Code: s.Code, About: about}
			for _, text := range []string{f.Cause(), f.Cure("http://p.example/"), f.Failing(1), f.Failing(3)} {
				if text == "" || strings.Contains(text, "%") || strings.Contains(text, "URL") || strings.Contains(text, "..") {
					t.Errorf("%s about %q: %q", s.Code, about, text)
				}
			}
		}
	}
}

// A project whose tasks fail waits for that reason, and it names the task.
func TestTasksThatFailAreTheReason(t *testing.T) {
	failed := workfetch.Failure{Task: "w_0", Code: workfetch.Crashed, About: "signal 11"}
	r := workfetch.Choose(snapshot(nil, known(func(p *workfetch.Project) {
		p.Backoff, p.Failures, p.Failed = now.Add(time.Hour), 2, failed
	})))[0]
	if want := "The last 2 tasks failed, most recently w_0 because its application crashed (signal 11). More work is requested at 13:00."; r.Code != workfetch.TasksFail || r.Text != want || r.Cure == "" {
		t.Errorf("got %+v, want %q", r, want)
	}
	r = workfetch.Choose(snapshot(nil, known(func(p *workfetch.Project) {
		p.Backoff, p.BackoffWhy, p.Failures, p.Failed = now.Add(time.Hour), "The last request brought no work (out of tasks)", 2, failed
	})))[0]
	if r.Code != workfetch.NoWorkBackoff {
		t.Errorf("got %+v, want what the last request brought", r)
	}
}
