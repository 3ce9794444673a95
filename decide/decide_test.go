package decide_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// snapshot returns a computer with two projects and nothing to do, changed.
func snapshot(change func(*decide.Snapshot)) decide.Snapshot {
	s := decide.Snapshot{
		Now: now, Elapsed: time.Minute, CPUs: 2, Low: time.Hour, High: 10 * time.Hour, Slice: time.Hour,
		Projects: []decide.Project{
			{URL: "https://a.example/", Share: 100, Known: true, Schedulers: 1, JobTime: time.Hour, Latency: 240 * time.Hour, Estimates: jobsched.Estimator{Results: 9, Ratio: 1}},
			{URL: "https://b.example/", Share: 100, Known: true, Schedulers: 1, JobTime: time.Hour, Latency: 240 * time.Hour, Estimates: jobsched.Estimator{Results: 9, Ratio: 1}},
		},
	}
	change(&s)
	return s
}

// The order of the reasons for and against a session.
func TestSessions(t *testing.T) {
	soon, past := now.Add(time.Minute), now.Add(-time.Minute)
	for _, tt := range []struct {
		name   string
		change func(s *decide.Snapshot, p *decide.Project)
		kind   decide.Kind
		why    string
	}{
		{"work is wanted", func(*decide.Snapshot, *decide.Project) {}, decide.RPC, "to fetch work"},
		{"not before", func(_ *decide.Snapshot, p *decide.Project) { p.Contact.MinRPCTime = soon }, decide.None, "not before 12:01:00"},
		{"a person may", func(_ *decide.Snapshot, p *decide.Project) { p.Contact.MinRPCTime, p.Asked = soon, true }, decide.RPC, "you requested it"},
		{"no network", func(s *decide.Snapshot, p *decide.Project) { s.Network.Why, p.Asked = words.Plain("No network."), true }, decide.None, "No network."},
		{"no scheduler known", func(_ *decide.Snapshot, p *decide.Project) { p.Schedulers = 0 }, decide.Master, "fetching the master page"},
		{"master page due", func(_ *decide.Snapshot, p *decide.Project) {
			p.Contact = contact.State{FetchMaster: true, MinRPCTime: past}
		}, decide.Master, "fetching the master page"},
		{"master page later", func(_ *decide.Snapshot, p *decide.Project) {
			p.Contact = contact.State{FetchMaster: true, MinRPCTime: soon}
		}, decide.None, "not before 12:01:00"},
		{"first contact", func(_ *decide.Snapshot, p *decide.Project) { p.Known = false }, decide.RPC, "first contact"},
		{"suspended", func(_ *decide.Snapshot, p *decide.Project) { p.Suspended = true }, decide.None, "you suspended the project"},
		{"leaving", func(_ *decide.Snapshot, p *decide.Project) { p.Leaving = true }, decide.None, "it is being detached"},
		{"talking", func(_ *decide.Snapshot, p *decide.Project) { p.Talking = true }, decide.None, "a session is in progress"},
		{"no more work", func(_ *decide.Snapshot, p *decide.Project) { p.NoMoreWork = true }, decide.None, "This project is set to fetch no more work."},
		{"the project requested it", func(_ *decide.Snapshot, p *decide.Project) { p.NoMoreWork, p.NextRPC = true, past }, decide.RPC, "the project requested it"},
		{"a report", func(s *decide.Snapshot, p *decide.Project) {
			p.NoMoreWork = true
			s.Results = []decide.Result{{ID: "r", Phase: decide.Ready, Deadline: soon, Completed: past}}
		}, decide.RPC, "to report results: the project is set to fetch no more work"},
		{"computing suspended by hand", func(s *decide.Snapshot, _ *decide.Project) {
			s.Compute = prefs.Permission{Why: words.Plain("You suspended computing."), Asked: true}
		}, decide.None, "You suspended computing."},
		{"computing suspended by a preference", func(s *decide.Snapshot, _ *decide.Project) {
			s.Compute = prefs.Permission{Why: words.Plain("On battery (run_on_batteries).")}
		}, decide.RPC, "to fetch work"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := snapshot(func(s *decide.Snapshot) { tt.change(s, &s.Projects[0]) })
			if got := decide.Pass(s).Projects[0].Session; got.Kind != tt.kind || got.Why.String() != tt.why {
				t.Errorf("got %s %q, want %s %q", got.Kind, got.Why, tt.kind, tt.why)
			}
		})
	}
}

