package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
)

// references are the files that people write, with every key in them.
var references = map[string]func() string{
	settings.File:      settings.Reference,
	settings.PrefsFile: prefs.Reference,
	"account.toml":     settings.AccountReference,
}

// schemas are their JSON Schemas, for editors.
var schemas = map[string]func() string{
	settings.File:      settings.Schema,
	settings.PrefsFile: prefs.Schema,
	"account.toml":     settings.AccountSchema,
}

func referenceCmd() *cobra.Command {
	return &cobra.Command{
		Use:       "reference starling.toml|prefs.toml|account.toml",
		Short:     "Print a configuration file that explains every key",
		Long:      "Print a configuration file with every key, its meaning, unit and default. starling.toml has the agent's settings, prefs.toml the computing preferences; account.toml stands for the files in accounts/.",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: slices.Sorted(maps.Keys(references)),
		RunE: func(cmd *cobra.Command, args []string) error {
			fmt.Fprint(cmd.OutOrStdout(), references[args[0]]())
			return nil
		},
	}
}
