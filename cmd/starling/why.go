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
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/atomicfile"
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
			r, err := o.client().Decision(cmd.Context())
			if errors.Is(err, control.ErrNotRunning) {
				fmt.Fprintln(cmd.ErrOrStderr(), "starling: no agent is running, so nothing is computed; "+o.start())
				r, err = api.OfflineDecision(o.data, version.Version)
				if errors.Is(err, state.ErrInUse) {
					return fmt.Errorf("%w in %s; see its log", control.ErrUnresponsive, o.data)
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
	r.Snapshot.Presence = ""
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
		return "", fmt.Errorf("no task here is called %q, and %w", word, err)
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
		if late != "" {
			late = " " + late
		}
		name := res.ID
		if about == "" && len(s.Projects) > 1 { // only their projects distinguish equal names
			name += "\t" + s.URL(res)
		}
		fmt.Fprintf(t, "%s\t%s%s%s\n", name, printable(plan.Text), changes(plan.Text, plan.Until, s.Now), late)
		if about != "" {
			for _, cure := range cures(s, res, plan) {
				fmt.Fprintf(t, "\tYou can: %s\n", cure)
			}
			fmt.Fprintf(t, "\tdecision %s; project %s\n", plan.Code, s.Projects[res.Project].URL)
			fmt.Fprintf(t, "\t%.1f%% done after %s, about %s remaining, deadline %s\n",
				100*res.Fraction, words.Span(res.Elapsed), words.Span(plan.Remaining), when(res.Deadline))
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
		return "If it is interrupted now, it starts over: its program has not made a checkpoint."
	}
	return "If it is interrupted now, it loses the work since its last checkpoint, " + words.Span(res.Lost) + "."
}

// showCure shows the remedy, if there is one.
func showCure(w io.Writer, cure string) {
	if cure != "" {
		fmt.Fprintln(w, "You can: "+printable(cure))
	}
}

// showDespite shows the reason that a mode overrules, if there is one.
func showDespite(w io.Writer, what, despite, flag string) {
	if despite != "" {
		fmt.Fprintf(w, "%s at your request, whatever the preferences say: %s\nYou can: Return to the preferences with: starling mode auto%s\n", what, printable(despite), flag)
	}
}

func explainHost(w io.Writer, s decide.Snapshot) {
	for _, x := range s.NoEffect {
		fmt.Fprintln(w, "Preferences: "+x)
	}
	showPresence(w, s.Presence)
	switch {
	case s.Compute.Denied():
		fmt.Fprintf(w, "Computing is suspended. %s%s\n", s.Compute.Why, changes(s.Compute.Why, s.Compute.Until, s.Now))
		showCure(w, s.Compute.Cure)
	default:
		fmt.Fprintf(w, "Tasks may run on %d of %s%s, with %s of memory%s.\n", s.CPUs, words.Count(s.AllCPUs, "CPU"), s.CPUBound.Aside(), words.Bytes(s.Memory), s.Bound.Aside())
		if s.Disk.Key != "" {
			fmt.Fprintf(w, "What limits disk space: %s.\n", s.Disk.Text)
		}
		showDespite(w, "Computing", s.Compute.Despite, "")
	}
	if s.Network.Denied() {
		fmt.Fprintf(w, "Network activity is suspended. %s%s\n", s.Network.Why, changes(s.Network.Why, s.Network.Until, s.Now))
		showCure(w, s.Network.Cure)
	}
	showDespite(w, "The network is used", s.Network.Despite, " --network")
	lost := time.Duration(0)
	for _, r := range s.Results {
		lost += r.Lost
	}
	if len(s.Results) > 0 {
		fmt.Fprintln(w, shutdown(lost))
	}
	if len(s.Projects) == 0 {
		fmt.Fprintln(w, "No projects are attached. Choose one with: starling attach")
	}
}

func explainProject(w io.Writer, s decide.Snapshot, p decide.Project, plan decide.ProjectPlan, numbers bool) {
	fmt.Fprintf(w, "%s\n", p.URL)
	if p.Trouble.Is() && plan.Fetch.Code != p.Trouble.Code {
		fmt.Fprintf(w, "  problem  %s\n  you can  %s\n", printable(p.Trouble.Text(s.Now)), p.Trouble.Cure(p.URL))
	}
	if p.Failed.Is() {
		if plan.Fetch.Code != reason.TasksFail {
			fmt.Fprintf(w, "  failing  %s\n  you can  %s\n", printable(p.Failed.Failing(p.Failures)), p.Failed.Cure(p.URL))
		}
		for line := range strings.Lines(p.Failed.Detail) {
			fmt.Fprintf(w, "  stderr   %s\n", printable(strings.TrimSpace(line)))
		}
	}
	fmt.Fprintf(w, "  work     %s%s\n", printable(plan.Fetch.Text), changes(plan.Fetch.Text, plan.Fetch.Until, s.Now))
	if plan.Fetch.Cure != "" {
		fmt.Fprintf(w, "  you can  %s\n", plan.Fetch.Cure)
	}
	if p.LeftOut != "" {
		fmt.Fprintf(w, "  refused  %s\n", p.LeftOut)
	}
	if plan.Session.Kind != decide.None {
		fmt.Fprintf(w, "  contact  now: %s\n", plan.Session.Why)
	} else if plan.Session.Why != plan.Fetch.Text && (plan.Fetch.Until.IsZero() || !plan.Session.Until.Equal(plan.Fetch.Until)) {
		fmt.Fprintf(w, "  contact  %s%s\n", plan.Session.Why, changes(plan.Session.Why, plan.Session.Until, s.Now))
	}
	if numbers {
		fmt.Fprintf(w, "  decision %s\n  owed     %s of CPU time, share %v\n", plan.Fetch.Code, span(plan.Debt), p.Share)
		fmt.Fprintf(w, "  failures %s in a row\n", words.Count(p.Contact.Failures+p.Contact.MasterFailures, "contact"))
		if p.Trouble.Detail != "" {
			fmt.Fprintf(w, "  error    %s\n", printable(p.Trouble.Detail))
		}
		if p.Backoff.After(s.Now) {
			fmt.Fprintf(w, "  waiting  no work requests before %s\n", words.Time(p.Backoff, s.Now))
		}
	}
}

// clockTime is a time of day in a sentence.
var clockTime = regexp.MustCompile(`\d:\d\d`)

// changes adds the end of a reason to its sentence, if it is known and not in the sentence itself.
func changes(sentence string, at, now time.Time) string {
	if !at.After(now) || clockTime.MatchString(sentence) {
		return ""
	}
	return fmt.Sprintf(" (until %s)", words.Time(at, now))
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
