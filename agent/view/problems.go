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
func Problems(s control.Status, now time.Time, notify bool, l words.Language) (all []control.Problem) {
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
	if s.NotSaved != "" {
		add(control.Problem{Kind: control.NotSaved, Text: s.NotSaved, Cure: s.NotSavedCure}, true)
	}
	if s.ComputeCode == reason.DiskFull {
		add(control.Problem{Kind: control.DiskFull, Text: s.Compute, Cure: s.ComputeCure}, true)
	}
	if s.ComputeDespite != "" {
		add(control.Problem{Kind: control.ComputingDespite, Text: words.T("Computing at your request, whatever the preferences say: {despite}", "despite", s.ComputeDespite).In(l), Cure: words.T("set the mode to auto.").In(l)}, false)
	}
	if s.NetworkDespite != "" {
		add(control.Problem{Kind: control.NetworkDespite, Text: words.T("The network is used at your request, whatever the preferences say: {despite}", "despite", s.NetworkDespite).In(l), Cure: words.T("set the mode of the network to auto.").In(l)}, false)
	}
	wanted := func(p control.Project) bool { return !p.Suspended && !p.NoMoreWork }
	if len(s.Projects) > 1 && !slices.ContainsFunc(s.Projects, wanted) {
		add(control.Problem{Kind: control.NoWorkWanted, Text: words.T("No new work is fetched: every project is suspended or set to fetch no more work.").In(l), Cure: words.T("allow it for a project.").In(l)}, false)
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
	if p, late := lateTasks(s, now, l); late {
		add(p, true)
	}
	for _, x := range s.Powers {
		if x.Wrong {
			add(control.Problem{Kind: control.PowerUnknown, Key: string(control.PowerUnknown) + " " + x.Name, Text: x.Text, Cure: words.T("correct [[power]] in starling.toml, or repair the source.").In(l)}, !x.Known)
		}
	}
	for _, x := range s.NoEffect {
		add(control.Problem{Kind: control.NoEffect, Key: x, Text: x}, false)
	}
	if m := s.Manager; m != nil && m.Trouble != "" {
		add(control.Problem{Kind: control.ManagerTrouble, Text: cmp.Or(m.Name, m.URL) + ": " + m.Trouble, Cure: m.TroubleCure}, false)
	}
	if r := s.Newer; r != nil {
		add(control.Problem{Kind: control.NewerVersion, Key: string(control.NewerVersion) + " " + r.Version, Text: words.T("Starling {new} is available; you have {version}. See {url}", "new", r.Version, "version", s.Version, "url", r.URL).In(l)}, true)
	}
	return all
}

// lateTasks returns the problem of the tasks that are late or will be, if there are any.
func lateTasks(s control.Status, now time.Time, l words.Language) (p control.Problem, late bool) {
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
	p = control.Problem{Kind: control.TasksLate, Cure: worst.LateCure}
	text := words.T("A task of {project} has missed its deadline.", "project", project)
	if worst.Deadline.After(now) {
		text = words.T("A task of {project} will be about {span} late.", "project", project, "span", words.Span(time.Duration(worst.Late*float64(time.Second))))
	}
	if n > 1 {
		text = words.And(words.T("{tasks} are late or will be.", "tasks", words.Count(n, "task")), text)
	} else {
		p.Project, p.Task = worst.Project, worst.Name
	}
	p.Text = text.In(l)
	return p, true
}

func nameOf(p control.Project) string { return cmp.Or(p.Name, p.MasterURL) }
