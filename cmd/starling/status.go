package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

func statusCmd(o *options) *cobra.Command {
	return viewCmd(o, "status", "Show what the agent is doing, and why it is not doing more", func(w display, s control.Status) {
		if s.NotSaved != "" {
			fmt.Fprintln(w, w.paint(yellow, printable(s.NotSaved)))
			showCure(w, s.NotSavedCure)
		}
		showComplaints(w, s.Complaints)
		for _, x := range s.NoEffect {
			fmt.Fprintln(w, w.paint(yellow, phrase("Preferences: {text}", "text", x)))
		}
		showPresence(w, s.Presence)
		if r := s.Newer; r != nil {
			phraseln(w, "Starling {new} is available; you have {version}. See {url}", "new", r.Version, "version", s.Version, "url", r.URL)
		}
		if m := s.Manager; m != nil && m.Trouble != "" {
			fmt.Fprintln(w, w.paint(yellow, phrase("Account manager: {text}", "text", printable(m.Trouble))))
			showCure(w, m.TroubleCure)
		}
		if len(s.Projects) == 0 {
			phraseln(w, "No projects are attached. Choose one with: starling attach")
		}
		for _, p := range s.Projects {
			showProject(w, p, s.Notices)
		}
		showIdle(w, s.Projects)
		showDrain(w, s)
		if s.Compute != "" {
			fmt.Fprintln(w, phrase("Computing is suspended."), s.Compute)
			showCure(w, s.ComputeCure)
		}
		if s.Network != "" {
			fmt.Fprintln(w, phrase("Network activity is suspended."), s.Network)
			showCure(w, s.NetworkCure)
		}
		for _, p := range s.Powers {
			if p.Wrong {
				fmt.Fprintln(w, w.paint(yellow, phrase("Power: {text}", "text", printable(p.Text))))
			}
		}
		showDespite(w, computesDespite, s.ComputeDespite, "")
		showDespite(w, networkDespite, s.NetworkDespite, " --network")
		showTroubles(w, s.Transfers)
		running := 0
		for _, t := range s.Tasks {
			if t.Running {
				running++
			}
		}
		showLate(w, s.Tasks)
		processors := words.Count(s.CPUs, "CPU")
		for _, c := range s.Coprocs {
			processors = words.T("{some} and {others}", "some", processors, "others", c)
		}
		phraseln(w, "{tasks}, {n} running on {processors}, {transfers}.",
			"tasks", words.Count(len(s.Tasks), "task"), "n", running, "processors", processors, "transfers", words.Count(len(s.Transfers), "transfer"))
		for _, g := range s.GPUs {
			fmt.Fprintln(w, g.String()+".")
		}
		if s.Achieved != nil {
			fmt.Fprintln(w, achieved(*s.Achieved))
		}
		if s.Running {
			fmt.Fprintln(w, shutdown(time.Duration(s.Unsaved*float64(time.Second))))
		}
		if w.live {
			showProgress(w, s)
		}
	})
}

// showPresence prints whether the computer is in use.
func showPresence(w io.Writer, presence string) {
	if presence != "" {
		phraseln(w, "Your use of this computer: {presence}.", "presence", printable(presence))
	}
}

// showComplaints prints the faults of the files that people edit.
func showComplaints(w display, complaints []string) {
	for _, c := range complaints {
		fmt.Fprintln(w, w.paint(yellow, phrase("Settings: {text}", "text", printable(c))))
	}
}

// showIdle prints a line if no project may send work.
func showIdle(w display, projects []control.Project) {
	for _, p := range projects {
		if !p.NoMoreWork && !p.Suspended {
			return
		}
	}
	if len(projects) > 1 {
		fmt.Fprintln(w, w.paint(yellow, phrase("No new work is fetched: every project is suspended or set to fetch no more work. You can: starling resume PROJECT, starling allowmorework PROJECT")))
	}
}

// showTroubles prints the reasons why files are not moved, each cause once.
func showTroubles(w display, transfers []control.Xfer) {
	said := make(map[string]bool)
	for _, x := range transfers {
		text := x.Trouble
		switch {
		case x.Active && x.Silent > 0:
			silent := "The download of {file} has moved no data for {span}."
			if x.Upload {
				silent = "The upload of {file} has moved no data for {span}."
			}
			text = phrase(silent, "file", x.Name, "span", span(x.Silent))
		case x.Active:
			continue
		}
		if text == "" || said[text] {
			continue
		}
		said[text] = true
		if x.Trouble == text {
			waits := "The download of {file} has to wait. {why}"
			if x.Upload {
				waits = "The upload of {file} has to wait. {why}"
			}
			text = phrase(waits, "file", x.Name, "why", text)
		}
		fmt.Fprintln(w, w.paint(yellow, phrase("Transfers: {text}", "text", printable(text))))
		if cure := x.TroubleCure; cure != "" && !x.Active {
			showCure(w, cure)
		}
	}
}

