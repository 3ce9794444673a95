package jobsched_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

const slice = time.Hour

func late(hours float64) time.Time { return now.Add(time.Duration(hours * float64(time.Hour))) }

var far = late(1000)

// light is the usage of a task that needs little CPU time.
var light = resource.Usage{NonCPUIntensive: true}

// Tasks that need little CPU time wait for the same conditions as all tasks, and do not make others
// late.
func TestTasksThatNeedLittleCPUTime(t *testing.T) {
	day := jobsched.Job{ID: "a", Deadline: late(1), Remaining: 24 * time.Hour, Usage: light}
	s := jobsched.Snapshot{Now: now, CPUs: 1, Slice: slice, Memory: 1e9, Projects: []jobsched.Project{{}}, Jobs: []jobsched.Job{day, {ID: "b", Deadline: late(2), Remaining: time.Hour}}}
	on := s.Processors()[0]
	if got := on.Late(s.Jobs); got[0] != 0 || got[1] != 0 {
		t.Errorf("late by %v", got)
	}
	if got := on.BusyTime(s.Jobs[:1]); got != 0 {
		t.Errorf("busy for %v", got)
	}
	s.Jobs[0].Memory = 2e9
	if got, _ := jobsched.Choose(s); got[0].Code != reason.NoMemory || !got[1].Run() {
		t.Errorf("with too little memory: %+v", got)
	}
	s.Jobs[0].Memory, s.Compute.Why = 0, words.Plain("You suspended computing.")
	if got, _ := jobsched.Choose(s); got[0].Code != reason.ComputingSuspended {
		t.Errorf("with computing suspended: %+v", got)
	}
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name     string
		projects []jobsched.Project
		jobs     []jobsched.Job
		want     []reason.Code
	}{
		{"nothing to do", nil, nil, nil},
		{
			"what needs little CPU time runs beside all others, one of each project",
			[]jobsched.Project{{Debt: -9e5}, {Debt: 9e5}},
			[]jobsched.Job{
				{ID: "a", Deadline: far, Usage: light},
				{ID: "b", Deadline: far, Usage: light, Running: true},
				{ID: "c", Project: 1, Deadline: late(1), Remaining: 9 * time.Hour, Usage: light},
				{ID: "d", Project: 1, Deadline: far},
				{ID: "e", Project: 1, Deadline: far},
				{ID: "f", Deadline: far},
			},
			[]reason.Code{reason.OneAtATime, reason.RunDebt, reason.RunDebt, reason.RunDebt, reason.RunDebt, reason.NoCPU},
		},
		{
			"the project that is owed most runs, and the next takes the other CPU",
			[]jobsched.Project{{Debt: 3600}, {Debt: 0}},
			[]jobsched.Job{{ID: "a", Project: 1, Deadline: far}, {ID: "b", Deadline: far}, {ID: "c", Project: 1, Deadline: far}},
			[]reason.Code{reason.RunDebt, reason.RunDebt, reason.NoCPU},
		},
		{
			"one that is owed very much gets all",
			[]jobsched.Project{{Debt: 36000}, {Debt: -36000}},
			[]jobsched.Job{{ID: "a", Deadline: far}, {ID: "b", Deadline: far}, {ID: "c", Project: 1, Deadline: far}},
			[]reason.Code{reason.RunDebt, reason.RunDebt, reason.NoCPU},
		},
		{
			"a time slice is finished before another project's turn",
			[]jobsched.Project{{Debt: -9e5}, {Debt: 9e5}},
			[]jobsched.Job{
				{ID: "a", Deadline: far, Running: true, Ran: slice / 2},
				{ID: "b", Deadline: far, Running: true, Ran: slice},
				{ID: "c", Project: 1, Deadline: far},
				{ID: "d", Project: 1, Deadline: far},
			},
			[]reason.Code{reason.RunDebt, reason.NoCPU, reason.RunDebt, reason.NoCPU},
		},
		{
			"a job is left running until it has written a checkpoint, but not for ever",
			[]jobsched.Project{{Debt: -9e5}, {Debt: 9e5}},
			[]jobsched.Job{
				{ID: "a", Deadline: far, Running: true, Unsaved: true, Ran: slice},
				{ID: "b", Deadline: far, Running: true, Unsaved: true, Ran: 2 * slice},
				{ID: "c", Project: 1, Deadline: far},
				{ID: "d", Project: 1, Deadline: far},
			},
			[]reason.Code{reason.RunDebt, reason.NoCPU, reason.RunDebt, reason.NoCPU},
		},
		{
			"a deadline in danger comes first, whoever is owed",
			[]jobsched.Project{{Debt: -9e5}, {Debt: 9e5}},
			[]jobsched.Job{
				{ID: "a", Deadline: late(3), Remaining: 2 * time.Hour},
				{ID: "b", Project: 1, Deadline: far},
				{ID: "c", Project: 1, Deadline: far},
			},
			[]reason.Code{reason.RunDeadline, reason.RunDebt, reason.NoCPU},
		},
		{
			"what cannot be in time any more does not hold up what can",
			[]jobsched.Project{{}, {}},
			[]jobsched.Job{
				{ID: "a", Deadline: late(1), Remaining: 9 * time.Hour},
				{ID: "b", Project: 1, Deadline: far},
				{ID: "c", Project: 1, Deadline: far},
			},
			[]reason.Code{reason.NoCPU, reason.RunDebt, reason.RunDebt},
		},
		{
			"an unreachable project comes after all others",
			[]jobsched.Project{{Debt: 9e5, Unreachable: true}, {}},
			[]jobsched.Job{
				{ID: "a", Deadline: late(3), Remaining: 2 * time.Hour},
				{ID: "b", Project: 1, Deadline: far},
				{ID: "c", Project: 1, Deadline: far},
			},
			[]reason.Code{reason.NoCPU, reason.RunDebt, reason.RunDebt},
		},
		{
			"results started are finished before new ones",
			[]jobsched.Project{{}},
			[]jobsched.Job{{ID: "a", Deadline: late(500)}, {ID: "b", Deadline: far, Started: true}, {ID: "c", Deadline: far, Started: true}},
			[]reason.Code{reason.NoCPU, reason.RunDebt, reason.RunDebt},
		},
		{
			"an application's wish to wait is respected",
			[]jobsched.Project{{}},
			[]jobsched.Job{{ID: "a", NotBefore: late(1)}, {ID: "b", Deadline: far}},
			[]reason.Code{reason.Postponed, reason.RunDebt},
		},
		{
			"a job of more CPUs than there are runs alone",
			[]jobsched.Project{{}},
			[]jobsched.Job{{ID: "a", Usage: resource.Usage{CPUs: 8}, Deadline: late(500)}, {ID: "b", Deadline: far}},
			[]reason.Code{reason.RunDebt, reason.NoCPU},
		},
		{
			"what the volunteer suspended does not run",
			[]jobsched.Project{{Suspended: true}, {}},
			[]jobsched.Job{{ID: "a", Deadline: far}, {ID: "b", Project: 1, Suspended: true}, {ID: "c", Project: 1, Deadline: far}},
			[]reason.Code{reason.Suspended, reason.Suspended, reason.RunDebt},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, again := jobsched.Choose(jobsched.Snapshot{Now: now, CPUs: 2, Slice: slice, Projects: tt.projects, Jobs: tt.jobs})
			for i, w := range tt.want {
				if got[i].Code != w || !got[i].Text.Is() {
					t.Errorf("job %s: got %s %q, want %s", tt.jobs[i].ID, got[i].Code, got[i].Text, w)
				}
			}
			if !again.After(now) {
				t.Errorf("to be chosen again at %v, which is not in the future", again)
			}
		})
	}
}

