package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
)

// showHistory shows the table of tasks that have ended.
func showHistory(w display, tasks []control.HistoryTask) {
	t := table{columns: []column{
		{name: "TASK", least: 16},
		{name: "PROJECT", least: 8},
		{name: "OUTCOME", least: 10, end: true},
		{name: "FINISHED"},
		{name: "ELAPSED", extra: true},
		{name: "CPU TIME"},
		{name: "REPORTED", extra: true},
		{name: "WHY", least: 8, end: true},
	}}
	for _, k := range tasks {
		colour := plain
		switch {
		case k.Outcome == "failed":
			colour = yellow
		case k.Outcome == "finished" && k.Late == 0:
			colour = green
		}
		t.add(colour, k.Name, projectOf(k), howEnded(k), when(k.Finished), span(k.Elapsed), span(k.CPUTime), when(k.Reported), k.Exit)
	}
	t.show(w)
}

func projectOf(k control.HistoryTask) string {
	return name(control.Project{Name: k.ProjectName, MasterURL: k.Project})
}

// actors are people's names for those who abort tasks.
var actors = map[string]string{"user": "you", "project": "the project", "agent": "the agent", "account_manager": "the account manager"}

// howEnded returns how a task ended.
func howEnded(k control.HistoryTask) string {
	text := k.Outcome + by(k)
	if k.Late > 0 {
		text += ", late"
	}
	return text
}

// showEnded shows everything about one task.
func showEnded(w display, k control.HistoryTask, now time.Time) {
	fmt.Fprintln(w, w.paint(bold, printable(k.Name)))
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(w, "  %-12s %s\n", label, printable(text))
		}
	}
	at := func(t time.Time, none string) string {
		if t.IsZero() {
			return none
		}
		return words.Time(t, now)
	}
	line("project", projectOf(k))
	line("URL", k.Project)
	app := k.App
	if k.AppVersion > 0 {
		app = fmt.Sprintf("%s %d.%02d", app, k.AppVersion/100, k.AppVersion%100)
	}
	if k.PlanClass != "" {
		app += " (" + k.PlanClass + ")"
	}
	line("application", app)
	line("workunit", k.Workunit)
	line("outcome", k.Outcome+by(k))
	line("why", k.Exit)
	if k.Outcome != "finished" {
		line("exit status", fmt.Sprint(k.ExitStatus))
	}
	line("received", at(k.Received, "not known"))
	line("started", at(k.Started, "never"))
	line("finished", at(k.Finished, "not known"))
	line("reported", at(k.Reported, "no"))
	deadline := at(k.Deadline, "none")
	if k.Late > 0 {
		deadline += fmt.Sprintf(" (%s late)", span(k.Late))
	}
	line("deadline", deadline)
	line("elapsed", span(k.Elapsed))
	line("CPU time", span(k.CPUTime))
	line("energy", control.EnergyText(k.Energy))
	if k.PeakMemory > 0 {
		line("peak memory", words.Bytes(k.PeakMemory))
	}
	earned := "not known; see the task's page on the project's web site"
	if k.Credit != nil {
		earned = fmt.Sprintf("%.2f", *k.Credit)
	}
	line("credit", earned)
	if k.Stderr != "" {
		line("stderr", "its last lines:")
		for text := range strings.Lines(k.Stderr) {
			line("", "| "+strings.TrimRight(text, " \n"))
		}
	}
}

// by returns who aborted a task.
func by(k control.HistoryTask) string {
	if a := actors[k.By]; a != "" {
		return " by " + a
	}
	return ""
}

// activities are people's names for the computer's activities.
var activities = map[string]string{"waiting": "no task to run"}

// showTimeline shows the table of the computer's activities.
func showTimeline(w display, spans []control.Span, now time.Time) {
	t := table{columns: []column{{name: "FROM"}, {name: "TO"}, {name: "DURATION"}, {name: "COMPUTER"}, {name: "WHY", least: 12, end: true}}}
	for _, s := range spans {
		what, colour, until := s.State, plain, minutes(s.End, now)
		if text := activities[what]; text != "" {
			what = text
		}
		switch s.State {
		case "computing":
			colour = green
		case "suspended":
			colour = yellow
		}
		if s.Open {
			until = "now"
		}
		t.add(colour, minutes(s.Start, now), until, lasted(s.End.Sub(s.Start)), what, s.Why)
	}
	t.show(w)
}

// lasted returns a duration, to the minute if there is one.
func lasted(d time.Duration) string {
	if d >= time.Minute {
		d = d.Round(time.Minute)
	}
	return words.Span(d)
}

// minutes returns a time, to the minute.
func minutes(t, now time.Time) string {
	return strings.TrimPrefix(strings.TrimPrefix(words.When(t, now), "on "), "at ")
}

// achieved returns a sentence about the results of the last days.
func achieved(a control.Achieved) string {
	text := fmt.Sprintf("Last %d days: %s finished", a.Days, words.Count(a.Finished, "task"))
	if a.Failed > 0 {
		text += fmt.Sprintf(", %d failed", a.Failed)
	}
	if a.Aborted > 0 {
		text += fmt.Sprintf(", %d aborted", a.Aborted)
	}
	if h := a.CPUTime / 3600; h >= 10 {
		text += fmt.Sprintf(", %.0f CPU hours", h)
	} else {
		text += ", " + span(a.CPUTime) + " of CPU time"
	}
	if used := control.EnergyText(a.Energy); used != "" {
		text += ", " + used
	}
	return text + "."
}
