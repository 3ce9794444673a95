package main

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
)

func TestPick(t *testing.T) {
	all := []control.Project{
		{Name: "Einstein@Home", MasterURL: "https://einstein.phys.example/"},
		{Name: "Asteroids@home", MasterURL: "https://asteroids.example/boinc/"},
		{Name: "PrimeGrid", MasterURL: "http://www.primegrid.example/"},
		{Name: "Prime", MasterURL: "https://prime.example/"},
		{MasterURL: "https://new.example/x/"}, // not in contact yet
	}
	for word, want := range map[string]string{
		"Einstein@Home":                   "https://einstein.phys.example/",
		"einstein":                        "https://einstein.phys.example/",
		"e":                               "https://einstein.phys.example/",
		"https://asteroids.example":       "https://asteroids.example/boinc/",
		"https://asteroids.example/boinc": "https://asteroids.example/boinc/",
		"asteroids.example":               "https://asteroids.example/boinc/",
		"primegrid.ex":                    "http://www.primegrid.example/",
		"prime":                           "https://prime.example/", // its whole name
		"primeg":                          "http://www.primegrid.example/",
		"new":                             "https://new.example/x/",
		"grid":                            "http://www.primegrid.example/",
		"pri":                             `"pri" may mean Prime or PrimeGrid; type more of its name`,
		"@home":                           `"@home" may mean Asteroids@home or Einstein@Home; type more of its name`,
		"rosetta":                         `no project is called "rosetta"; the projects are Asteroids@home, `,
		"":                                `no project is called ""`,
	} {
		p, err := pick(all, word)
		got := p.MasterURL
		if err != nil {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want)) {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