// While a session for work is in progress, no other project is asked for work, since its answer
// changes how much is missing. Results are still reported.
func TestOneRequestForWorkAtATime(t *testing.T) {
	s := snapshot(func(s *decide.Snapshot) {
		s.Projects[0].Talking, s.Projects[0].ForWork, s.Projects[0].TalkingSince = true, true, now.Add(-29*time.Second)
		s.Results = []decide.Result{{ID: "r", Project: 1, Phase: decide.Ready, Deadline: now.Add(time.Minute), Completed: now}}
	})
	p := decide.Pass(s).Projects
	if p[0].Fetch.Code != reason.Conversing || p[1].Fetch.Code == reason.Ask {
		t.Errorf("got %s and %s", p[0].Fetch.Code, p[1].Fetch.Code)
	}
	if p[1].Session.Kind != decide.RPC {
		t.Errorf("the other one's result is not reported: %s", p[1].Session.Why)
	}
	if want := "Waiting for a reply from https://a.example/ since 11:59:31, until 12:00:01 at the latest."; p[1].Fetch.Text.String() != want {
		t.Errorf("got %q, want %q", p[1].Fetch.Text, want)
	}
	// A slow server does not keep others waiting, nor does one that is asked no work.
	for _, change := range []func(*decide.Project){
		func(p *decide.Project) { p.TalkingSince = now.Add(-time.Minute) },
		func(p *decide.Project) { p.ForWork = false },
	} {
		change(&s.Projects[0])
		if p := decide.Pass(s).Projects; p[1].Fetch.Code != reason.Ask || p[0].Fetch.Code != reason.Conversing {
			t.Errorf("got %s and %s", p[0].Fetch.Code, p[1].Fetch.Code)
		}
	}
}

// A task that needs little CPU time runs in addition to those that fill the CPUs. It does not count
// as work queued for the CPUs, and a project of such tasks neither owes nor is owed anything.
func TestTasksThatNeedLittleCPUTimeTakeNothingFromOthers(t *testing.T) {
	without := snapshot(func(s *decide.Snapshot) { s.Projects[0].Debt = 0 })
	with := snapshot(func(s *decide.Snapshot) {
		s.Projects[0].Debt = 0
		light := s.Projects[0]
		light.URL, light.NonCPUIntensive, light.Debt = "http://light.example/", true, -5000
		s.Projects = append(s.Projects, light)
		s.Results = append(s.Results, decide.Result{
			ID: "l", Project: 2, Phase: decide.Runnable, Stated: 1000 * time.Hour, Deadline: now.Add(time.Hour),
			Started: true, Elapsed: time.Hour, Fraction: 0.5, Usage: resource.Usage{NonCPUIntensive: true},
		})
	})
	alone, both := decide.Pass(without), decide.Pass(with)
	if !reflect.DeepEqual(alone.Projects[0], both.Projects[0]) || alone.Busy != both.Busy {
		t.Errorf("beside it got %+v, want %+v", both, alone)
	}
	if p := both.Projects[2]; p.Debt != 0 || p.Fetch.Code != reason.HasTask {
		t.Errorf("its project: got %+v", p)
	}
	if r := both.Results[len(both.Results)-1]; !r.Run() || r.Late != 0 {
		t.Errorf("the task: got %+v", r)
	}
	with.Results = with.Results[:len(with.Results)-1]
	if p := decide.Pass(with).Projects; p[2].Fetch.Code != reason.Ask || p[0].Fetch.Code != reason.OtherFirst {
		t.Errorf("without a task, got %+v", p)
	}
}

func TestAResultNotStartedByItsDeadlineIsGivenUp(t *testing.T) {
	s := snapshot(func(s *decide.Snapshot) {
		s.Results = []decide.Result{
			{ID: "late", Phase: decide.Runnable, Deadline: now},
			{ID: "begun", Phase: decide.Runnable, Deadline: now, Started: true},
			{ID: "in time", Phase: decide.Fetching, Deadline: now.Add(time.Second)},
		}
	})
	got := decide.Pass(s).Results
	if !got[0].GiveUp || got[1].GiveUp || got[2].GiveUp || got[0].Run() {
		t.Errorf("got %+v", got)
	}
}

