package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/state"
)

func whyCmd(o *options) *cobra.Command {
	var save string
	cmd := &cobra.Command{
		Use:     "why [PROJECT|TASK]",
		Short:   "Explain what the agent decided, and why it is not doing more",
		Long:    "Explain for every project and task what the agent decided and why, with the numbers behind the decision.\n\nWith --save, write the decision and everything it was based on to a file, without account keys and personal names; starling simulate --replay repeats it.\n\nWith --json, print {\"version\": 1, \"projects\": [...], \"tasks\": [...]}, with durations in seconds and times as in RFC 3339.",
		Example: "  starling why\n  starling why Einstein\n  starling why --save decision.json",
		Args:    cobra.MaximumNArgs(1),

		ValidArgsFunction: o.both,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if save != "" { // perhaps for others
				ctx = words.With(ctx, words.English)
			}
			r, err := o.client().Decision(ctx)
			if errors.Is(err, control.ErrNotRunning) {
				fmt.Fprintln(cmd.ErrOrStderr(), phrase("starling: no agent is running, so nothing is computed; {command}", "command", o.start()))
				r, err = api.OfflineDecision(o.data, version.Version)
				if errors.Is(err, state.ErrInUse) {
					return control.Unresponsive(o.data)
				}
			}
			if err != nil {
				return err
			}
			if save != "" {
				return saveRecord(save, r)
			}
			about := ""
			if len(args) > 0 {
				if about, err = o.subject(cmd.Context(), r, args[0]); err != nil {
					return err
				}
			}
			if o.json {
				e, err := explained(r, about)
				if err != nil {
					return err
				}
				return writeJSON(cmd.OutOrStdout(), e)
			}
			on(cmd.OutOrStdout(), func(d display) {
				if err = explain(d, r, about); err != nil {
					return
				}
				if status, err := o.status(cmd.Context()); err == nil { // left out if the agent ended just now
					explainStored(d, status.Projects, about)
					if about == "" {
						showTroubles(d, status.Transfers)
						if status.Running {
							showComplaints(d, status.Complaints)
						}
					}
				}
			})
			return err
		},
	}
	cmd.Flags().StringVar(&save, "save", "", "write the decision to a file, to replay it or to send it to someone who can help")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// saveRecord writes a decision for others to see. It leaves out the output of tasks' applications
