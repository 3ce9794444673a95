package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/boincexport"
)

func exportCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Export accounts, preferences and settings to BOINC's client",
		Long: "Write accounts, preferences and settings as files that BOINC's client reads when it starts. DIR is its data directory, often /var/lib/boinc-client, or a new folder.\n\n" +
			"Tasks are not exported; they stay with Starling. Stop the agent and BOINC's client first.",
		Example: "  starling export /var/lib/boinc-client",
		Args:    cobra.ExactArgs(1),

		Annotations: map[string]string{ownData: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := boincexport.Export(cmd.Context(), o.data, args[0])
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), exportJSON{jsonVersion, r})
			}
			for _, n := range r.Notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "Note: %s.\n", n)
			}
			for _, f := range r.Files {
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Start BOINC's client with %s; it must be able to read and write these files.\nDo not run the agent with these accounts at the same time; to use it again, detach these projects first.\n", args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}