// A clock that may be wrong is compared with the server's before results are given up by it. Where
// that is not possible, they are computed.
func TestBeforeAServerIsHeardNothingIsLate(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(s *decide.Snapshot)
		waits   bool
		session decide.Kind
	}{
		{"it can be asked", func(*decide.Snapshot) {}, true, decide.RPC},
		{"it wants a pause", func(s *decide.Snapshot) { s.Projects[0].Contact.MinRPCTime = now.Add(time.Minute) }, true, decide.None},
		{"it failed, and is asked again", func(s *decide.Snapshot) { s.Projects[0].Trouble.Code = reason.ServerDown }, true, decide.RPC},
		{"it fails", func(s *decide.Snapshot) {
			s.Projects[0].Trouble.Code, s.Projects[0].Contact.MinRPCTime = reason.ServerDown, now.Add(time.Minute)
		}, false, decide.None},
		{"by the server's clock it is late, by the computer's it is not", func(s *decide.Snapshot) {
			s.Projects[0].ClockUnknown, s.Projects[0].Ahead = false, -10*time.Hour
		}, false, decide.None},
		{"no network", func(s *decide.Snapshot) {
			s.Network = prefs.Default().MayTransfer(prefs.Conditions{Now: now}, prefs.Mode{Kind: prefs.Never})
		}, false, decide.None},
	} {
		s := snapshot(func(s *decide.Snapshot) {
			s.Projects[0].ClockUnknown, s.Projects[0].NoMoreWork = true, true
			s.Results = []decide.Result{{ID: "late", Phase: decide.Runnable, Stated: time.Hour, Deadline: now.Add(-time.Hour)}}
			tt.change(s)
		})
		plan := decide.Pass(s)
		if r := plan.Results[0]; r.GiveUp || r.Run() == tt.waits || (r.Code == reason.ComparingClocks) != tt.waits {
			t.Errorf("%s: got %+v", tt.name, r)
		}
		if got := plan.Projects[0].Session; got.Kind != tt.session {
			t.Errorf("%s: got %+v", tt.name, got)
		}
	}
}

// The same snapshot gives the same plan, also after it was written to a file and read again. No
// snapshot panics. Every refusal has its reason. No project is contacted too early.
func TestAnySnapshot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySnapshot(t)
		plan := decide.Pass(s)
		if again := decide.Pass(s); !reflect.DeepEqual(plan, again) {
			t.Fatalf("%+v, then %+v", plan, again)
		}
		kept, err := json.Marshal(decide.Record{Snapshot: s, Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		var r decide.Record
		if err := json.Unmarshal(kept, &r); err != nil {
			t.Fatal(err)
		}
		if _, err := decide.Replay(r); err != nil {
			t.Fatal(err)
		}
		ask, sum := 0, 0.0
		for i, p := range plan.Projects {
			sum += p.Debt
			if p.Fetch.Code == reason.Ask {
				ask++
			}
			pr := s.Projects[i]
			if p.Session.Kind != decide.None && (s.Now.Before(pr.Contact.MinRPCTime) && !pr.Asked || pr.Talking || pr.Leaving || s.Network.Denied()) {
				t.Fatalf("%+v is contacted: %+v", pr, p.Session)
			}
			if !p.Session.Why.Is() || !p.Fetch.Text.Is() {
				t.Fatalf("no reason: %+v", p)
			}
		}
		if ask > 1 {
			t.Fatalf("%d projects are asked for work at a time", ask)
		}
		if sum > float64(len(s.Projects)) || sum < -float64(len(s.Projects)) {
			t.Fatalf("debts sum to %v", sum)
		}
		used := 0.0
		for i, r := range plan.Results {
			if !r.Text.Is() {
				t.Fatalf("no reason: %+v", r)
			}
			if r.Run() {
				used += cmp.Or(s.Results[i].CPUs, 1)
			}
		}
		if used > float64(max(s.CPUs, 1)) && used > 4 { // one job may want more than there are
			t.Fatalf("%v CPUs of %d", used, s.CPUs)
		}
		if !plan.Again.After(s.Now) {
			t.Fatalf("again at %v", plan.Again)
		}
	})
}