// drawSnapshot makes any snapshot of one-CPU jobs.
func drawSnapshot(t *rapid.T) jobsched.Snapshot {
	s := jobsched.Snapshot{Now: now, CPUs: rapid.IntRange(1, 8).Draw(t, "cpus"), Slice: slice}
	for range rapid.IntRange(1, 5).Draw(t, "projects") {
		s.Projects = append(s.Projects, jobsched.Project{
			Debt: rapid.Float64Range(-1e6, 1e6).Draw(t, "debt"), Unreachable: rapid.Bool().Draw(t, "unreachable"),
		})
	}
	for i := range rapid.IntRange(0, 30).Draw(t, "jobs") {
		s.Jobs = append(s.Jobs, jobsched.Job{
			ID: string(rune('A' + i)), Project: rapid.IntRange(0, len(s.Projects)-1).Draw(t, "project"),
			Remaining: time.Duration(rapid.IntRange(0, 50).Draw(t, "remaining")) * time.Hour,
			Deadline:  late(float64(rapid.IntRange(-10, 500).Draw(t, "deadline"))),
			Running:   rapid.Bool().Draw(t, "running"), Ran: time.Duration(rapid.IntRange(0, 5).Draw(t, "ran")) * time.Hour,
			Usage: resource.Usage{Memory: int64(rapid.IntRange(0, 10).Draw(t, "memory"))}, Suspended: rapid.Bool().Draw(t, "suspended"),
			Started: rapid.Bool().Draw(t, "started"), Urgent: rapid.Bool().Draw(t, "urgent"), Unsaved: rapid.Bool().Draw(t, "unsaved"),
		})
	}
	return s
}

