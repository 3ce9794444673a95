package contact_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/contact"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestTransitions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	within := func(least, most time.Duration) [2]time.Duration { return [2]time.Duration{least, most} }
	at := func(d time.Duration) [2]time.Duration { return within(d, d) }
	later := now.Add(time.Hour)
	for _, tt := range []struct {
		name string
		from contact.State
		move func(contact.State) contact.State
		want contact.State    // except for MinRPCTime
		wait [2]time.Duration // minimum and maximum from now on (at(-1): at once)
	}{
		{
			"first failure",
			contact.State{},
			func(c contact.State) contact.State { return c.Failed(now, rng) },
			contact.State{Failures: 1},
			within(time.Minute, 2*time.Minute),
		},
		{
			"fifth failure",
			contact.State{Failures: 4},
			func(c contact.State) contact.State { return c.Failed(now, rng) },
			contact.State{Failures: 5},
			within(16*time.Minute, 32*time.Minute),
		},
		{
			"ninth failure",
			contact.State{Failures: 8},
			func(c contact.State) contact.State { return c.Failed(now, rng) },
			contact.State{Failures: 9},
			within(2*time.Hour, 4*time.Hour),
		},
		{
			"tenth failure has the master page fetched at once",
			contact.State{Failures: 9, MinRPCTime: now},
			func(c contact.State) contact.State { return c.Failed(now, rng) },
			contact.State{FetchMaster: true},
			at(-1),
		},
		{
			"master page fails",
			contact.State{FetchMaster: true},
			func(c contact.State) contact.State { return c.MasterFailed(now, rng) },
			contact.State{FetchMaster: true, MasterFailures: 1},
			within(time.Minute, 2*time.Minute),
		},
		{
			"master page fails twice",
			contact.State{FetchMaster: true, MasterFailures: 1},
			func(c contact.State) contact.State { return c.MasterFailed(now, rng) },
			contact.State{FetchMaster: true, MasterFailures: 2},
			within(2*time.Minute, 4*time.Minute),
		},
		{
			"master page fails three times: six hours",
			contact.State{FetchMaster: true, MasterFailures: 2},
			func(c contact.State) contact.State { return c.MasterFailed(now, rng) },
			contact.State{FetchMaster: true, MasterFailures: 3},
			at(6 * time.Hour),
		},
		{
			"master page has failed for years",
			contact.State{FetchMaster: true, MasterFailures: 2000},
			func(c contact.State) contact.State { return c.MasterFailed(now, rng) },
			contact.State{FetchMaster: true, MasterFailures: 2001},
			at(6 * time.Hour),
		},
		{
			"master page says the same",
			contact.State{FetchMaster: true, MasterFailures: 2, Failures: 3, MinRPCTime: later},
			func(c contact.State) contact.State { return c.MasterFetched(false) },
			contact.State{Failures: 3},
			at(time.Hour),
		},
		{
			"schedulers have moved",
			contact.State{FetchMaster: true, MasterFailures: 2, Failures: 3, MinRPCTime: later},
			func(c contact.State) contact.State { return c.MasterFetched(true) },
			contact.State{},
			at(-1),
		},
		{
			"success clears failures",
			contact.State{Failures: 7, MasterFailures: 1},
			func(c contact.State) contact.State { return c.Succeeded(now, 0) },
			contact.State{},
			at(contact.MinInterval),
		},
		{
			"request delay",
			contact.State{},
			func(c contact.State) contact.State { return c.Succeeded(now, 7*time.Minute) },
			contact.State{},
			at(7 * time.Minute),
		},
		{
			"request delay of no sense",
			contact.State{},
			func(c contact.State) contact.State { return c.Succeeded(now, 1<<62) },
			contact.State{},
			at(contact.MaxRequestDelay),
		},
		{
			"request delay below zero",
			contact.State{},
			func(c contact.State) contact.State { return c.Succeeded(now, -time.Hour) },
			contact.State{},
			at(contact.MinInterval),
		},
	} {
		got := tt.move(tt.from)
		wait := got.MinRPCTime.Sub(now)
		if got.MinRPCTime.IsZero() {
			wait = -1
		}
		if wait < tt.wait[0] || wait > tt.wait[1] {
			t.Errorf("%s: waits %v, want %v", tt.name, wait, tt.wait)
		}
		got.MinRPCTime = time.Time{}
		if got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// Whatever happens in whatever order, a project is never contacted without a wait, except for the
// two legitimate reasons, and never left alone forever.
func TestAlwaysWaitsAndAlwaysComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		c, at, failed := contact.State{}, now, 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "pause")))
			before, least, most := c, 30*time.Second, contact.RetryDelayMax
			switch rapid.SampledFrom([]string{"fail", "fail", "fail", "master fails", "same schedulers", "new schedulers", "success"}).Draw(t, "event") {
			case "fail":
				c = c.Failed(at, rng)
				if failed++; failed == contact.MasterFetchPeriod {
					if failed = 0; !c.FetchMaster || !c.MinRPCTime.IsZero() {
						t.Fatalf("after ten failures: %+v", c)
					}
					continue
				}
				if c.FetchMaster != before.FetchMaster {
					t.Fatalf("master page after %d failures", failed)
				}
			case "master fails":
				c = c.MasterFailed(at, rng)
				most = contact.MasterFetchInterval
			case "same schedulers":
				if c = c.MasterFetched(false); !c.MinRPCTime.Equal(before.MinRPCTime) || c.Failures != before.Failures {
					t.Fatalf("%+v became %+v", before, c)
				}
				continue
			case "new schedulers":
				if c, failed = c.MasterFetched(true), 0; c != (contact.State{}) {
					t.Fatalf("%+v became %+v", before, c)
				}
				continue
			case "success":
				delay := time.Duration(rapid.Int64().Draw(t, "request delay"))
				c, failed = c.Succeeded(at, delay), 0
				least, most = max(contact.MinInterval, min(delay, contact.MaxRequestDelay)), contact.MaxRequestDelay
			}
			if wait := c.MinRPCTime.Sub(at); wait < least || wait > most {
				t.Fatalf("waits %v, want %v to %v: %+v", wait, least, most, c)
			}
			if c.Failures != failed {
				t.Fatalf("%d failures, want %d", c.Failures, failed)
			}
		}
	})
}

