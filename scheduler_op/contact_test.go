package schedulerop_test

import (
	"math/rand/v2"
	"testing"
	"time"

	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"pgregory.net/rapid"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestContact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	within := func(least, most time.Duration) [2]time.Duration { return [2]time.Duration{least, most} }
	at := func(d time.Duration) [2]time.Duration { return within(d, d) }
	later := now.Add(time.Hour)
	for _, tt := range []struct {
		name string
		from schedulerop.Contact
		move func(schedulerop.Contact) schedulerop.Contact
		want schedulerop.Contact // but for MinRPCTime
		wait [2]time.Duration    // least and most from now on; at(-1): at once
	}{
		{
			"first failure",
			schedulerop.Contact{},
			func(c schedulerop.Contact) schedulerop.Contact { return c.Failed(now, rng) },
			schedulerop.Contact{Failures: 1},
			within(time.Minute, 2*time.Minute),
		},
		{
			"fifth failure",
			schedulerop.Contact{Failures: 4},
			func(c schedulerop.Contact) schedulerop.Contact { return c.Failed(now, rng) },
			schedulerop.Contact{Failures: 5},
			within(16*time.Minute, 32*time.Minute),
		},
		{
			"ninth failure",
			schedulerop.Contact{Failures: 8},
			func(c schedulerop.Contact) schedulerop.Contact { return c.Failed(now, rng) },
			schedulerop.Contact{Failures: 9},
			within(2*time.Hour, 4*time.Hour),
		},
		{
			"tenth failure has the master page fetched at once",
			schedulerop.Contact{Failures: 9, MinRPCTime: now},
			func(c schedulerop.Contact) schedulerop.Contact { return c.Failed(now, rng) },
			schedulerop.Contact{FetchMaster: true},
			at(-1),
		},
		{
			"master page fails",
			schedulerop.Contact{FetchMaster: true},
			func(c schedulerop.Contact) schedulerop.Contact { return c.MasterFailed(now, rng) },
			schedulerop.Contact{FetchMaster: true, MasterFailures: 1},
			within(time.Minute, 2*time.Minute),
		},
		{
			"master page fails twice",
			schedulerop.Contact{FetchMaster: true, MasterFailures: 1},
			func(c schedulerop.Contact) schedulerop.Contact { return c.MasterFailed(now, rng) },
			schedulerop.Contact{FetchMaster: true, MasterFailures: 2},
			within(2*time.Minute, 4*time.Minute),
		},
		{
			"master page fails three times: six hours",
			schedulerop.Contact{FetchMaster: true, MasterFailures: 2},
			func(c schedulerop.Contact) schedulerop.Contact { return c.MasterFailed(now, rng) },
			schedulerop.Contact{FetchMaster: true, MasterFailures: 3},
			at(6 * time.Hour),
		},
		{
			"master page has failed for years",
			schedulerop.Contact{FetchMaster: true, MasterFailures: 2000},
			func(c schedulerop.Contact) schedulerop.Contact { return c.MasterFailed(now, rng) },
			schedulerop.Contact{FetchMaster: true, MasterFailures: 2001},
			at(6 * time.Hour),
		},
		{
			"master page says the same",
			schedulerop.Contact{FetchMaster: true, MasterFailures: 2, Failures: 3, MinRPCTime: later},
			func(c schedulerop.Contact) schedulerop.Contact { return c.MasterFetched(false) },
			schedulerop.Contact{Failures: 3},
			at(time.Hour),
		},
		{
			"schedulers have moved",
			schedulerop.Contact{FetchMaster: true, MasterFailures: 2, Failures: 3, MinRPCTime: later},
			func(c schedulerop.Contact) schedulerop.Contact { return c.MasterFetched(true) },
			schedulerop.Contact{},
			at(-1),
		},
		{
			"success clears failures",
			schedulerop.Contact{Failures: 7, MasterFailures: 1},
			func(c schedulerop.Contact) schedulerop.Contact { return c.Succeeded(now, 0) },
			schedulerop.Contact{},
			at(schedulerop.MinInterval),
		},
		{
			"request delay",
			schedulerop.Contact{},
			func(c schedulerop.Contact) schedulerop.Contact { return c.Succeeded(now, 7*time.Minute) },
			schedulerop.Contact{},
			at(7 * time.Minute),
		},
		{
			"request delay of no sense",
			schedulerop.Contact{},
			func(c schedulerop.Contact) schedulerop.Contact { return c.Succeeded(now, 1<<62) },
			schedulerop.Contact{},
			at(schedulerop.MaxRequestDelay),
		},
		{
			"request delay below zero",
			schedulerop.Contact{},
			func(c schedulerop.Contact) schedulerop.Contact { return c.Succeeded(now, -time.Hour) },
			schedulerop.Contact{},
			at(schedulerop.MinInterval),
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

// Whatever happens in whatever order, a project is never contacted without a
// wait but for the two reasons there are, and never left alone for ever.
func TestContactAlwaysWaitsAndAlwaysComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		c, at, failed := schedulerop.Contact{}, now, 0
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "pause")))
			before, least, most := c, 30*time.Second, schedulerop.RetryDelayMax
			switch rapid.SampledFrom([]string{"fail", "fail", "fail", "master fails", "same schedulers", "new schedulers", "success"}).Draw(t, "event") {
			case "fail":
				c = c.Failed(at, rng)
				if failed++; failed == schedulerop.MasterFetchPeriod {
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
				most = schedulerop.MasterFetchInterval
			case "same schedulers":
				if c = c.MasterFetched(false); !c.MinRPCTime.Equal(before.MinRPCTime) || c.Failures != before.Failures {
					t.Fatalf("%+v became %+v", before, c)
				}
				continue
			case "new schedulers":
				if c, failed = c.MasterFetched(true), 0; c != (schedulerop.Contact{}) {
					t.Fatalf("%+v became %+v", before, c)
				}
				continue
			case "success":
				delay := time.Duration(rapid.Int64().Draw(t, "request delay"))
				c, failed = c.Succeeded(at, delay), 0
				least, most = max(schedulerop.MinInterval, min(delay, schedulerop.MaxRequestDelay)), schedulerop.MaxRequestDelay
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

func TestReportDue(t *testing.T) {
	fresh := schedulerop.Finished{Deadline: now.Add(240 * time.Hour), Completed: now.Add(-time.Minute)}
	with := func(change func(*schedulerop.Finished)) []schedulerop.Finished {
		f := fresh
		change(&f)
		return []schedulerop.Finished{fresh, f}
	}
	many := make([]schedulerop.Finished, 64)
	for i := range many {
		many[i] = fresh
	}
	busy := func(ready []schedulerop.Finished) schedulerop.Backlog {
		return schedulerop.Backlog{Ready: ready, Unfinished: 2}
	}
	for _, tt := range []struct {
		name    string
		backlog schedulerop.Backlog
		reason  string // "" means not yet
	}{
		{"nothing", schedulerop.Backlog{Eager: true}, ""},
		{"one of several", busy([]schedulerop.Finished{fresh}), ""},
		{"sixty-three", busy(many[:63]), ""},
		{"sixty-four", busy(many), "many results are ready"},
		{"the last one of the project, with others' work here", schedulerop.Backlog{Ready: []schedulerop.Finished{fresh}}, ""},
		{"the last one of all", schedulerop.Backlog{Ready: []schedulerop.Finished{fresh}, NothingElse: true}, "nothing else is left to do"},
		{"eager", schedulerop.Backlog{Ready: []schedulerop.Finished{fresh}, Unfinished: 2, Eager: true}, "results are reported at once"},
		{"no more work", schedulerop.Backlog{Ready: []schedulerop.Finished{fresh}, Unfinished: 2, NoMoreWork: true}, "no new work is wanted"},
		{"wanted at once", busy(with(func(f *schedulerop.Finished) { f.Immediately = true })), "the project wants it at once"},
		{"deadline in 25 hours", busy(with(func(f *schedulerop.Finished) { f.Deadline = now.Add(25 * time.Hour) })), ""},
		{"deadline in 23 hours", busy(with(func(f *schedulerop.Finished) { f.Deadline = now.Add(23 * time.Hour) })), "a deadline is near"},
		{"deadline is past", busy(with(func(f *schedulerop.Finished) { f.Deadline = now.Add(-time.Hour) })), "a deadline is near"},
		{"a twelfth of twelve hours before the deadline", busy(with(func(f *schedulerop.Finished) {
			f.Received, f.Deadline = now.Add(-11*time.Hour-time.Minute), now.Add(59*time.Minute)
		})), "a deadline is near"},
		{"earlier than that", busy(with(func(f *schedulerop.Finished) {
			f.Received, f.Deadline = now.Add(-10*time.Hour), now.Add(2*time.Hour)
		})), ""},
		{"ready for 23 hours", busy(with(func(f *schedulerop.Finished) { f.Completed = now.Add(-23 * time.Hour) })), ""},
		{"ready for 25 hours", busy(with(func(f *schedulerop.Finished) { f.Completed = now.Add(-25 * time.Hour) })), "a result has been ready for long"},
		{"ready for 25 hours on a computer that is on a third of the time", schedulerop.Backlog{
			Ready: with(func(f *schedulerop.Finished) { f.Completed = now.Add(-25 * time.Hour) }), Unfinished: 2, OnFrac: 1.0 / 3,
		}, ""},
		{"an upload has just begun", schedulerop.Backlog{Ready: many, LastUpload: now.Add(-time.Minute), Eager: true}, ""},
		{"an upload hangs", schedulerop.Backlog{Ready: many, LastUpload: now.Add(-6 * time.Minute), Unfinished: 1}, "many results are ready"},
	} {
		if reason, due := schedulerop.ReportDue(tt.backlog, now); reason != tt.reason || due != (tt.reason != "") {
			t.Errorf("%s: got %v %q, want %q", tt.name, due, reason, tt.reason)
		}
	}
}
