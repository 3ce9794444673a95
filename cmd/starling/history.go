package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/sheet"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// The default number of entries at the end of a table for people. Programs get all.
const (
	tasksShown    = 50
	timelineShown = 7 * 24 * time.Hour
)

// A historyView has the arguments of the command.
type historyView struct {
	o        *options
	since    string
	limit    int
	timeline bool
	csv      bool
	limited  bool // limit was given
}

func historyCmd(o *options) *cobra.Command {
	v := historyView{o: o}
	cmd := &cobra.Command{
		Use:   "history [PROJECT|TASK]",
		Short: "Show finished, failed and aborted tasks, or what the computer did when",
		Long: fmt.Sprintf(`Show the tasks that have ended on this computer, latest first: how they ended and who aborted them, whether they were late, their times, and when they were reported. With the name of a task, show everything known about it, with the last lines that its application wrote.

With --timeline, show when the computer was computing, waiting for tasks, suspended and why, or off, to the minute.

The history keeps the last %d tasks and a year of the timeline, as long as they fit into %d MB. BOINC's protocol reports credit per account and computer, not per task; see starling status.

Tables show the last %d tasks, or 7 days of the timeline; --since and --limit change that. --json and --csv print everything.

With --json, print {"version": %d, "tasks": [...]} or {"version": %[4]d, "spans": [...]}. Times are RFC 3339, durations are in seconds. --csv prints one line per task or span, with a header line; a cell that a spreadsheet would take for a formula starts with an apostrophe.`,
			state.MaxEnded, (state.MaxEndedBytes+state.MaxSpanBytes)>>20, tasksShown, jsonVersion),
		Example: "  starling history\n  starling history Einstein --since 30d --csv >einstein.csv\n  starling history task_17_0\n  starling history --timeline --since 1d",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.limited = cmd.Flags().Changed("limit")
			return v.run(cmd, args)
		},
		ValidArgsFunction: o.urls,
	}
	cmd.Flags().BoolVar(&v.timeline, "timeline", false, "show what the computer did instead of tasks")
	cmd.Flags().StringVar(&v.since, "since", "", "show only what ended since then: 12h, 7d, 4w, a date such as 2026-05-31, or an RFC 3339 time")
	cmd.Flags().IntVar(&v.limit, "limit", tasksShown, "show at most this many tasks or spans; 0 is all")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&v.csv, "csv", false, "print comma-separated values (RFC 4180)")
	cmd.MarkFlagsMutuallyExclusive("json", "csv")
	return cmd
}