// showLate names tasks that will miss their deadlines, the latest first.
func showLate(w display, tasks []control.Task) {
	var late []control.Task
	for _, t := range tasks {
		if t.Late > 0 {
			late = append(late, t)
		}
	}
	slices.SortStableFunc(late, func(a, b control.Task) int { return cmp.Compare(b.Late, a.Late) })
	for _, t := range late[:min(len(late), mostLate)] {
		text, _ := decide.Lateness(t.Name, time.Duration(t.Late*float64(time.Second)), t.Deadline, time.Now(), prefs.Bound{})
		fmt.Fprintln(w, w.paint(yellow, phrase("Task {task}: {late} You can: {cure}", "task", printable(t.Name), "late", text, "cure", printable(t.LateCure))))
	}
	if n := len(late) - mostLate; n > 0 {
		fmt.Fprintln(w, w.paint(yellow, phrase("{tasks} more will be late; to list them: starling tasks", "tasks", words.Count(n, "task"))))
	}
}

const mostLate = 3

// shutdown returns a sentence about the loss by a shutdown now.
func shutdown(unsaved time.Duration) string {
	if unsaved < time.Second {
		return phrase("It is safe to shut down now: no work would be lost.")
	}
	return phrase("It is safe to shut down now: at most {span} of computing would be lost, what tasks did since their last checkpoints.", "span", words.Span(unsaved))
}

// showProgress draws progress bars: of running tasks and of files being transferred.
func showProgress(w display, s control.Status) {
	t := table{columns: []column{{name: "", least: 12}, {}, {name: "", least: 8}}}
	for _, k := range s.Tasks {
		if k.Running {
			t.add(green, k.Name, bar(k.Fraction, 30), phrase("{span} remaining", "span", span(k.Remaining)))
		}
	}
	for _, x := range s.Transfers {
		if x.Active {
			t.add(plain, x.Name, bar(part(x), 30), direction(x))
		}
	}
	if len(t.rows) > 0 {
		t.show(w)
	}
}

func showProject(w display, p control.Project, notices []control.Notice) {
	fmt.Fprintln(w, w.paint(bold, name(p)))
	line := func(label, format string, args ...any) {
		fmt.Fprintf(w, "  %-13s %s\n", phrase(label), fmt.Sprintf(format, args...))
	}
	line("URL", "%s", p.MasterURL)
	if p.Manager != "" {
		line("manager", "%s", p.Manager)
	}
	if p.UserName != "" {
		line("account", "%s", phrase("{user}, credit {all} (this computer {here})", "user", p.UserName, "all", fmt.Sprintf("%.2f", p.UserCredit), "here", fmt.Sprintf("%.2f", p.HostCredit)))
	}
	if p.Own != nil {
		line("your own", "%s (app_info.xml)", printable(strings.Join(p.Own, ", ")))
	}
	line("tasks", "%d", p.Tasks)
	if p.Storage.Files > 0 {
		line("stored", "%s", stored(p.Storage))
	}
	if used := control.EnergyText(p.Energy); used != "" {
		line("energy", "%s", used)
	}
	for _, problem := range p.Storage.Problems {
		line("not stored", "%s", printable(problem))
	}
	switch {
	case p.Debt >= 60:
		line("owed", "%s", phrase("{span} of CPU time, for its resource share of {share}", "span", span(p.Debt), "share", p.Share))
	case p.Debt <= -60:
		line("ahead", "%s", phrase("{span} of CPU time, for its resource share of {share}", "span", span(-p.Debt), "share", p.Share))
	}
	if !p.LastContact.IsZero() {
		line("last contact", "%s", when(p.LastContact))
	}
	if p.Ending != "" {
		line("ending", "%s", p.Ending)
	}
	if p.Trouble != "" {
		fmt.Fprintln(w, w.paint(yellow, fmt.Sprintf("  %-13s %s", phrase("problem"), printable(p.Trouble)+since(p.TroubleSince))))
		line("you can", "%s", p.TroubleCure)
	}
	if x := p.Failing; x != nil {
		fmt.Fprintln(w, w.paint(yellow, fmt.Sprintf("  %-13s %s", phrase("tasks fail"), printable(x.Text))))
		for text := range strings.Lines(x.Stderr) {
			line("", "| %s", printable(strings.TrimSpace(text)))
		}
		line("you can", "%s", x.Cure)
	}
	if !p.NextContact.IsZero() {
		line("next contact", "%s", when(p.NextContact))
	}
	if p.Work != "" && (p.TroubleCode == "" || p.WorkCode != p.TroubleCode) { // otherwise the problem is the same
		line("work", "%s", printable(p.Work))
		if p.WorkCure != "" && p.Failing == nil {
			line("you can", "%s", p.WorkCure)
		}
	}
	for _, n := range p.Notices {
		if !strings.Contains(p.Trouble+p.Work, n) { // otherwise it is shown above
			line("message", "%s", n)
		}
	}
	showNews(line, notices, p.MasterURL, time.Now())
}