func anySnapshot(t *rapid.T) decide.Snapshot {
	when := func(name string) time.Time {
		return now.Add(time.Duration(rapid.Int64Range(-30, 30).Draw(t, name)) * time.Hour)
	}
	is := func(name string) bool { return rapid.Bool().Draw(t, name) }
	s := decide.Snapshot{
		Now: now, Elapsed: time.Duration(rapid.Int64().Draw(t, "elapsed")), CPUs: rapid.IntRange(1, 16).Draw(t, "cpus"),
		Memory: rapid.Int64Range(0, 1e10).Draw(t, "memory"), OnFrac: rapid.Float64Range(0, 1).Draw(t, "on"),
		Low: 3 * time.Hour, High: 30 * time.Hour, Slice: time.Hour, Eager: is("eager"),
	}
	if is("limit") {
		s.Limits = []jobsched.Limit{{Name: words.Plain("x"), Max: rapid.IntRange(0, 3).Draw(t, "max")}}
	}
	if rapid.IntRange(0, 9).Draw(t, "network") == 0 {
		s.Network.Why = words.Plain("none")
	}
	for i := range rapid.IntRange(1, 6).Draw(t, "projects") {
		s.Projects = append(s.Projects, decide.Project{
			URL: fmt.Sprintf("https://%d.example/", i), Share: rapid.Float64Range(0, 1000).Draw(t, "share"),
			Debt: rapid.Float64Range(-1e6, 1e6).Draw(t, "debt"), Used: rapid.Float64Range(0, 1e4).Draw(t, "used"),
			Suspended: is("suspended"), NoMoreWork: is("no more"), Leaving: is("leaving"), Known: is("known"),
			Schedulers: rapid.IntRange(0, 2).Draw(t, "schedulers"), NextRPC: when("next"), Asked: is("asked"), Talking: is("talking"),
			Contact: contact.State{Failures: rapid.IntRange(0, 10).Draw(t, "failures"), FetchMaster: is("master"), MinRPCTime: when("min rpc")},
			Backoff: when("backoff"), JobTime: time.Duration(rapid.IntRange(0, 100).Draw(t, "job")) * time.Hour,
			Latency:   time.Duration(rapid.IntRange(0, 1000).Draw(t, "latency")) * time.Hour,
			Estimates: jobsched.Estimator{Results: rapid.IntRange(0, 3).Draw(t, "results"), Ratio: rapid.Float64Range(0, 100).Draw(t, "ratio")},
			Corrects:  is("corrects"),
		})
	}
	for i := range rapid.IntRange(0, 20).Draw(t, "results") {
		r := decide.Result{
			ID: fmt.Sprint(i), Project: rapid.IntRange(0, len(s.Projects)-1).Draw(t, "project"),
			Phase:   rapid.SampledFrom([]decide.Phase{decide.Fetching, decide.Runnable, decide.Sending, decide.Ready}).Draw(t, "phase"),
			Usage:   resource.Usage{CPUs: rapid.SampledFrom([]float64{0, 0.5, 1, 4}).Draw(t, "cpus"), Memory: rapid.Int64Range(0, 1e10).Draw(t, "memory")},
			Stated:  time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "stated")),
			Elapsed: time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "elapsed")), Fraction: rapid.Float64Range(0, 2).Draw(t, "fraction"),
			Estimates: jobsched.Estimator{Results: rapid.IntRange(0, 1).Draw(t, "of its version"), Ratio: rapid.Float64Range(0, 100).Draw(t, "its ratio")},
			Received:  when("received"), Deadline: when("deadline"), Completed: when("completed"),
			Running: is("running"), Ran: time.Duration(rapid.Int64Range(0, 1e13).Draw(t, "ran")), Unsaved: is("unsaved"),
			Started: is("started"), Urgent: is("urgent"), Suspended: is("suspended"), NotBefore: when("not before"),
		}
		if len(s.Limits) > 0 && is("under") {
			r.Under = []int{0}
		}
		s.Results = append(s.Results, r)
	}
	return s
}

// A result's time is corrected by the times that results of its app version took or, before the first
// of those, by the times of other results of its project.
func TestEachVersionHasACorrection(t *testing.T) {
	s := snapshot(func(s *decide.Snapshot) {
		s.Projects[0].Estimates = jobsched.Estimator{Results: 9, Ratio: 2}
		for _, version := range []jobsched.Estimator{{}, {Results: 1, Ratio: 0.5}} {
			s.Results = append(s.Results, decide.Result{ID: "r", Phase: decide.Runnable, Stated: time.Hour, Estimates: version, Received: now, Deadline: now.Add(100 * time.Hour)})
		}
	})
	plan := decide.Pass(s)
	for i, want := range []time.Duration{2 * time.Hour, 30 * time.Minute} {
		if got := plan.Results[i].Remaining; got != want {
			t.Errorf("result %d: %v left, want %v", i, got, want)
		}
	}
}

func TestReplayTellsADifference(t *testing.T) {
	s := snapshot(func(*decide.Snapshot) {})
	r := decide.Record{Snapshot: s, Plan: decide.Pass(s)}
	r.Plan.Projects[0].Debt += 5
	if _, err := decide.Replay(r); !errors.Is(err, decide.ErrDiffers) {
		t.Errorf("got %v", err)
	}
}

// The cure names the preference that limits the CPUs of a late task. Without such a limit, it does
// not suggest raising one.
func TestLateness(t *testing.T) {
	for key, more := range map[string]string{"": "allow more time (", "max_cpus": "allow more CPUs (max_cpus) or more time ("} {
		text, cure := decide.Lateness("wu_0", 72*time.Hour, now.Add(time.Hour), now, prefs.Bound{Key: key})
		if text.String() != "It will be about 3 d late." || !strings.Contains(cure.String(), more) {
			t.Errorf("CPUs limited by %q: got %q, %q", key, text, cure)
		}
	}
}
