package main

import (
	_ "embed"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/protocol"
)

// A knownProject is one that a newcomer may choose.
type knownProject struct {
	Name  string `toml:"name"`
	URL   string `toml:"url"`
	Area  string `toml:"area"`
	About string `toml:"about"` // a sentence
	First bool   `toml:"first"` // offered to a newcomer before the others
}

//go:embed known.toml
var knownFile []byte

// knownProjects returns the projects in known.toml.
func knownProjects() ([]knownProject, error) {
	var f struct {
		Projects []knownProject `toml:"project"`
	}
	_, err := tomlfile.Decode("known.toml", knownFile, &f)
	return f.Projects, err
}

// called returns the URL of the project that a person means by a word: by a URL, or the first
// letters of the name or URL of a known one.
func called(known []knownProject, word string) (string, error) {
	if strings.ContainsAny(word, "/:") {
		return settings.MasterURL(word)
	}
	var all []control.Project
	for _, k := range known {
		all = append(all, control.Project{Name: k.Name, MasterURL: k.URL})
	}
	p, err := pick(all, word)
	if u, errURL := protocol.CanonicalMasterURL(word); err != nil && errURL == nil {
		return u, nil // such as project.example
	}
	if err != nil {
		return "", fault("no project that Starling knows is called {name}; give its URL, as in https://project.example/", "name", strconv.Quote(word))
	}
	return p.MasterURL, nil
}

// offerKnown offers their addresses.
func offerKnown(_ *cobra.Command, args []string, _ string) (words []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		known, _ := knownProjects()
		for _, p := range known {
			words = append(words, cobra.CompletionWithDesc(p.URL, p.Name))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
