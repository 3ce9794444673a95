// Package sheet writes the history as files that spreadsheets read: comma-separated values
// as RFC 4180 has them, with a header line, in UTF-8. It only writes, and asks neither the agent nor the network.
package sheet

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol/bxml"
)

// WriteTasks writes a line for each task. It only returns errors of out.
func WriteTasks(out io.Writer, tasks []control.HistoryTask) error {
	return write(out, taskColumns, tasks)
}

// WriteSpans writes a line for each span of the timeline. It only returns errors of out.
func WriteSpans(out io.Writer, spans []control.Span) error {
	return write(out, spanColumns, spans)
}

// A column is one of a file that spreadsheets read, named as in the JSON.
type column[T any] struct {
	name string
	cell func(T) string
}

var taskColumns = []column[control.HistoryTask]{
	{"name", func(k control.HistoryTask) string { return k.Name }},
	{"project", func(k control.HistoryTask) string { return k.Project }},
	{"project_name", func(k control.HistoryTask) string { return k.ProjectName }},
	{"workunit", func(k control.HistoryTask) string { return k.Workunit }},
	{"app", func(k control.HistoryTask) string { return k.App }},
	{"app_version", func(k control.HistoryTask) string { return strconv.Itoa(k.AppVersion) }},
	{"plan_class", func(k control.HistoryTask) string { return k.PlanClass }},
	{"outcome", func(k control.HistoryTask) string { return k.Outcome }},
	{"by", func(k control.HistoryTask) string { return k.By }},
	{"code", func(k control.HistoryTask) string { return k.Code }},
	{"exit", func(k control.HistoryTask) string { return k.Exit }},
	{"exit_status", func(k control.HistoryTask) string { return strconv.Itoa(k.ExitStatus) }},
	{"received", func(k control.HistoryTask) string { return timeCell(k.Received) }},
	{"started", func(k control.HistoryTask) string { return timeCell(k.Started) }},
	{"finished", func(k control.HistoryTask) string { return timeCell(k.Finished) }},
	{"reported", func(k control.HistoryTask) string { return timeCell(k.Reported) }},
	{"deadline", func(k control.HistoryTask) string { return timeCell(k.Deadline) }},
	{"late_seconds", func(k control.HistoryTask) string { return numberCell(k.Late) }},
	{"elapsed_seconds", func(k control.HistoryTask) string { return numberCell(k.Elapsed) }},
	{"cpu_seconds", func(k control.HistoryTask) string { return numberCell(k.CPUTime) }},
	{"peak_memory_bytes", func(k control.HistoryTask) string { return strconv.FormatInt(k.PeakMemory, 10) }},
	{"energy_wh", func(k control.HistoryTask) string { return knownCell(k.Wh) }},
	{"co2_grams", func(k control.HistoryTask) string { return knownCell(k.CO2) }},
	{"co2_of_wh", func(k control.HistoryTask) string { return knownCell(k.CO2Of) }},
	{"credit", func(k control.HistoryTask) string {
		if k.Credit == nil {
			return ""
		}
		return numberCell(*k.Credit)
	}},
	{"stderr", func(k control.HistoryTask) string { return k.Stderr }},
}

var spanColumns = []column[control.Span]{
	{"start", func(s control.Span) string { return timeCell(s.Start) }},
	{"end", func(s control.Span) string { return timeCell(s.End) }},
	{"seconds", func(s control.Span) string { return numberCell(s.End.Sub(s.Start).Seconds()) }},
	{"state", func(s control.Span) string { return s.State }},
	{"code", func(s control.Span) string { return s.Code }},
	{"why", func(s control.Span) string { return s.Why }},
}

func timeCell(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func numberCell(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// knownCell is empty if a number is not known, which is 0 then.
func knownCell(v float64) string {
	if v == 0 {
		return ""
	}
	return numberCell(v)
}

// write writes a header line and a line for each row, as RFC 4180 has it.
func write[T any](out io.Writer, columns []column[T], rows []T) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.name
	}
	_ = w.Write(line) // to memory
	for _, row := range rows {
		for i, c := range columns {
			line[i] = safe(c.cell(row))
		}
		_ = w.Write(line)
	}
	w.Flush()
	_, err := out.Write(b.Bytes())
	return err
}

// safe puts an apostrophe before a text that a spreadsheet would compute, since a project may have
// written it. Numbers are not affected, because none is below 0.
//
// Source: OWASP, CSV Injection.
func safe(text string) string {
	text = bxml.Printable(text, len(text))
	start := strings.TrimLeft(text, " \t\n")
	if start != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(start)[0]) {
		return "'" + text
	}
	return text
}