func TestNoCPUIsGivenTwiceAndNoneLeftIdle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSnapshot(t)
		reasons, again := jobsched.Choose(s)
		running, able := 0, 0
		for i, r := range reasons {
			if r.Run() {
				running++
			}
			if !s.Jobs[i].Suspended {
				able++
			}
		}
		if want := min(s.CPUs, able); running != want {
			t.Fatalf("%d of %d jobs run on %d CPUs, want %d", running, able, s.CPUs, want)
		}
		if !again.After(s.Now) {
			t.Fatalf("to be chosen again at %v", again)
		}
		twice, _ := jobsched.Choose(s)
		for i := range reasons {
			if !reflect.DeepEqual(reasons[i], twice[i]) {
				t.Fatalf("the same snapshot gave %+v and %+v", reasons[i], twice[i])
			}
		}
	})
}

// TestDeadlinesThatCanBeKeptAreKept plays jobs with exact estimates to their end
// and compares with earliest deadline first from the beginning.
func TestDeadlinesThatCanBeKeptAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.IntRange(1, 4).Draw(t, "cpus")
		s := jobsched.Snapshot{Now: now, CPUs: cpus, Slice: slice, Projects: []jobsched.Project{{Debt: 5e5}, {Debt: -5e5}}}
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			s.Jobs = append(s.Jobs, jobsched.Job{
				ID: string(rune('A' + i)), Project: i % 2,
				Remaining: time.Duration(rapid.IntRange(1, 10).Draw(t, "remaining")) * time.Hour,
				Deadline:  late(float64(rapid.IntRange(1, 100).Draw(t, "deadline"))),
			})
		}
		all := make([]int, len(s.Jobs))
		for i := range all {
			all[i] = i
		}
		for _, l := range s.Processors()[0].Laxities(s.Jobs, all) {
			if l.Slack < 0 {
				t.Skip("earliest deadline first does not keep them all with the margin")
			}
		}
		for len(s.Jobs) > 0 {
			reasons, again := jobsched.Choose(s)
			step := again.Sub(s.Now)
			for i, r := range reasons {
				if r.Run() {
					step = min(step, s.Jobs[i].Remaining)
				}
			}
			var left []jobsched.Job
			for i, r := range reasons {
				j := s.Jobs[i]
				if j.Ran += step; !r.Run() || !j.Running {
					j.Ran = 0
				}
				j.Running, j.Urgent = r.Run(), r.Urgent
				if r.Run() {
					j.Started = true
					j.Remaining -= step
				}
				if j.Remaining > 0 {
					left = append(left, j)
				} else if s.Now.Add(step).After(j.Deadline) {
					t.Fatalf("%s finished at %v, its deadline was %v", j.ID, s.Now.Add(step), j.Deadline)
				}
			}
			s.Now, s.Jobs = s.Now.Add(step), left
		}
	})
}

