package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

// TestWhyNamesPreferences checks that preferences are named: those that limit disk and memory, with
// the remedy for a task that lacks them, and those without effect here.
func TestWhyNamesPreferences(t *testing.T) {
	now := time.Now()
	p := prefs.Default()
	s := decide.Snapshot{
		Now: now, CPUs: 2, AllCPUs: 2, Memory: 1 << 30, Bound: p.MemoryBound(2<<30, true), Disk: p.DiskBound(100<<30, 50<<30, 0),
		NoEffect: []words.Text{words.Plain("max_cpu_temperature has no effect: no sensor.")},
		Projects: []decide.Project{{URL: "https://a.example/", Share: 100, Known: true}},
		Results:  []decide.Result{{ID: "w_0", Phase: decide.Runnable, Received: now, Deadline: now.Add(100 * time.Hour), Stated: time.Hour}},
	}
	s.Results[0].Memory = 2 << 30
	var out bytes.Buffer
	must(t, explain(&out, decide.Record{Snapshot: s, Plan: decide.Pass(s)}, ""))
	must(t, explain(&out, decide.Record{Snapshot: s, Plan: decide.Pass(s)}, "w_0"))
	for _, want := range []string{
		"Preferences: max_cpu_temperature has no effect: no sensor.\n",
		"with 1 GB of memory (ram_max_used_busy_pct = 50 while the computer is in use, of 2 GB).\n",
		"What limits disk space: disk_", "You can: Set ram_max_used_busy_pct higher.\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nhas no %q", out.String(), want)
		}
	}
}

// The text about a running task includes the cost of an interruption.
func TestWhyOfATaskSaysWhatIsUnsaved(t *testing.T) {
	for _, tt := range []struct {
		lost, elapsed time.Duration
		want          string
	}{
		{0, time.Hour, ""},
		{500 * time.Millisecond, 500 * time.Millisecond, ""},
		{time.Hour, time.Hour, "If it is interrupted now, it starts over: its program has not made a checkpoint."},
		{40 * time.Second, time.Hour, "If it is interrupted now, it loses the work since its last checkpoint, 40 s."},
	} {
		if got := restart(decide.Result{Lost: tt.lost, Elapsed: tt.elapsed}); got != tt.want {
			t.Errorf("%v of %v: got %q, want %q", tt.lost, tt.elapsed, got, tt.want)
		}
	}
}
