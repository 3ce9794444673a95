package main

import (
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/tomlfile"
)

// A knownProject is one that a newcomer may choose.
type knownProject struct {
	Name  string `toml:"name"`
	URL   string `toml:"url"`
	Area  string `toml:"area"`
	About string `toml:"about"`
}

//go:embed known.toml
var knownFile []byte

// knownProjects are those in known.toml.
func knownProjects() ([]knownProject, error) {
	var f struct {
		Projects []knownProject `toml:"project"`
	}
	_, err := tomlfile.Decode("known.toml", knownFile, &f)
	return f.Projects, err
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
