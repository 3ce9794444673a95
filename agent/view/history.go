package view

import (
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/outcome"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/state"
)

// HistoryTask returns a task that has ended in the form that people see, in a language.
func HistoryTask(db *state.DB, e state.EndedTask, l words.Language) control.HistoryTask {
	app, _ := db.Apps.Get(state.Key(e.Project, e.App))
	k := control.HistoryTask{
		Name: e.Name, Project: e.Project, ProjectName: e.ProjectName, Workunit: e.Workunit,
		App: e.App, AppTitle: app.UserFriendlyName, AppVersion: e.VersionNum, PlanClass: e.PlanClass,
		Outcome: string(e.Outcome), By: string(e.By), Code: e.Code, Exit: outcome.Exit(e, l), ExitStatus: e.ExitStatus, Stderr: e.Stderr,
		Received: e.Received, Started: e.Started, Finished: e.Finished, Reported: e.Reported, Deadline: e.Deadline,
		Elapsed: e.Elapsed.Seconds(), CPUTime: e.CPUTime.Seconds(), PeakMemory: e.PeakRSS, Energy: energy(e.Energy),
	}
	over := e.Reported
	if over.IsZero() {
		over = e.Finished
	}
	if !e.Deadline.IsZero() && over.After(e.Deadline) {
		k.Late = over.Sub(e.Deadline).Seconds()
	}
	return k
}

var whyOff = map[string]words.Text{
	state.OffStopped: words.T("The agent was stopped."),
	state.OffKilled:  words.T("The agent ended unexpectedly: it was killed, or the computer lost power."),
	state.OffAsleep:  words.T("The computer was asleep, or its clock was set ahead."),
}

// Span returns a span of the computer's activity in the form that people see, in a language. Sentences
// with values are as they were recorded. An open span lasts until now.
func Span(s state.Span, now time.Time, l words.Language) control.Span {
	why := words.T(s.Why)
	if s.Activity == state.Off {
		why = whyOff[s.Code]
	}
	v := control.Span{State: string(s.Activity), Code: s.Code, Why: why.In(l), Start: s.Start, End: s.End, Open: s.Open}
	if s.Open {
		v.End = now
	}
	return v
}
