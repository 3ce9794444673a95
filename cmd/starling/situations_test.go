package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
)

// Texts that must be part of starling why: cures of suspensions, the reason that a mode overrules,
// tasks of one name, and how one failed.
func TestWhySaysAllOfASituation(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.Local)
	p := prefs.Default()
	p.StartHour, p.EndHour = 20, 6
	conditions := prefs.Conditions{Now: now, Battery: prefs.Yes, OtherCPU: -1}
	told := func(change func(*decide.Snapshot)) string {
		s := decide.Snapshot{
			Now: now, CPUs: 2, AllCPUs: 2, Memory: 1e9,
			Projects: []decide.Project{{URL: "https://a.example/", Share: 100, Known: true}, {URL: "https://b.example/", Share: 100, Known: true}},
			Results: []decide.Result{
				{ID: "w1_0", Phase: decide.Ready, Completed: now, Deadline: now.Add(time.Hour), Failed: reason.Reason{Code: reason.ExitStatus, About: "exit status 3", Detail: "Cannot allocate frobnicator"}},
				{ID: "w1_0", Project: 1, Phase: decide.Runnable, Received: now, Deadline: now.Add(-time.Hour), Stated: time.Hour, Started: true},
			},
		}
		change(&s)
		var out bytes.Buffer
		must(t, explain(&out, decide.Record{Snapshot: s, Plan: decide.Pass(s)}, ""))
		return out.String()
	}
	suspended := told(func(s *decide.Snapshot) { s.Compute = p.MayCompute(conditions, prefs.Mode{}) })
	always := told(func(s *decide.Snapshot) { s.Compute = p.MayCompute(conditions, prefs.Mode{Kind: prefs.Always}) })
	for _, c := range []struct{ text, want string }{
		{suspended, "You can: Change start_hour and end_hour. Plug the computer in, or set run_on_batteries = true."},
		{suspended, "https://a.example/  Failed: its application reported an error (exit status 3). The last line that its application wrote: \"Cannot allocate frobnicator\"."},
		{suspended, "w1_0  https://b.example/"},
		{suspended, "It is late: its deadline passed at 11:00."},
		{always, "Computing at your request, whatever the preferences say: Computing is not allowed at this time of day until 20:00"},
		{always, "You can: Return to the preferences with: starling mode auto\n"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%q is not said in\n%s", c.want, c.text)
		}
	}
	if strings.Contains(suspended, "will be about") || strings.Contains(suspended, "w1_0  Finished") {
		t.Errorf("a deadline that has passed will be missed, or a crash is an end:\n%s", suspended)
	}
}

// A file that does not move is named in the status: what keeps it, or for how long it has hung.
func TestStatusNamesTransfersThatDoNotMove(t *testing.T) {
	var b bytes.Buffer
	d := display{Writer: &b}
	showTroubles(d, []control.Xfer{
		{Name: "in_1", Trouble: "This computer's disk is full.", TroubleCure: "Free some disk space."},
		{Name: "in_2", Trouble: "This computer's disk is full.", TroubleCure: "Free some disk space."},
		{Name: "out_1", Upload: true, Active: true, Silent: 95, Trouble: "The transfer stalled: hardly any data moved for 5 minutes."},
		{Name: "in_3", Active: true},
		{Name: "in_4"},
	})
	want := "Transfers: The download of in_1 has to wait. This computer's disk is full.\nYou can: Free some disk space.\n" +
		"Transfers: The upload of out_1 has moved no data for 1 min 35 s.\n"
	if b.String() != want {
		t.Errorf("got\n%s, want\n%s", &b, want)
	}
	b.Reset()
	showIdle(d, []control.Project{{NoMoreWork: true}, {Suspended: true}})
	if !strings.Contains(b.String(), "every project is suspended or set to fetch no more work") {
		t.Errorf("nobody gets work, and is said: %q", &b)
	}
	b.Reset()
	if showIdle(d, []control.Project{{NoMoreWork: true}, {}}); b.Len() > 0 {
		t.Errorf("said of one project: %q", &b)
	}
}

// The state of a task in the words of people.
func TestStatesOfTasks(t *testing.T) {
	for want, k := range map[string]control.Task{
		"ready to start": {State: "downloaded"}, "waiting to run": {State: "downloaded", Elapsed: 60}, "suspended": {State: "downloaded", Elapsed: 60, Suspended: true},
		"running": {State: "downloaded", Running: true, Suspended: true}, "downloading": {State: "downloading"}, "uploading": {State: "uploading"},
		"ready to report": {State: "uploaded", Ready: true}, "failed": {State: "compute error", Ready: true, Failed: true},
		"to be aborted": {State: "downloaded", AbortAt: time.Now()},
	} {
		if got := stateOf(k); got != want {
			t.Errorf("%+v: got %q, want %q", k, got, want)
		}
	}
}
