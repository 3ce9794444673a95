package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
)

// shared is the number of tasks from which a common reason is shown below the table rather than
// next to each task.
const shared = 4

func tasksCmd(o *options) *cobra.Command {
	cmd := viewCmd(o, "tasks", "List the tasks on this computer", showTasks)
	cmd.Long = "List the tasks on this computer: running tasks first, then by project and name. A reason that many tasks share is printed once, below the table."
	return cmd
}

func showTasks(w display, s control.Status) {
	names := make(map[string]string)
	for _, p := range s.Projects {
		names[p.MasterURL] = name(p)
	}
	tasks := slices.Clone(s.Tasks)
	slices.SortStableFunc(tasks, func(a, b control.Task) int {
		return cmp.Or(first(a.Running, b.Running), natural(names[a.Project], names[b.Project]), natural(a.Name, b.Name))
	})
	notes := notesOf(tasks)
	t := table{columns: []column{
		{name: "TASK", least: 16},
		{name: "PROJECT", least: 8},
		{name: "APP", least: 8, extra: true},
		{name: "STATE"},
		{name: "PROGRESS"},
		{name: "ELAPSED", extra: true},
		{name: "REMAINING"},
		{name: "DEADLINE"},
		{name: "WHY", least: 8, end: true},
	}}
	for _, k := range tasks {
		st, colour, done := stateOf(k), plain, fmt.Sprintf("%.1f%%", 100*k.Fraction)
		if k.Running {
			colour = green
			if w.live {
				done = bar(k.Fraction, 12)
			}
		}
		if k.Late > 0 {
			colour = yellow
		}
		why := k.Why
		if i := slices.IndexFunc(notes, func(n note) bool { return n.why == why }); i >= 0 {
			why = fmt.Sprintf("[%d]", i+1)
		}
		t.add(colour, k.Name, names[k.Project], k.App, st, done, span(k.Elapsed), span(k.Remaining), when(k.Deadline), why)
	}
	t.show(w)
	for i, n := range notes {
		fmt.Fprintf(w, "[%d] %s\n", i+1, phrase("{tasks}: {why}", "tasks", words.Count(n.tasks, "task"), "why", printable(n.why)))
	}
}

// stateOf returns people's name for a task's state.
func stateOf(k control.Task) string {
	switch {
	case k.Ready && k.Failed:
		return phrase("failed")
	case k.Ready:
		return phrase("ready to report")
	case !k.AbortAt.IsZero():
		return phrase("to be aborted")
	case k.Running:
		return phrase("running")
	case k.Suspended:
		return phrase("suspended")
	case k.State != "downloaded":
		return phrase(k.State)
	case k.Elapsed > 0:
		return phrase("waiting to run")
	}
	return phrase("ready to start")
}

// A note is a reason that many tasks share.
type note struct {
	why   string
	tasks int
}

// notesOf returns the reasons that many tasks share, in the order of the tasks.
func notesOf(tasks []control.Task) (notes []note) {
	for _, k := range tasks {
		if i := slices.IndexFunc(notes, func(n note) bool { return n.why == k.Why }); i >= 0 {
			notes[i].tasks++
		} else if k.Why != "" {
			notes = append(notes, note{k.Why, 1})
		}
	}
	return slices.DeleteFunc(notes, func(n note) bool { return n.tasks < shared })
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// natural orders names as people count: p_2 before p_10.
func natural(a, b string) int {
	for a != "" && b != "" {
		x, restA := chunk(a)
		y, restB := chunk(b)
		order := strings.Compare(x, y)
		if digit(x[0]) && digit(y[0]) {
			m, n := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			order = cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n), order)
		}
		if order != 0 {
			return order
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// chunk returns the digits, or the non-digits, that a text starts with.
func chunk(s string) (start, rest string) {
	n := 1
	for n < len(s) && digit(s[n]) == digit(s[0]) {
		n++
	}
	return s[:n], s[n:]
}

func digit(b byte) bool { return b >= '0' && b <= '9' }
