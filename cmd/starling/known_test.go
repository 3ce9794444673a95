package main

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// TestKnownProjects checks that each can be attached to as it stands there, and
// fits its line.
func TestKnownProjects(t *testing.T) {
	known, err := knownProjects()
	if err != nil || len(known) == 0 {
		t.Fatalf("%d projects, %v", len(known), err)
	}
	seen, first := make(map[string]bool), make(map[string]string)
	for _, p := range known {
		u, err := protocol.CanonicalMasterURL(p.URL)
		if err != nil || u != p.URL || !strings.HasPrefix(u, "https://") || seen[u] {
			t.Errorf("%s: address %s (%s, %v)", p.Name, p.URL, u, err)
		}
		seen[u] = true
		if p.Name == "" || p.Area == "" || p.About == "" || len(p.Name) > 22 || len(p.Area) > 12 || len(p.About) > 90 || !strings.HasSuffix(p.About, ".") {
			t.Errorf("%s: does not fit its line: %+v", u, p)
		}
		if p.First {
			first[p.Area] = p.Name
		}
	}
	if len(first) != 3 {
		t.Errorf("a newcomer is offered %v, want three projects of different areas", first)
	}
}

func TestCalled(t *testing.T) {
	known := []knownProject{{Name: "Einstein@Home", URL: "https://einstein.phys.uwm.edu/"}, {Name: "PrimeGrid", URL: "https://www.primegrid.com/"}}
	for word, want := range map[string]string{
		"einstein":                  "https://einstein.phys.uwm.edu/",
		"https://project.example/x": "https://project.example/x/",
		"project.example":           "http://project.example/",
		"primegrid.com":             "https://www.primegrid.com/",
		"127.0.0.1:8080":            "http://127.0.0.1:8080/",
		"nonsense":                  "",
	} {
		if got, err := called(known, word); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", word, got, err)
		}
	}
}
