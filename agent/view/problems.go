package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// failuresInARow is the number of failures of a project's tasks in a row that is worth a
// notification. A single task may fail by chance.
const failuresInARow = 3

// Problems returns the problems that the owner of the computer should see, by the rest of a status.
// With notify, problems that need the owner and do not end without help are marked for a
// notification. A consequence of a person's own request is not.
func Problems(s control.Status, now time.Time, notify bool) (all []control.Problem) {
	add := func(p control.Problem, needsOwner bool) {
		p.Key, p.Notify = cmp.Or(p.Key, string(p.Kind)), needsOwner && notify
		all = append(all, p)
	}
	for _, c := range s.Complaints {
		ofProject := func(p control.Project) bool { return p.Ending == c } // its account file is missing
		if !slices.ContainsFunc(s.Projects, ofProject) {
			add(control.Problem{Kind: control.BadSettings, Key: c, Text: c}, true)
		}
	}
	if s.ComputeCode == reason.DiskFull {
		add(control.Problem{Kind: control.DiskFull, Text: s.Compute, Cure: s.ComputeCure}, true)
	}
	if s.ComputeDespite != "" {
		add(control.Problem{Kind: control.ComputingDespite, Text: "Computing at your request, whatever the preferences say: " + s.ComputeDespite, Cure: "set the mode to auto."}, false)
	}
	if s.NetworkDespite != "" {
		add(control.Problem{Kind: control.NetworkDespite, Text: "The network is used at your request, whatever the preferences say: " + s.NetworkDespite, Cure: "set the mode of the network to auto."}, false)
	}
	wanted := func(p control.Project) bool { return !p.Suspended && !p.NoMoreWork }
	if len(s.Projects) > 1 && !slices.ContainsFunc(s.Projects, wanted) {
		add(control.Problem{Kind: control.NoWorkWanted, Text: "No new work is fetched: every project is suspended or set to fetch no more work.", Cure: "allow it for a project."}, false)
	}
	for _, p := range s.Projects {
		problem := func(kind control.ProblemKind, text, cure string, needsOwner bool) {
			add(control.Problem{Kind: kind, Key: string(kind) + " " + p.MasterURL, Text: nameOf(p) + ": " + text, Cure: cure, Project: p.MasterURL}, needsOwner)
		}
		if p.Trouble != "" {
			problem(control.ProjectTrouble, p.Trouble, p.TroubleCure, reason.Reason{Code: p.TroubleCode, Since: p.TroubleSince}.NeedsOwner(now))
		}
		if x := p.Failing; x != nil {
			problem(control.TasksFailing, x.Text, x.Cure, x.Count >= failuresInARow)
		}
		if p.Ending != "" {
			problem(control.ProjectEnding, p.Ending, "", slices.Contains(s.Complaints, p.Ending))
		}
	}
	if p, late := lateTasks(s, now); late {
		add(p, true)
	}
	for _, x := range s.Powers {
		if x.Wrong {
			add(control.Problem{Kind: control.PowerUnknown, Key: string(control.PowerUnknown) + " " + x.Name, Text: x.Text, Cure: "correct [[power]] in starling.toml, or repair the source."}, !x.Known)
		}
	}
	for _, x := range s.NoEffect {
		add(control.Problem{Kind: control.NoEffect, Key: x, Text: x}, false)
	}
	if m := s.Manager; m != nil && m.Trouble != "" {
		add(control.Problem{Kind: control.ManagerTrouble, Text: m.Name + ": " + m.Trouble}, false)
	}
	if r := s.Newer; r != nil {
		add(control.Problem{Kind: control.NewerVersion, Key: string(control.NewerVersion) + " " + r.Version, Text: "Starling " + r.Version + " is available; you have " + s.Version + ". See " + r.URL}, true)
	}
	return all
}

// lateTasks returns the problem of the tasks that are late or will be, if there are any.
func lateTasks(s control.Status, now time.Time) (p control.Problem, late bool) {
	n, worst := 0, control.Task{}
	for _, t := range s.Tasks {
		if t.Late > 0 {
			n++
			if t.Late > worst.Late {
				worst = t
			}
		}
	}
	if n == 0 {
		return p, false
	}
	project := worst.Project
	for _, x := range s.Projects {
		if x.MasterURL == worst.Project {
			project = nameOf(x)
		}
	}
	p = control.Problem{Kind: control.TasksLate, Text: "A task of " + project, Cure: worst.LateCure}
	if worst.Deadline.After(now) {
		p.Text += " will be about " + words.Span(time.Duration(worst.Late*float64(time.Second))) + " late."
	} else {
		p.Text += " has missed its deadline."
	}
	if n > 1 {
		p.Text = words.Count(n, "task") + " are late or will be. " + p.Text
	} else {
		p.Project, p.Task = worst.Project, worst.Name
	}
	return p, true
}

func nameOf(p control.Project) string { return cmp.Or(p.Name, p.MasterURL) }