func TestFits(t *testing.T) {
	held := []jobsched.Job{{ID: "a", Remaining: 4 * time.Hour, Deadline: late(6)}}
	extra := jobsched.Job{Remaining: 2 * time.Hour, Deadline: late(10)}
	// On one CPU: 4 hours of a, then 2, 2 … with a margin of 39 minutes before 10.
	if got := (jobsched.Processors{Kind: resource.CPU, Now: now, Count: 1}).Fits(held, extra, 9, 0); got != 2 {
		t.Errorf("%d more fit, want 2", got)
	}
	if got := (jobsched.Processors{Kind: resource.CPU, Now: now, Count: 2}).Fits(held, extra, 9, 0); got != 6 {
		t.Errorf("%d more fit on two CPUs, want 6", got)
	}
	urgent := jobsched.Job{Remaining: 3 * time.Hour, Deadline: late(5)}
	if got := (jobsched.Processors{Kind: resource.CPU, Now: now, Count: 1}).Fits(held, urgent, 9, 0); got != 0 {
		t.Errorf("%d fit that would make a late, want 0", got)
	}
}

func TestEstimatesRiseAtOnceAndFallSlowly(t *testing.T) {
	var e jobsched.Estimator
	if e.Correction(0) != 1 || e.Correction(8) != 8 {
		t.Errorf("unproved: %v, with a running one: %v", e.Correction(0), e.Correction(8))
	}
	e = e.Finished(10)
	if e.Correction(0) != 10 {
		t.Errorf("after a result of 10: %v", e.Correction(0))
	}
	if e = e.Finished(1); e.Ratio < 9 || e.Ratio > 9.5 {
		t.Errorf("then one of 1: %v", e.Ratio)
	}
	if got := e.Restated(0.5); got.Ratio != e.Ratio/2 || got.Results != e.Results {
		t.Errorf("after the server states the double: %+v", got)
	}
	if got := e.Restated(1e300).Restated(1e300).Restated(0); !(got.Ratio > 0 && got.Ratio < 1) {
		t.Errorf("after absurd statements: %+v", got)
	}
	h := time.Hour
	for _, tt := range []struct {
		estimate, elapsed time.Duration
		fraction          float64
		least, most       time.Duration
	}{
		{2 * h, 0, 0, 2 * h, 2 * h},
		{2 * h, h, 0.5, h, h},
		{h, h, 0.1, 9 * h, 9 * h}, // it takes ten times as long, and that shows early
		{10 * h, h, 0.9, 0, 2 * h},
	} {
		if got := jobsched.Remaining(tt.estimate, tt.elapsed, tt.fraction); got < tt.least-time.Second || got > tt.most+time.Second {
			t.Errorf("estimate %v, %v for %v: %v left, want %v to %v", tt.estimate, tt.elapsed, tt.fraction, got, tt.least, tt.most)
		}
	}
}

