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

// actors are the texts about tasks by who aborted them.
var actors = map[string]string{
	"user": "{outcome} by you", "project": "{outcome} by the project", "agent": "{outcome} by the agent", "account_manager": "{outcome} by the account manager",
}

// outcomes are the outcomes of tasks for people.
var outcomes = map[string]words.Text{"finished": words.T("finished"), "failed": words.T("failed"), "aborted": words.T("aborted")}

// outcomeOf returns the outcome of a task, and who aborted it.
func outcomeOf(k control.HistoryTask) string {
	outcome := words.Or(outcomes[k.Outcome], words.Plain(k.Outcome))
	if by := actors[k.By]; by != "" {
		return phrase(by, "outcome", outcome)
	}
	return local(outcome)
}

// howEnded returns how a task ended.
func howEnded(k control.HistoryTask) string {
	if k.Late > 0 {
		return phrase("{outcome}, late", "outcome", outcomeOf(k))
	}
	return outcomeOf(k)
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
		return local(words.Time(t, now))
	}
	line(phrase("project"), projectOf(k))
	line("URL", k.Project)
	app := k.App
	if k.AppVersion > 0 {
		app = fmt.Sprintf("%s %d.%02d", app, k.AppVersion/100, k.AppVersion%100)
	}
	if k.PlanClass != "" {
		app += " (" + k.PlanClass + ")"
	}
	line(phrase("application"), app)
	line(phrase("workunit"), k.Workunit)
	line(phrase("outcome"), outcomeOf(k))
	line(phrase("why"), k.Exit)
	if k.Outcome != "finished" {
		line(phrase("exit status"), fmt.Sprint(k.ExitStatus))
	}
	line(phrase("received"), at(k.Received, phrase("not known")))
	line(phrase("started"), at(k.Started, phrase("never")))
	line(phrase("finished"), at(k.Finished, phrase("not known")))
	line(phrase("reported"), at(k.Reported, phrase("no")))
	deadline := at(k.Deadline, phrase("none"))
	if k.Late > 0 {
		deadline += phrase(" ({span} late)", "span", span(k.Late))
	}
	line(phrase("deadline"), deadline)
	line(phrase("elapsed"), span(k.Elapsed))
	line(phrase("CPU time"), span(k.CPUTime))
	line(phrase("energy"), control.EnergyText(k.Energy))
	if k.PeakMemory > 0 {
		line(phrase("peak memory"), local(words.Bytes(k.PeakMemory)))
	}
	earned := phrase("not known; see the task's page on the project's web site")
	if k.Credit != nil {
		earned = fmt.Sprintf("%.2f", *k.Credit)
	}
	line(phrase("credit"), earned)
	if k.Stderr != "" {
		line("stderr", phrase("its last lines:"))
		for text := range strings.Lines(k.Stderr) {
			line("", "| "+strings.TrimRight(text, " \n"))
		}
	}
}

// activities are the computer's activities for people.
var activities = map[string]words.Text{
	"waiting": words.T("no task to run"), "computing": words.T("computing"), "suspended": words.T("suspended"), "off": words.T("off"),
}

// showTimeline shows the table of the computer's activities.
func showTimeline(w display, spans []control.Span, now time.Time) {
	t := table{columns: []column{{name: "FROM"}, {name: "TO"}, {name: "DURATION"}, {name: "COMPUTER"}, {name: "WHY", least: 12, end: true}}}
	for _, s := range spans {
		what, colour, until := s.State, plain, minutes(s.End, now)
		if text := activities[what]; text.Is() {
			what = local(text)
		}
		switch s.State {
		case "computing":
			colour = green
		case "suspended":
			colour = yellow
		}
		if s.Open {
			until = phrase("now")
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
	return local(words.Minute(t, now))
}

// achieved returns a sentence about the results of the last days.
func achieved(a control.Achieved) string {
	facts := []words.Text{words.T("{tasks} finished", "tasks", words.Count(a.Finished, "task"))}
	if a.Failed > 0 {
		facts = append(facts, words.T("{n} failed", "n", a.Failed))
	}
	if a.Aborted > 0 {
		facts = append(facts, words.T("{n} aborted", "n", a.Aborted))
	}
	if h := a.CPUTime / 3600; h >= 10 {
		facts = append(facts, words.T("{hours} CPU hours", "hours", fmt.Sprintf("%.0f", h)))
	} else {
		facts = append(facts, words.T("{span} of CPU time", "span", span(a.CPUTime)))
	}
	if used := control.EnergyText(a.Energy); used != "" {
		facts = append(facts, words.Plain(used))
	}
	return phrase("Last {n} days: {facts}.", "n", a.Days, "facts", words.Join(facts, ", "))
}