// and the original errors, which may name people. No decision depends on them.
func saveRecord(path string, r decide.Record) error {
	r.Snapshot.Presence = words.Text{}
	for i := range r.Snapshot.Projects {
		p := &r.Snapshot.Projects[i]
		p.Failed.Detail, p.Trouble.Detail = "", ""
	}
	for i := range r.Snapshot.Results {
		r.Snapshot.Results[i].Failed.Detail = ""
	}
	for i := range r.Plan.Results { // it may quote that
		if f := r.Snapshot.Results[i].Failed; f.Is() {
			r.Plan.Results[i].Text = f.Ended()
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, append(b, '\n'), 0o644)
}

// subject returns the subject of a person's question: a task, or a project's address.
func (o *options) subject(ctx context.Context, r decide.Record, word string) (string, error) {
	if slices.ContainsFunc(r.Snapshot.Results, func(res decide.Result) bool { return res.ID == word }) {
		return word, nil
	}
	u, err := o.project(ctx, word)
	if err != nil {
		return "", words.Explain(err, words.T("no task here is called {task}, and {why}; to see a task that has ended: starling history TASK", "task", strconv.Quote(word), "why", sysfault.Text(err)))
	}
	return u, nil
}

// explain describes a decision in words, for one project or task if about is not "".
func explain(w io.Writer, r decide.Record, about string) error {
	s, found := r.Snapshot, false
	if about == "" {
		found = true
		explainHost(w, s)
	}
	for i, p := range s.Projects {
		if about != "" && !sameProject(about, p.URL) {
			continue
		}
		found = true
		explainProject(w, s, p, r.Plan.Projects[i], about != "")
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	order := make([]int, len(s.Results))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return natural(s.Results[a].ID, s.Results[b].ID) })
	for _, i := range order {
		res := s.Results[i]
		if about != "" && about != res.ID {
			continue
		}
		found = true
		plan := r.Plan.Results[i]
		late, _ := lateness(s, res, plan)
		text := words.And(plan.Text, late)
		name := res.ID
		if about == "" && len(s.Projects) > 1 { // only their projects distinguish equal names
			name += "\t" + s.URL(res)
		}
		fmt.Fprintf(t, "%s\t%s%s\n", name, printable(local(text)), changes(text, plan.Until, s.Now))
		if about != "" {
			for _, cure := range cures(s, res, plan) {
				fmt.Fprintf(t, "\t%s\n", phrase("You can: {cure}", "cure", cure))
			}
			fmt.Fprintf(t, "\t%s\n", phrase("decision {code}; project {url}", "code", plan.Code, "url", s.Projects[res.Project].URL))
			fmt.Fprintf(t, "\t%s\n", phrase("{percent}% done after {elapsed}, about {remaining} remaining, deadline {deadline}",
				"percent", fmt.Sprintf("%.1f", 100*res.Fraction), "elapsed", words.Span(res.Elapsed), "remaining", words.Span(plan.Remaining), "deadline", when(res.Deadline)))
			if text := restart(res); text != "" {
				fmt.Fprintf(t, "\t%s\n", text)
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if !found {
		return unknownSubject(about)
	}
	return nil
}

// restart returns a sentence about the work that a task with a process would lose if it were
// interrupted now, or "" if that is hardly anything.
func restart(res decide.Result) string {
	switch {
	case res.Lost < time.Second:
		return ""
	case res.Lost >= res.Elapsed:
		return phrase("If it is interrupted now, it starts over: its program has not made a checkpoint.")
	}
	return phrase("If it is interrupted now, it loses the work since its last checkpoint, {span}.", "span", words.Span(res.Lost))
}

// showCure shows the remedy, if there is one.
func showCure(w io.Writer, cure string) {
	if cure != "" {
		phraseln(w, "You can: {cure}", "cure", printable(cure))
	}
}

// showDespite shows the reason that a mode overrules, if there is one.
func showDespite(w io.Writer, english, despite, flag string) {
	if despite != "" {
		phraseln(w, english, "despite", printable(despite))
		showCure(w, phrase("Return to the preferences with: {command}", "command", "starling mode auto"+flag))
	}
}

const (
	computesDespite = "Computing at your request, whatever the preferences say: {despite}"
	networkDespite  = "The network is used at your request, whatever the preferences say: {despite}"
)

func explainHost(w io.Writer, s decide.Snapshot) {
	for _, x := range s.NoEffect {
		phraseln(w, "Preferences: {text}", "text", local(x))
	}
	showPresence(w, local(s.Presence))
	switch {
	case s.Compute.Denied():
		fmt.Fprintf(w, "%s %s%s\n", phrase("Computing is suspended."), local(s.Compute.Why), changes(s.Compute.Why, s.Compute.Until, s.Now))
		showCure(w, local(s.Compute.Cure))
	default:
		phraseln(w, "Tasks may run on {n} of {cpus}{bound}, with {bytes} of memory{limit}.", "n", s.CPUs, "cpus", words.Count(s.AllCPUs, "CPU"), "bound", s.CPUBound.Aside(), "bytes", words.Bytes(s.Memory), "limit", s.Bound.Aside())
		if s.Disk.Key != "" {
			phraseln(w, "What limits disk space: {setting}.", "setting", s.Disk.Text)
		}
		showDespite(w, computesDespite, local(s.Compute.Despite), "")
	}
	if s.Network.Denied() {
		fmt.Fprintf(w, "%s %s%s\n", phrase("Network activity is suspended."), local(s.Network.Why), changes(s.Network.Why, s.Network.Until, s.Now))
		showCure(w, local(s.Network.Cure))
	}
	showDespite(w, networkDespite, local(s.Network.Despite), " --network")
	lost := time.Duration(0)
	for _, r := range s.Results {
		lost += r.Lost
	}
	if len(s.Results) > 0 {
		fmt.Fprintln(w, shutdown(lost))
	}
	if len(s.Projects) == 0 {
		phraseln(w, "No projects are attached. Choose one with: starling attach")
	}
}

func explainProject(w io.Writer, s decide.Snapshot, p decide.Project, plan decide.ProjectPlan, numbers bool) {
	line := func(label, text string) { fmt.Fprintf(w, "  %-8s %s\n", phrase(label), text) }
	fmt.Fprintf(w, "%s\n", p.URL)
	if p.Trouble.Is() && plan.Fetch.Code != p.Trouble.Code {
		line("problem", printable(local(p.Trouble.Text(s.Now))))
		line("you can", local(p.Trouble.Cure(p.URL)))
	}
	if p.Failed.Is() {
		if plan.Fetch.Code != reason.TasksFail {
			line("failing", printable(local(p.Failed.Failing(p.Failures))))
			line("you can", local(p.Failed.Cure(p.URL)))
		}
		for text := range strings.Lines(p.Failed.Detail) {
			line("stderr", printable(strings.TrimSpace(text)))
		}
	}
	line("work", printable(local(plan.Fetch.Text))+changes(plan.Fetch.Text, plan.Fetch.Until, s.Now))
	if plan.Fetch.Cure.Is() {
		line("you can", local(plan.Fetch.Cure))
	}
	if p.LeftOut != "" {
		line("refused", p.LeftOut)
	}
	if plan.Session.Kind != decide.None {
		line("contact", phrase("now: {why}", "why", plan.Session.Why))
	} else if plan.Session.Why.String() != plan.Fetch.Text.String() && (plan.Fetch.Until.IsZero() || !plan.Session.Until.Equal(plan.Fetch.Until)) {
		line("contact", local(plan.Session.Why)+changes(plan.Session.Why, plan.Session.Until, s.Now))
	}
	if numbers {
		line("decision", string(plan.Fetch.Code))
		line("owed", phrase("{span} of CPU time, share {share}", "span", span(plan.Debt), "share", p.Share))
		line("failures", phrase("{contacts} in a row", "contacts", words.Count(p.Contact.Failures+p.Contact.MasterFailures, "contact")))
		if p.Trouble.Detail != "" {
			line("error", printable(p.Trouble.Detail))
		}
		if p.Backoff.After(s.Now) {
			line("waiting", phrase("no work requests before {time}", "time", words.Time(p.Backoff, s.Now)))
		}
	}
}

// clockTime is a time of day in a sentence.
var clockTime = regexp.MustCompile(`\d:\d\d`)

// changes adds the end of a reason to its sentence, if it is known and not in the sentence itself.
func changes(sentence words.Text, at, now time.Time) string {
	if !at.After(now) || clockTime.MatchString(sentence.String()) {
		return ""
	}
	return phrase(" (until {time})", "time", words.Time(at, now))
}

// loadRecords reads what why --save or a decision log wrote: one pass a line.
func loadRecords(path string, each func(n int, r decide.Record) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	d := json.NewDecoder(f)
	for n := 1; ; n++ {
		var r decide.Record
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			if n == 1 {
				return fmt.Errorf("%s contains no decision; make one with: starling why --save FILE", path)
			}
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: decision %d: %w", path, n, err)
		}
		if err := each(n, r); err != nil {
			return err
		}
	}
}
