package view_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

func TestProblems(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	project := func(p control.Project) control.Status {
		p.MasterURL, p.Name = "https://p.example/", "P"
		return control.Status{Projects: []control.Project{p}}
	}
	trouble := func(code reason.Code, since time.Duration) control.Status {
		return project(control.Project{Trouble: "T.", TroubleCode: code, TroubleCure: "c.", TroubleSince: now.Add(-since)})
	}
	missing := func(when string) control.Status {
		s := project(control.Project{Ending: "Detached " + when + "."})
		s.Complaints = []string{"Detached " + when + "."}
		return s
	}
	late := func(n int, deadline time.Duration) control.Status {
		s := project(control.Project{})
		for i := range n {
			s.Tasks = append(s.Tasks, control.Task{Name: fmt.Sprint("t_", i), Project: "https://p.example/", Late: 3600 * float64(i+1), LateCure: "c.", Deadline: now.Add(deadline)})
		}
		return s
	}
	for _, tt := range []struct {
		name   string
		status control.Status
		text   string
		notify bool
	}{
		{"all is well", project(control.Project{}), "", false},
		{"a file has a fault", control.Status{Complaints: []string{"prefs.toml:1: x"}}, "prefs.toml:1: x", true},
		{"the state is not saved", control.Status{NotSaved: "N."}, "N.", true},
		{"the disk is full", control.Status{ComputeCode: reason.DiskFull, Compute: "Full."}, "Full.", true},
		{"a mode overrules the preferences", control.Status{ComputeDespite: "It is hot."}, "Computing at your request, whatever the preferences say: It is hot.", false},
		{"an outage of an hour", trouble(reason.ServerDown, time.Hour), "P: T.", false},
		{"an outage of a day", trouble(reason.ServerDown, 24*time.Hour), "P: T.", true},
		{"an answer that waiting does not change", trouble(reason.KeyRefused, 0), "P: T.", true},
		{"a task failed", project(control.Project{Failing: &control.Failing{Count: 1, Text: "F."}}), "P: F.", false},
		{"tasks fail", project(control.Project{Failing: &control.Failing{Count: 3, Text: "F."}}), "P: F.", true},
		{"a project is detached", project(control.Project{Ending: "E."}), "P: E.", false},
		{"an account file is missing", missing("tomorrow"), "P: Detached tomorrow.", true},
		{"a task will be late", late(1, time.Hour), "A task of P will be about 1 h late.", true},
		{"a task is late", late(1, -time.Hour), "A task of P has missed its deadline.", true},
		{"tasks are late", late(3, time.Hour), "3 tasks are late or will be. A task of P will be about 3 h late.", true},
		{"a number was not read the last time", control.Status{Powers: []control.Power{{Name: "Grid", Known: true, Wrong: true, Text: "W."}}}, "W.", false},
		{"a number is not known", control.Status{Powers: []control.Power{{Name: "Grid", Wrong: true, Text: "W."}}}, "W.", true},
		{"a newer version", control.Status{Version: "1.0", Newer: &control.Release{Version: "2.0", URL: "https://u.example/"}}, "Starling 2.0 is available; you have 1.0. See https://u.example/", true},
	} {
		for _, on := range []bool{true, false} {
			all := view.Problems(tt.status, now, on, words.English)
			switch {
			case len(all) == 0 && tt.text == "":
			case len(all) != 1 || all[0].Text != tt.text || all[0].Key == "" || all[0].Notify != (tt.notify && on):
				t.Errorf("%s: got %+v", tt.name, all)
			}
		}
	}
	// A text with a time changes, and the problem is the same.
	if a, b := view.Problems(missing("tomorrow"), now, true, words.English)[0], view.Problems(missing("at 12:00"), now, true, words.English)[0]; a.Key != b.Key {
		t.Errorf("%q became %q", a.Key, b.Key)
	}
}
