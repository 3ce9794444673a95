package workfetch_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/starling-grid/starling/workfetch"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func snapshot(ps ...workfetch.Project) workfetch.Snapshot {
	return workfetch.Snapshot{
		Now: now, CPUs: 2, IdleCPUs: 2, Low: time.Hour, High: 3 * time.Hour, Projects: ps,
	}
}

func project(change func(*workfetch.Project)) workfetch.Project {
	p := workfetch.Project{URL: "http://p.example/", Share: 100, Initialized: true}
	if change != nil {
		change(&p)
	}
	return p
}

func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*workfetch.Project)
		want   workfetch.Code
	}{
		{"an idle host asks", nil, workfetch.Ask},
		{"no more work", func(p *workfetch.Project) { p.NoMoreWork = true }, workfetch.NoMoreWork},
		{"no CPU applications", func(p *workfetch.Project) { p.NoCPUApps = true }, workfetch.NoCPUApps},
		{"an upload backlog", func(p *workfetch.Project) { p.Uploads = 5 }, workfetch.TooManyUpload},
		{"a request delay", func(p *workfetch.Project) { p.MinRPCTime = now.Add(time.Second) }, workfetch.RequestDelay},
		{"a request delay that is over", func(p *workfetch.Project) { p.MinRPCTime = now }, workfetch.Ask},
		{"no work the last time", func(p *workfetch.Project) { p.Backoff = now.Add(time.Minute) }, workfetch.NoWorkBackoff},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := workfetch.Choose(snapshot(project(tt.change)))
			if len(got) != 1 || got[0].Code != tt.want || got[0].Text == "" {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

func TestAFullBufferAsksNobody(t *testing.T) {
	s := snapshot(project(nil))
	s.IdleCPUs, s.Queued = 0, 2*time.Hour
	if got := workfetch.Choose(s); got[0].Code != workfetch.BufferFull {
		t.Errorf("got %+v", got)
	}
	s.Queued = 2*time.Hour - 1
	if got := workfetch.Choose(s); got[0].Code != workfetch.Ask || got[0].Seconds < 4*3600 {
		t.Errorf("below the low-water mark: got %+v, want the whole way to the high one", got)
	}
}

func TestTheProjectWithLeastForItsShareIsAsked(t *testing.T) {
	got := workfetch.Choose(snapshot(
		project(func(p *workfetch.Project) { p.Queued = time.Hour }),
		project(func(p *workfetch.Project) { p.Queued = 2 * time.Hour; p.Share = 400 }),
		project(func(p *workfetch.Project) { p.Queued = time.Minute; p.NoMoreWork = true }),
	))
	want := []workfetch.Code{workfetch.OtherFirst, workfetch.Ask, workfetch.NoMoreWork}
	for i, w := range want {
		if got[i].Code != w {
			t.Errorf("project %d: got %s, want %s", i, got[i].Code, w)
		}
	}
}

func TestWait(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		full := min(24*time.Hour, 10*time.Minute<<min(max(n, 1)-1, 20))
		if d := workfetch.Wait(n, rng); d < full/2 || d >= full*3/2 {
			t.Errorf("after %d requests without work: %v, want about %v", n, d, full)
		}
	}
}
