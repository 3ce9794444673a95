package main

import (
	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
)

// urls offers the addresses of the projects that the agent is attached to.
func (o *options) urls(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return o.offer(cmd, args, func(s control.Status) (words []string) {
		for _, p := range s.Projects {
			words = append(words, cobra.CompletionWithDesc(p.MasterURL, name(p)))
		}
		return words
	})
}

// projectFlag offers the same for a flag.
func (o *options) projectFlag(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return o.urls(cmd, nil, "")
}

// results offers the names of the tasks that are here.
func (o *options) results(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return o.offer(cmd, args, func(s control.Status) (words []string) {
		for _, t := range s.Tasks {
			words = append(words, cobra.CompletionWithDesc(t.Name, t.State+" "+t.App))
		}
		return words
	})
}

// both offers projects and tasks.
func (o *options) both(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	urls, what := o.urls(cmd, args, typed)
	results, _ := o.results(cmd, args, typed)
	return append(urls, results...), what
}

// offer asks the agent, or its files, for the possible words of a first argument. If that fails, it
// offers nothing, since the shell shows no errors.
func (o *options) offer(cmd *cobra.Command, args []string, words func(control.Status) []string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || o.find(cmd) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := o.status(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return words(s), cobra.ShellCompDirectiveNoFileComp
}