func TestDue(t *testing.T) {
	fresh := contact.Finished{Deadline: now.Add(240 * time.Hour), Completed: now.Add(-time.Minute)}
	with := func(change func(*contact.Finished)) []contact.Finished {
		f := fresh
		change(&f)
		return []contact.Finished{fresh, f}
	}
	many := make([]contact.Finished, 64)
	for i := range many {
		many[i] = fresh
	}
	busy := func(ready []contact.Finished) contact.Backlog {
		return contact.Backlog{Ready: ready, Unfinished: 2}
	}
	for _, tt := range []struct {
		name    string
		backlog contact.Backlog
		reason  string // "" means not yet
	}{
		{"nothing", contact.Backlog{Eager: true}, ""},
		{"one of several", busy([]contact.Finished{fresh}), ""},
		{"sixty-three", busy(many[:63]), ""},
		{"sixty-four", busy(many), "many results are ready"},
		{"the last one of the project, with others' work here", contact.Backlog{Ready: []contact.Finished{fresh}}, ""},
		{"the last one of all", contact.Backlog{Ready: []contact.Finished{fresh}, NothingElse: true}, "there is nothing else to do"},
		{"eager", contact.Backlog{Ready: []contact.Finished{fresh}, Unfinished: 2, Eager: true}, "results are reported immediately"},
		{"no more work", contact.Backlog{Ready: []contact.Finished{fresh}, Unfinished: 2, NoMoreWork: true}, "the project is set to fetch no more work"},
		{"wanted at once", busy(with(func(f *contact.Finished) { f.Immediately = true })), "the project asked for it immediately"},
		{"deadline in 25 hours", busy(with(func(f *contact.Finished) { f.Deadline = now.Add(25 * time.Hour) })), ""},
		{"deadline in 23 hours", busy(with(func(f *contact.Finished) { f.Deadline = now.Add(23 * time.Hour) })), "a deadline is near"},
		{"deadline is past", busy(with(func(f *contact.Finished) { f.Deadline = now.Add(-time.Hour) })), "a deadline is near"},
		{"a twelfth of twelve hours before the deadline", busy(with(func(f *contact.Finished) {
			f.Received, f.Deadline = now.Add(-11*time.Hour-time.Minute), now.Add(59*time.Minute)
		})), "a deadline is near"},
		{"earlier than that", busy(with(func(f *contact.Finished) {
			f.Received, f.Deadline = now.Add(-10*time.Hour), now.Add(2*time.Hour)
		})), ""},
		{"received while the clock was years ahead", busy(with(func(f *contact.Finished) {
			f.Received, f.Deadline = now.AddDate(12, 0, 0), now.Add(23*time.Hour)
		})), "a deadline is near"},
		{"ready for 23 hours", busy(with(func(f *contact.Finished) { f.Completed = now.Add(-23 * time.Hour) })), ""},
		{"ready for 25 hours", busy(with(func(f *contact.Finished) { f.Completed = now.Add(-25 * time.Hour) })), "a result has been ready for a long time"},
		{"ready for 25 hours on a computer that is on a third of the time", contact.Backlog{
			Ready: with(func(f *contact.Finished) { f.Completed = now.Add(-25 * time.Hour) }), Unfinished: 2, OnFrac: 1.0 / 3,
		}, ""},
		{"an upload has just begun", contact.Backlog{Ready: many, LastUpload: now.Add(-time.Minute), Eager: true}, ""},
		{"an upload hangs", contact.Backlog{Ready: many, LastUpload: now.Add(-6 * time.Minute), Unfinished: 1}, "many results are ready"},
	} {
		if reason, due := contact.Due(tt.backlog, now); reason.String() != tt.reason || due != (tt.reason != "") {
			t.Errorf("%s: got %v %q, want %q", tt.name, due, reason, tt.reason)
		}
	}
}

// A project that was just attached is looked for within minutes and then every hour: its
// volunteer is there to see it.
func TestANewProjectIsTriedInAFriendlyRhythm(t *testing.T) {
	want := []time.Duration{1, 2, 5, 10, 20, 30, 60, 60, 60}
	for name, fail := range map[string]func(contact.State, time.Time, *rand.Rand) contact.State{
		"master page": contact.State.MasterFailed, "scheduler": contact.State.Failed,
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		c := contact.State{New: true}
		for i, most := range want {
			most *= time.Minute
			c = fail(c, now, rng)
			if wait := c.MinRPCTime.Sub(now); wait < most*3/4 || wait > most {
				t.Errorf("%s: waits %v after %d failures, want %v or a little less", name, wait, i+1, most)
			}
		}
	}
	// After a day the usual rules hold.
	c := contact.State{MasterFailures: 28}.MasterFailed(now, rand.New(rand.NewPCG(1, 2)))
	if wait := c.MinRPCTime.Sub(now); wait != contact.MasterFetchInterval {
		t.Errorf("waits %v, want %v", wait, contact.MasterFetchInterval)
	}
}
