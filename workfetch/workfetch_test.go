package workfetch_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/workfetch"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// known returns a project whose results take an hour, with much time to spare.
func known(change func(*workfetch.Project)) workfetch.Project {
	p := workfetch.Project{
		URL: "http://p.example/", Share: 100, Counts: true,
		Stream: workfetch.Stream{Proved: true, JobTime: time.Hour, Latency: 1000 * time.Hour},
	}
	if change != nil {
		change(&p)
	}
	return p
}

// queue makes n jobs of an hour for project p.
func queue(p, n int) (jobs []jobsched.Job) {
	for range n {
		jobs = append(jobs, jobsched.Job{Project: p, Remaining: time.Hour, Deadline: now.Add(1000 * time.Hour)})
	}
	return jobs
}

// snapshot returns a host of 2 CPUs with marks at 2 and 6 hours: 4 and 12 of CPU time.
func snapshot(jobs []jobsched.Job, ps ...workfetch.Project) workfetch.Snapshot {
	return workfetch.Snapshot{Now: now, CPUs: 2, Low: 2 * time.Hour, High: 6 * time.Hour, Projects: ps, Jobs: jobs}
}

func TestReasons(t *testing.T) {
	for _, tt := range []struct {
		name   string
		jobs   []jobsched.Job
		change func(*workfetch.Project)
		want   reason.Code
	}{
		{"an idle host asks", nil, nil, reason.Ask},
		{"a full queue asks nobody", queue(0, 12), nil, reason.BufferFull},
		{"between the marks nobody is asked", queue(0, 8), nil, reason.BufferFull},
		{"below the low-water mark there is a request", queue(0, 3), nil, reason.Ask},
		{"tasks that need little CPU time, and none here", queue(0, 12), func(p *workfetch.Project) { p.NonCPUIntensive = true }, reason.Ask},
		{"tasks that need little CPU time, and one here", nil, func(p *workfetch.Project) { p.NonCPUIntensive, p.HasTask = true, true }, reason.HasTask},
		{"tasks that need little CPU time, and none on the server", nil, func(p *workfetch.Project) {
			p.NonCPUIntensive, p.Backoff = true, now.Add(time.Minute)
		}, reason.NoWorkBackoff},
		{"tasks that need little CPU time, and a request delay", nil, func(p *workfetch.Project) {
			p.NonCPUIntensive, p.MinRPCTime = true, now.Add(time.Minute)
		}, reason.RequestDelay},
		{"tasks that need little CPU time, and no more work", nil, func(p *workfetch.Project) { p.NonCPUIntensive, p.Counts = true, false }, reason.NoMoreWork},
		{"no more work", nil, func(p *workfetch.Project) { p.Counts = false }, reason.NoMoreWork},
		{"no CPU applications", nil, func(p *workfetch.Project) { p.NoApps = true }, reason.NoCPUApps},
		{"an upload backlog", nil, func(p *workfetch.Project) { p.Uploads = 5 }, reason.UploadBacklog},
		{"an upload under way", queue(0, 2), func(p *workfetch.Project) { p.Uploading = true }, reason.UploadFirst},
		{"an upload under way while a CPU is idle", queue(0, 1), func(p *workfetch.Project) { p.Uploading = true }, reason.Ask},
		{"a request delay", nil, func(p *workfetch.Project) { p.MinRPCTime = now.Add(time.Second) }, reason.RequestDelay},
		{"a request delay with a full queue", queue(0, 12), func(p *workfetch.Project) { p.MinRPCTime = now.Add(time.Second) }, reason.BufferFull},
		{"a request delay after no work", nil, func(p *workfetch.Project) {
			p.MinRPCTime, p.Backoff = now.Add(time.Second), now.Add(time.Minute)
		}, reason.NoWorkBackoff},
		{"a server that is down", nil, func(p *workfetch.Project) {
			p.MinRPCTime, p.Trouble = now.Add(time.Second), reason.Reason{Code: reason.ServerDown}
		}, "server_down"},
		{"a server that was down and is tried now", nil, func(p *workfetch.Project) { p.Trouble = reason.Reason{Code: reason.ServerDown} }, reason.Ask},
		{"an update during a request delay", nil, func(p *workfetch.Project) { p.MinRPCTime, p.Asked = now.Add(time.Minute), true }, reason.Ask},
		{"an update after no work", nil, func(p *workfetch.Project) { p.Backoff, p.Asked = now.Add(time.Minute), true }, reason.Ask},
		{"an update with a full queue", queue(0, 12), func(p *workfetch.Project) { p.MinRPCTime, p.Asked = now.Add(time.Minute), true }, reason.BufferFull},
		{"an overdue task that takes long, beside an idle CPU", []jobsched.Job{{Remaining: 100 * time.Hour, Deadline: now.Add(-time.Hour)}}, nil, reason.Ask},
		{"a request delay that is over", nil, func(p *workfetch.Project) { p.MinRPCTime = now }, reason.Ask},
		{"no work the last time", nil, func(p *workfetch.Project) { p.Backoff = now.Add(time.Minute) }, reason.NoWorkBackoff},
		{"new work after no work", nil, func(p *workfetch.Project) { p.Backoff, p.Woken = now.Add(time.Minute), true }, reason.Ask},
		{"new work after no work, during a request delay", nil, func(p *workfetch.Project) {
			p.Backoff, p.Woken, p.MinRPCTime = now.Add(time.Minute), true, now.Add(time.Second)
		}, reason.RequestDelay},
		{"new work of a project whose tasks fail", nil, func(p *workfetch.Project) {
			p.Backoff, p.Woken, p.Failures, p.Failed = now.Add(time.Minute), true, 3, reason.Reason{Code: reason.ExitStatus}
		}, reason.TasksFail},
		{"new work of a server that was down", nil, func(p *workfetch.Project) {
			p.Woken, p.MinRPCTime, p.Trouble = true, now.Add(time.Second), reason.Reason{Code: reason.ServerDown}
		}, "server_down"},
		{"new work with a full queue", queue(0, 12), func(p *workfetch.Project) { p.Woken = true }, reason.BufferFull},
		{"deadlines that could not be kept", queue(0, 3), func(p *workfetch.Project) { p.Latency = 30 * time.Minute }, reason.Deadlines},
		{"unproved estimates, and a result for each CPU", queue(0, 2), func(p *workfetch.Project) { p.Proved = false }, reason.Unproved},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := workfetch.Choose(snapshot(tt.jobs, known(tt.change)))
			if len(got) != 1 || got[0].Code != tt.want || !got[0].Text.Is() {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

// A cause of trouble has its cure and its end. A pause is described as a pause.
func TestTroubleAndPausesAreToldApart(t *testing.T) {
	at := now.Add(time.Hour)
	down := workfetch.Choose(snapshot(nil, known(func(p *workfetch.Project) {
		p.MinRPCTime, p.Trouble = at, reason.Reason{Code: reason.ServerDown, About: "p.example"}
	})))[0]
	if down.Text.String() != "p.example refuses connections: the server is down, or a firewall blocks the connection. Next try at 13:00." || !down.Cure.Is() || !down.Until.Equal(at) {
		t.Errorf("got %+v", down)
	}
	pause := workfetch.Choose(snapshot(nil, known(func(p *workfetch.Project) { p.MinRPCTime = at })))[0]
	if pause.Text.String() != "More work will be requested at 13:00: the project asked for this pause between contacts." || !pause.Cure.Is() || pause.Seconds != 0 || !pause.Until.Equal(at) {
		t.Errorf("got %+v", pause)
	}
}

// Reasons that are hidden behind the wait for a first task are still reported, above all the
// permanent ones.
func TestReasonsThatHideOthers(t *testing.T) {
	missing := reason.Explanation{Code: reason.GPUMissing, Text: words.Plain("It needs 1 NVIDIA GPU."), Cure: words.Plain("Abort it.")}
	for _, tt := range []struct {
		name   string
		change func(*workfetch.Project)
		want   reason.Code
		text   string
		cure   string
	}{
		{
			"a first task that can never run", func(p *workfetch.Project) { p.Proved, p.WaitsID, p.Waits = false, "w1_0", missing }, reason.FirstWaits,
			"Its task w1_0 has to run before more is fetched. It needs 1 NVIDIA GPU.", "Abort it.",
		},
		{"first tasks that run", func(p *workfetch.Project) { p.Proved = false }, reason.Unproved, "once one of them is finished or a tenth done", "Wait"},
		{"first tasks, and deadlines too near for more", func(p *workfetch.Project) { p.Proved, p.Latency = false, time.Minute }, reason.Deadlines, "before their deadlines", ""},
		{
			"a pause of ten days, and no work the last time", func(p *workfetch.Project) {
				p.Backoff, p.BackoffWhy, p.MinRPCTime = now.Add(time.Minute), "The last request brought no work (Project has no tasks available)", now.Add(240*time.Hour)
			}, reason.RequestDelay, "on 2026-05-14 12:00: the project asked for this pause", "starling update",
		},
		{
			"no work for longer than the pause", func(p *workfetch.Project) {
				p.Backoff, p.BackoffWhy, p.MinRPCTime = now.Add(time.Hour), "The last request brought no work (Project has no tasks available)", now.Add(time.Minute)
			}, reason.NoWorkBackoff, "at 13:00", "attach to another project",
		},
		{"another address", func(p *workfetch.Project) {
			p.Trouble, p.MinRPCTime = reason.Reason{Code: reason.Moved, About: "https://q.example/"}, now.Add(time.Minute)
			p.Proved = false
		}, reason.Unproved, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := workfetch.Choose(snapshot(queue(0, 2), known(tt.change)))[0]
			if got.Code != tt.want || !strings.Contains(got.Text.String(), tt.text) || !strings.Contains(got.Cure.String(), tt.cure) {
				t.Errorf("got %+v, want %s with %q, %q", got, tt.want, tt.text, tt.cure)
			}
		})
	}
}

// A project whose tasks are kept off all GPUs is not asked for work for them, and the key
// that does so is named, if that is all the work it has.
func TestExcludedGPUsAreNamed(t *testing.T) {
	s := snapshot(nil, known(func(p *workfetch.Project) {
		p.NoApps, p.Others = true, map[resource.Kind]workfetch.Stream{resource.NVIDIA: {Excluded: true, JobTime: time.Hour}}
	}))
	s.Coprocs = []workfetch.Pool{{Kind: resource.NVIDIA, Count: 1, Factor: 10}}
	got := workfetch.Choose(s)[0]
	if got.Code != reason.GPUExcluded || !strings.Contains(got.Text.String(), "exclude_gpu") || !strings.Contains(got.Cure.String(), "exclude_gpu") || got.Of(resource.NVIDIA).Seconds != 0 {
		t.Errorf("got %+v", got)
	}
}

// Nothing is owed to a project that is to get what others leave.
func TestAShareOfNothingIsNamed(t *testing.T) {
	s := snapshot(nil, known(nil), known(nil))
	s.Projects[0].URL, s.Projects[0].Share, s.Projects[1].Share = "http://backup.example/", 0, 100
	if got := workfetch.Choose(s)[0]; !strings.Contains(got.Text.String(), "resource_share is 0") || !got.Cure.Is() && got.Code == reason.Overserved {
		t.Errorf("got %+v", got)
	}
}

func TestAnUnknownProjectIsAskedForOneResult(t *testing.T) {
	got := workfetch.Choose(snapshot(nil, workfetch.Project{URL: "u", Share: 1, Counts: true}))
	if got[0].Code != reason.Ask || got[0].Seconds != 1 || got[0].Instances != 0 {
		t.Errorf("got %+v, want a request for one second", got[0])
	}
}

// A clock that was decades ahead for a while leaves a computer that was hardly ever on.
func TestWhatIsAskedForIsANumber(t *testing.T) {
	s := snapshot(nil, known(func(p *workfetch.Project) { p.Correction = 5e-135 }))
	s.OnFrac = 1e-174
	if r := workfetch.Choose(s)[0]; r.Seconds > 365*86400 || r.Could > 365*86400 {
		t.Errorf("asks for %v s, could ask for %v", r.Seconds, r.Could)
	}
}

func TestEachProjectIsAskedForItsOwn(t *testing.T) {
	small := known(func(p *workfetch.Project) { p.URL, p.Share = "http://small.example/", 1 })
	large := known(func(p *workfetch.Project) { p.Share = 99 })
	got := workfetch.Choose(snapshot(queue(1, 3), small, large))
	if got[1].Code != reason.Ask || got[1].Seconds < 8*3600 || got[1].Seconds > 12*3600 {
		t.Errorf("large: got %+v, want a request up to the high-water mark", got[1])
	}
	// The small one is owed a tenth of an hour, which is not worth a result yet.
	if got[0].Code != reason.OtherFirst && got[0].Code != reason.Overserved {
		t.Errorf("small: got %+v", got[0])
	}
	small.Debt, large.Debt = 3600, -3600
	got = workfetch.Choose(snapshot(queue(1, 8), small, large))
	if got[0].Code != reason.Ask || got[0].Seconds > 2*3600 {
		t.Errorf("small, owed an hour: got %+v, want a request for about that", got[0])
	}
}

func TestRoomIsKeptForAProjectInWant(t *testing.T) {
	dry := known(func(p *workfetch.Project) { p.Debt, p.Backoff = 40*3600, now.Add(time.Hour) })
	other := known(func(p *workfetch.Project) { p.URL, p.Debt = "http://o.example/", -40*3600 })
	got := workfetch.Choose(snapshot(queue(1, 1), dry, other))
	if got[1].Code != reason.Ask || got[1].Seconds > 6*3600 {
		t.Errorf("got %+v, want no more than the low-water mark and a little", got[1])
	}
}

func TestResultsOfAnUnreachableProjectAreNoSupply(t *testing.T) {
	down := known(func(p *workfetch.Project) { p.Unreachable, p.MinRPCTime = true, now.Add(time.Hour) })
	up := known(func(p *workfetch.Project) { p.URL = "http://up.example/" })
	if got := workfetch.Choose(snapshot(queue(0, 6), down, up)); got[1].Code != reason.Ask {
		t.Errorf("got %+v", got[1])
	}
}

func TestBackoff(t *testing.T) {
	rng, now := rand.New(rand.NewPCG(1, 2)), time.Unix(0, 0)
	for n := range 100 {
		full := min(24*time.Hour, 10*time.Minute<<min(n, 20))
		before := workfetch.Backoff{Failures: n}
		b := before.Asked(now, 0, false, rng)
		if d := b.NextTry.Sub(now); d < full/2 || d >= full*3/2 || b.Failures != n+1 {
			t.Errorf("after %d requests without work: %v and %d failures, want about %v", n+1, d, b.Failures, full)
		}
		if d := before.Asked(now, 0, true, rng).NextTry.Sub(now); d > 4*time.Hour {
			t.Errorf("a project that is owed time waits %v", d)
		}
		if b := before.Asked(now, 1, false, rng); b != (workfetch.Backoff{}) {
			t.Errorf("with work: %+v", b)
		}
	}
}

// No task is fetched that a forecast would make late.
func TestAForecastIsPlannedWith(t *testing.T) {
	p := known(func(p *workfetch.Project) { p.JobTime, p.Latency = 4*time.Hour, 12*time.Hour })
	for _, tt := range []struct {
		name   string
		closed []jobsched.Closed
		want   reason.Code
	}{
		{"no forecast", nil, reason.Ask},
		{"enough hours are left", []jobsched.Closed{{Start: now, End: now.Add(2 * time.Hour)}}, reason.Ask},
		{"too few are left", []jobsched.Closed{{Start: now, End: now.Add(10 * time.Hour)}}, reason.Deadlines},
	} {
		s := snapshot(nil, p)
		s.Forecast = jobsched.Forecast{Until: now.Add(12 * time.Hour), Closed: tt.closed}
		if r := workfetch.Choose(s)[0]; r.Code != tt.want || tt.want == reason.Deadlines && !strings.Contains(r.Text.String(), "probably compute for 2 h, by the forecast of [[power]]") {
			t.Errorf("%s: got %s: %s", tt.name, r.Code, r.Text)
		}
	}
}
