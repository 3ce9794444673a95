package main

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
)

func TestStored(t *testing.T) {
	for want, s := range map[string]control.Storage{
		"-":                               {},
		"1 file, 5 bytes":                 {Files: 1, Bytes: 5},
		"2 files, 1.5 GB of at most 2 GB": {Files: 2, Bytes: 3 << 29, Limit: 2 << 30},
	} {
		if got := stored(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestExplainStored(t *testing.T) {
	p := control.Project{MasterURL: "http://p.example/", Name: "P", Storage: control.Storage{
		Files: 1, Bytes: 5, Problems: []string{"x: no room"},
		Removed: []control.RemovedFile{{Name: "old", Bytes: 7, At: time.Now(), Why: "first"}, {Name: "new", Bytes: 9, At: time.Now(), Why: "second\x1b[2J"}},
	}}
	other := p
	other.MasterURL = "http://q.example/"
	var b strings.Builder
	explainStored(&b, []control.Project{other, p}, "http://P.example")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	want := []string{"P stores 1 file, 5 bytes here.", "P: not stored or uploaded: x: no room.", "P: stored file new (9 bytes) was removed at ", "P: stored file old (7 bytes) was removed at "}
	if len(lines) != len(want) {
		t.Fatalf("got %q", lines)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) || strings.Contains(line, "\x1b") {
			t.Errorf("got %q, want %q", line, want[i])
		}
	}
}