func TestMemoryAndLimits(t *testing.T) {
	s := jobsched.Snapshot{
		Now: now, CPUs: 4, Memory: 100 << 20, Slice: slice,
		Projects: []jobsched.Project{{Debt: 9}, {}},
		Limits:   []jobsched.Limit{{Name: words.Plain("max_concurrent of app x"), Max: 1}},
		Jobs: []jobsched.Job{
			{ID: "a", Usage: resource.Usage{Memory: 60 << 20}, Deadline: far},
			{ID: "b", Usage: resource.Usage{Memory: 60 << 20}, Deadline: far}, // too large next to a, whose claim is as good
			{ID: "c", Project: 1, Usage: resource.Usage{Memory: 30 << 20}, Under: []int{0}, Deadline: far},
			{ID: "d", Project: 1, Under: []int{0}, Deadline: far},
		},
	}
	got, _ := jobsched.Choose(s)
	for i, want := range []reason.Code{reason.RunDebt, reason.NoMemory, reason.RunDebt, reason.Limited} {
		if got[i].Code != want {
			t.Errorf("job %s: got %s %q, want %s", s.Jobs[i].ID, got[i].Code, got[i].Text, want)
		}
	}
	if want := "Already running: 1, the limit set by max_concurrent of app x."; got[3].Text.String() != want {
		t.Errorf("got %q, want %q", got[3].Text, want)
	}

	s.Compute.Why, s.Compute.Until = words.Plain("The computer is in use (run_if_user_active)."), now.Add(time.Minute)
	got, again := jobsched.Choose(s)
	for i, r := range got {
		if r.Run() || r.Text.String() != s.Compute.Why.String() {
			t.Errorf("job %s: got %s %q though computing is suspended", s.Jobs[i].ID, r.Code, r.Text)
		}
	}
	if !again.Equal(s.Compute.Until) {
		t.Errorf("to be chosen again at %v, want when that changes", again)
	}
}

// A cure that cannot help is not offered. The reason of a task that needs more than the computer
// has is that it can never run here. The reason of a task that needs several CPUs at once mentions
// them.
func TestNeedsAreComparedWithWhatThereIs(t *testing.T) {
	s := jobsched.Snapshot{
		Now: now, CPUs: 2, CPUBound: prefs.Bound{Text: words.Plain("max_cpus = 2"), Cure: words.Plain("To allow more CPUs, set max_cpus higher.")}, Slice: time.Hour, Memory: 12 << 30, AllMemory: 25 << 30, Bound: prefs.Bound{Text: words.Plain("ram_max_used_idle_pct = 50"), Cure: words.Plain("Set ram_max_used_idle_pct higher.")},
		Projects: []jobsched.Project{{}},
		Jobs: []jobsched.Job{
			{ID: "never", Usage: resource.Usage{Memory: 838 << 30}, Remaining: time.Hour, Deadline: now.Add(100 * time.Hour)},
			{ID: "perhaps", Usage: resource.Usage{Memory: 20 << 30}, Remaining: time.Hour, Deadline: now.Add(100 * time.Hour)},
			{ID: "small", Remaining: time.Hour, Deadline: now.Add(10 * time.Hour), Running: true},
			{ID: "wide", Usage: resource.Usage{CPUs: 4}, Remaining: time.Hour, Deadline: now.Add(100 * time.Hour)},
		},
	}
	got, _ := jobsched.Choose(s)
	for i, want := range []struct{ text, cure string }{
		{"It needs 838 GB of memory, and this computer has 25 GB: it can never run here.", "Abort it, so that another computer gets it: starling task abort never"},
		{"It needs 20 GB of memory. Tasks may use 12 GB (ram_max_used_idle_pct = 50), of which 12 GB are free.", "Set ram_max_used_idle_pct higher."},
		{"Running.", ""},
		{"It needs 4 CPUs at once. Tasks may use 2, so it waits until these are free (max_cpus = 2).", "Wait: its turn comes. To allow more CPUs, set max_cpus higher."},
	} {
		if got[i].Text.String() != want.text || got[i].Cure.String() != want.cure {
			t.Errorf("%s: got %q, %q, want %q, %q", s.Jobs[i].ID, got[i].Text, got[i].Cure, want.text, want.cure)
		}
	}
	if g := jobsched.Guess(1000*time.Hour, time.Second); g > 0.99 {
		t.Errorf("a task that tells nothing is taken for %.2f%% done", 100*g)
	}
}
