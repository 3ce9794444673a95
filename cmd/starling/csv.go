package main

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
)

// A csvColumn is one of a file that spreadsheets read, named as in the JSON.
type csvColumn[T any] struct {
	name string
	cell func(T) string
}

var taskColumns = []csvColumn[control.HistoryTask]{
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
	{"received", func(k control.HistoryTask) string { return csvTime(k.Received) }},
	{"started", func(k control.HistoryTask) string { return csvTime(k.Started) }},
	{"finished", func(k control.HistoryTask) string { return csvTime(k.Finished) }},
	{"reported", func(k control.HistoryTask) string { return csvTime(k.Reported) }},
	{"deadline", func(k control.HistoryTask) string { return csvTime(k.Deadline) }},
	{"late_seconds", func(k control.HistoryTask) string { return csvNumber(k.Late) }},
	{"elapsed_seconds", func(k control.HistoryTask) string { return csvNumber(k.Elapsed) }},
	{"cpu_seconds", func(k control.HistoryTask) string { return csvNumber(k.CPUTime) }},
	{"peak_memory_bytes", func(k control.HistoryTask) string { return strconv.FormatInt(k.PeakMemory, 10) }},
	{"credit", func(k control.HistoryTask) string {
		if k.Credit == nil {
			return ""
		}
		return csvNumber(*k.Credit)
	}},
	{"stderr", func(k control.HistoryTask) string { return k.Stderr }},
}

var spanColumns = []csvColumn[control.Span]{
	{"start", func(s control.Span) string { return csvTime(s.Start) }},
	{"end", func(s control.Span) string { return csvTime(s.End) }},
	{"seconds", func(s control.Span) string { return csvNumber(s.End.Sub(s.Start).Seconds()) }},
	{"state", func(s control.Span) string { return s.State }},
	{"code", func(s control.Span) string { return s.Code }},
	{"why", func(s control.Span) string { return s.Why }},
}

func csvTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func csvNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// writeCSV writes a header line and a line for each row, as RFC 4180 has it.
func writeCSV[T any](out io.Writer, columns []csvColumn[T], rows []T) error {
	if p, ok := out.(plainWriter); ok {
		out = p.under // it takes ends of lines for control characters; each cell is looked at here
	}
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
			line[i] = csvCell(c.cell(row))
		}
		_ = w.Write(line)
	}
	w.Flush()
	_, err := out.Write(b.Bytes())
	return err
}

// csvCell makes a cell harmless that a project may have written: what a spreadsheet would
// compute gets an apostrophe before it and is text. No number here is below 0.
//
// Source: OWASP, CSV Injection.
func csvCell(text string) string {
	text = printable(text)
	start := strings.TrimLeft(text, " \t\n")
	if start != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(start)[0]) {
		return "'" + text
	}
	return text
}