func projectsCmd(o *options) *cobra.Command {
	return viewCmd(o, "projects", "List the projects", func(w display, s control.Status) {
		t := table{columns: []column{{name: "PROJECT", least: 12}, {name: "URL", least: 16, extra: true}, {name: "SHARE"}, {name: "OWED"}, {name: "TASKS"}, {name: "CREDIT"}, {name: "STORED", extra: true}, {name: "WORK", least: 12, end: true}}}
		for _, p := range s.Projects {
			colour := plain
			if p.Trouble != "" {
				colour = yellow
			}
			t.add(colour, name(p), p.MasterURL, words.Float(p.Share), span(p.Debt), strconv.Itoa(p.Tasks), fmt.Sprintf("%.2f", p.UserCredit), stored(p.Storage), p.Work)
		}
		t.show(w)
		for _, p := range s.Projects {
			if p.Own != nil {
				phraseln(w, "{project}: tasks are computed with your own programs (app_info.xml): {programs}", "project", name(p), "programs", printable(strings.Join(p.Own, ", ")))
			}
		}
	})
}

func transfersCmd(o *options) *cobra.Command {
	return viewCmd(o, "transfers", "List file transfers", func(w display, s control.Status) {
		t := table{columns: []column{{name: "FILE", least: 16}, {name: "DIRECTION"}, {name: "BYTES"}, {name: "SIZE"}, {name: "STATE", least: 12, end: true}}}
		for _, x := range s.Transfers {
			st, colour := phrase("waiting"), plain
			switch {
			case x.Active:
				st, colour = phrase("active"), green
				if w.live {
					st = bar(part(x), 20)
				}
				switch {
				case x.Silent > 0:
					st, colour = phrase("no data for {span}", "span", span(x.Silent)), yellow
				case x.Remaining >= 60:
					st = phrase("{state}, {span} remaining at the speed that you allow ({key})", "state", st, "span", span(x.Remaining), "key", "max_bytes_sec_"+upOrDown(x))
				}
			case x.Trouble != "":
				st, colour = phrase("{trouble} Next try: {time}", "trouble", x.Trouble, "time", when(x.NextTry)), yellow
			}
			t.add(colour, x.Name, direction(x), strconv.FormatInt(x.Bytes, 10), strconv.FormatInt(x.Size, 10), st)
		}
		t.show(w)
		showCures(w, s.Transfers)
	})
}

// showCures prints the cures for transfers that fail, each cure once.
func showCures(w display, transfers []control.Xfer) {
	said := make(map[string]bool)
	for _, x := range transfers {
		if cure := x.TroubleCure; cure != "" && !said[cure] {
			said[cure] = true
			fmt.Fprintln(w, printable(x.Trouble), phrase("You can: {cure}", "cure", printable(cure)))
		}
	}
}

func upOrDown(x control.Xfer) string {
	if x.Upload {
		return "up"
	}
	return "down"
}

func direction(x control.Xfer) string {
	if x.Upload {
		return phrase("upload")
	}
	return phrase("download")
}

// part returns the moved fraction of a file, or 0 if its size is unknown.
func part(x control.Xfer) float64 {
	if x.Size <= 0 {
		return 0
	}
	return float64(x.Bytes) / float64(x.Size)
}

func name(p control.Project) string {
	if p.Name != "" {
		return p.Name
	}
	return p.MasterURL
}

// since returns the start of a state in parentheses, or "" if it has just begun.
func since(t time.Time) string {
	if t.IsZero() || time.Since(t) < time.Minute {
		return ""
	}
	return phrase(" (since {time})", "time", words.Time(t, time.Now()))
}

func when(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	}
	return local(words.Time(t, time.Now()))
}

// span returns a duration in words. It may be negative, for a project that owes.
func span(seconds float64) string {
	text := words.Span(time.Duration(seconds * float64(time.Second)))
	if seconds <= -0.5 {
		return "-" + text
	}
	return text
}