func (v *historyView) run(cmd *cobra.Command, args []string) error {
	now := time.Now()
	since, err := sinceTime(v.since, now)
	if err != nil {
		return err
	}
	if v.limit < 0 {
		return fault("history: --limit {n} is negative", "n", v.limit)
	}
	tables := !v.csv && !v.o.json
	if !v.limited && (!tables || v.timeline || v.since != "") {
		v.limit = 0
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	if v.csv { // data, like JSON
		ctx = words.With(ctx, words.English)
	}
	if v.timeline {
		if len(args) > 0 {
			return fault("history: --timeline is of the computer, not of a project or task")
		}
		if tables && v.since == "" && !v.limited {
			since = now.Add(-timelineShown)
		}
		spans, err := v.spans(ctx, since)
		if err != nil {
			return err
		}
		switch {
		case v.csv:
			return sheet.WriteSpans(raw(out), spans)
		case v.o.json:
			return writeJSON(out, timelineJSON{jsonVersion, spans})
		}
		if len(spans) == 0 {
			fmt.Fprintln(out, "Nothing is known of that time.")
			return nil
		}
		on(out, func(d display) { showTimeline(d, spans, now) })
		return nil
	}
	q, one, err := v.query(ctx, args, since)
	if err != nil {
		return err
	}
	tasks, more, err := v.tasks(ctx, q, v.limit)
	if err != nil {
		return err
	}
	switch {
	case v.csv:
		return sheet.WriteTasks(raw(out), tasks)
	case v.o.json:
		return writeJSON(out, historyJSON{jsonVersion, tasks})
	case one:
		for _, k := range tasks {
			on(out, func(d display) { showEnded(d, k, now) })
		}
		return nil
	}
	if len(tasks) == 0 {
		fmt.Fprintln(out, "No tasks have ended"+map[bool]string{true: " since then", false: " yet"}[v.since != ""]+".")
		return nil
	}
	on(out, func(d display) { showHistory(d, tasks) })
	if more {
		all := cmd.CommandPath()
		if len(args) > 0 {
			all += " " + words.Shell(args[0])
		}
		fmt.Fprintf(out, "%s shown. To see all: %s --limit 0\n", words.Count(len(tasks), "task"), all)
	}
	return nil
}

// query returns the query for the task or the project that an argument names. one is set if it is a
// task.
func (v *historyView) query(ctx context.Context, args []string, since time.Time) (q control.HistoryQuery, one bool, err error) {
	q.Since = since
	if len(args) == 0 {
		return q, false, nil
	}
	word := args[0]
	if found, _, err := v.tasks(ctx, control.HistoryQuery{Task: word}, 1); err != nil {
		return q, false, err
	} else if len(found) > 0 {
		q.Task = word
		return q, true, nil
	}
	s, err := v.o.status(ctx)
	if err != nil {
		return q, false, err
	}
	for _, k := range s.Tasks {
		if k.Name == word {
			return q, false, fault("task {task} has not ended yet; to see it: starling tasks", "task", word)
		}
	}
	if u, err := protocol.CanonicalMasterURL(word); err == nil && strings.Contains(word, "/") {
		q.Project = u
		return q, false, nil
	}
	p, err := pick(s.Projects, word)
	if err != nil { // one that was detached, perhaps
		old, errOld := v.projects(ctx)
		if errOld != nil {
			return q, false, errOld
		}
		if p, err = pick(append(old, s.Projects...), word); err != nil {
			return q, false, words.Explain(err, words.T("no task of that name is in the history, and {why}", "why", sysfault.Text(err)))
		}
	}
	q.Project = p.MasterURL
	return q, false, nil
}

// projects returns the projects of tasks in the history that the agent is no longer attached to.
func (v *historyView) projects(ctx context.Context) (all []control.Project, err error) {
	s, err := v.o.status(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool)
	for _, p := range s.Projects {
		known[p.MasterURL] = true
	}
	tasks, _, err := v.tasks(ctx, control.HistoryQuery{}, 0)
	for _, k := range tasks {
		if !known[k.Project] {
			known[k.Project] = true
			all = append(all, control.Project{MasterURL: k.Project, Name: k.ProjectName})
		}
	}
	return all, err
}

// tasks gets up to limit tasks, page by page (0 for all). It reports whether there may be more.
func (v *historyView) tasks(ctx context.Context, q control.HistoryQuery, limit int) (all []control.HistoryTask, more bool, err error) {
	all = []control.HistoryTask{}
	for {
		if limit > 0 {
			q.Limit = limit - len(all)
		}
		h, err := v.o.client().History(ctx, q)
		if errors.Is(err, control.ErrNotRunning) {
			h, err = api.OfflineHistory(ctx, v.o.data, q)
		}
		if err != nil {
			return nil, false, v.o.unresponsive(err)
		}
		all = append(all, h.Tasks...)
		q.Before = h.Next
		if h.Next == 0 || limit > 0 && len(all) >= limit {
			return all, h.Next > 0, nil
		}
	}
}

// spans gets the timeline, likewise.
func (v *historyView) spans(ctx context.Context, since time.Time) (all []control.Span, err error) {
	all = []control.Span{}
	q := control.HistoryQuery{Since: since}
	for {
		if v.limit > 0 {
			q.Limit = v.limit - len(all)
		}
		t, err := v.o.client().Timeline(ctx, q)
		if errors.Is(err, control.ErrNotRunning) {
			t, err = api.OfflineTimeline(ctx, v.o.data, q)
		}
		if err != nil {
			return nil, v.o.unresponsive(err)
		}
		all = append(all, t.Spans...)
		q.Before = t.Next
		if t.Next == 0 || v.limit > 0 && len(all) >= v.limit {
			return all, nil
		}
	}
}

// unresponsive returns the error about an agent that has locked its files and does not answer.
func (o *options) unresponsive(err error) error {
	if errors.Is(err, state.ErrInUse) {
		return control.Unresponsive(o.data)
	}
	return err
}

// sinceTime reads a time or how long ago it was. It returns zero for "".
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for unit, d := range map[string]time.Duration{"min": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			if n, err := strconv.ParseFloat(number, 64); err == nil && n >= 0 && n < 1e5 {
				return now.Add(-time.Duration(n * float64(d))), nil
			}
		}
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Time{}, fault("--since {time} is not a time; write for example 12h, 7d, 4w, 2026-05-31 or 2026-05-31T08:00:00Z", "time", strconv.Quote(text))
}
