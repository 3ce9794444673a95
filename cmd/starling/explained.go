package main

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
)

// An explanation is a decision in the form for scripts: the content of explain's text. The form
// from which a decision can be repeated is another one, a decide.Record.
type explanation struct {
	Version  int                `json:"version"`
	At       time.Time          `json:"at"`
	CPUs     int                `json:"cpus"`               // that tasks may use
	AllCPUs  int                `json:"all_cpus"`           // that there are
	CPUBound prefs.Bound        `json:"cpu_bound,omitzero"` // the preference that limits them
	Memory   int64              `json:"memory_bytes"`
	Bound    prefs.Bound        `json:"memory_bound,omitzero"` // the preference that limits it
	Disk     prefs.Bound        `json:"disk_bound,omitzero"`
	Compute  prefs.Permission   `json:"compute"` // {}: tasks may run
	Network  prefs.Permission   `json:"network"`
	NoEffect []words.Text       `json:"no_effect,omitempty"`
	Presence words.Text         `json:"presence,omitzero"` // whether the computer is in use, and the source of that
	Unsaved  float64            `json:"unsaved_seconds"`   // computing that a shutdown now would lose
	Projects []explainedProject `json:"projects"`
	Tasks    []explainedTask    `json:"tasks"`
}

// A sentence is a reason.Explanation with the names that it has in this form.
type sentence struct {
	Code  reason.Code `json:"code"`
	Text  words.Text  `json:"why"`
	Cure  words.Text  `json:"cure,omitzero"`
	Until time.Time   `json:"until,omitzero"`
}

type explainedProject struct {
	URL         string    `json:"master_url"`
	Share       float64   `json:"resource_share"`
	Debt        float64   `json:"debt_cpu_seconds"` // owed to it (below 0 it owes)
	Work        sentence  `json:"work"`
	Wanted      float64   `json:"wanted_cpu_seconds,omitempty"` // of work, that is requested now
	Contact     sentence  `json:"contact"`
	Failures    int       `json:"failures"` // contacts in a row that failed
	Trouble     *sentence `json:"trouble,omitempty"`
	Detail      string    `json:"trouble_detail,omitempty"` // the error as the program met it
	Since       time.Time `json:"trouble_since,omitzero"`
	Failing     *sentence `json:"failing,omitempty"` // its last tasks failed
	FailingTask string    `json:"failing_task,omitempty"`
	Refused     string    `json:"refused,omitempty"` // what of its last reply was not taken
	Backoff     time.Time `json:"no_work_requests_before,omitzero"`
}

type explainedTask struct {
	Name    string `json:"name"`
	Project string `json:"project"` // master URL
	sentence
	Urgent    bool      `json:"urgent,omitempty"` // its deadline is in danger
	Fraction  float64   `json:"fraction_done"`
	Elapsed   float64   `json:"elapsed_seconds"`
	Remaining float64   `json:"remaining_seconds"` // estimated
	Late      float64   `json:"late_seconds,omitempty"`
	Deadline  time.Time `json:"report_deadline,omitzero"`
	Unsaved   float64   `json:"unsaved_seconds,omitempty"`
}

// explained returns a decision for scripts, of one project or task if about is not "".
func explained(r decide.Record, about string) (explanation, error) {
	s := r.Snapshot
	e := explanation{
		Version: jsonVersion, At: s.Now, CPUs: s.CPUs, AllCPUs: s.AllCPUs, CPUBound: s.CPUBound, Memory: s.Memory, Bound: s.Bound, Disk: s.Disk,
		Compute: s.Compute, Network: s.Network, NoEffect: s.NoEffect, Presence: s.Presence, Projects: []explainedProject{}, Tasks: []explainedTask{},
	}
	for i, p := range s.Projects {
		if about == "" || sameProject(about, p.URL) {
			e.Projects = append(e.Projects, explainedProjectOf(s, p, r.Plan.Projects[i]))
		}
	}
	for i, res := range s.Results {
		e.Unsaved += res.Lost.Seconds()
		if about == "" || about == res.ID {
			e.Tasks = append(e.Tasks, explainedTaskOf(s, res, r.Plan.Results[i]))
		}
	}
	if about != "" && len(e.Projects)+len(e.Tasks) == 0 {
		return e, unknownSubject(about)
	}
	return e, nil
}

func explainedProjectOf(s decide.Snapshot, p decide.Project, plan decide.ProjectPlan) explainedProject {
	f := plan.Fetch
	x := explainedProject{
		URL: p.URL, Share: p.Share, Debt: plan.Debt, Wanted: f.Seconds,
		Work:     sentence(f.Explanation),
		Contact:  sentence{reason.Code(plan.Session.Kind), plan.Session.Why, words.Text{}, plan.Session.Until},
		Failures: p.Contact.Failures + p.Contact.MasterFailures, Refused: p.LeftOut, Detail: p.Trouble.Detail,
	}
	if p.Trouble.Is() {
		trouble := sentence(p.Trouble.Explain(p.URL, s.Now))
		x.Trouble, x.Since = &trouble, p.Trouble.Since
	}
	if p.Failed.Is() {
		x.Failing, x.FailingTask = &sentence{Code: p.Failed.Code, Text: p.Failed.Failing(p.Failures), Cure: p.Failed.Cure(p.URL)}, p.Failed.Task
	}
	if p.Backoff.After(s.Now) {
		x.Backoff = p.Backoff
	}
	return x
}

func explainedTaskOf(s decide.Snapshot, res decide.Result, plan decide.ResultPlan) explainedTask {
	return explainedTask{
		Name: res.ID, Project: s.URL(res), Urgent: plan.Urgent, Fraction: res.Fraction, Deadline: res.Deadline,
		sentence: sentence{plan.Code, plan.Text, words.And(cures(s, res, plan)...), plan.Until},
		Elapsed:  res.Elapsed.Seconds(), Remaining: plan.Remaining.Seconds(), Late: plan.Late.Seconds(), Unsaved: res.Lost.Seconds(),
	}
}

// lateness is decide.Lateness for a task that still computes.
func lateness(s decide.Snapshot, res decide.Result, plan decide.ResultPlan) (text, cure words.Text) {
	return decide.Lateness(res.ID, plan.Late, res.Deadline, s.Now, s.CPUBound)
}

// cures returns the remedies for a task that has not progressed further.
func cures(s decide.Snapshot, res decide.Result, plan decide.ResultPlan) (all []words.Text) {
	if _, cure := lateness(s, res, plan); cure.Is() {
		all = append(all, cure)
	}
	if plan.Cure.Is() {
		all = append(all, plan.Cure)
	}
	return all
}

// sameProject reports whether an address that a person wrote is a project's.
func sameProject(word, masterURL string) bool {
	return strings.EqualFold(strings.TrimSuffix(word, "/"), strings.TrimSuffix(masterURL, "/"))
}

func unknownSubject(word string) error {
	return fault("{word} is neither an attached project nor a task on this computer; to list them: starling projects, starling tasks", "word", word)
}
