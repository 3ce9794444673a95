package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/internal/words"
)

func importCmd(o *options) *cobra.Command {
	var only []string
	cmd := &cobra.Command{
		Use:   "import BOINC_DATA_DIR",
		Short: "Import projects and tasks from a stopped BOINC client",
		Long: "Import the projects, preferences, settings, host identity, files and tasks of a stopped BOINC client. Running tasks resume from their last checkpoint.\n\n" +
			"BOINC_DATA_DIR, often /var/lib/boinc-client, is not changed. Stop BOINC's client and the agent first.",
		Example: "  starling import /var/lib/boinc-client\n  starling import /var/lib/boinc-client --only https://project.example/",
		Args:    cobra.ExactArgs(1),

		Annotations: map[string]string{ownData: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := boincimport.Import(cmd.Context(), args[0], o.data, only)
			if o.json && err == nil {
				return writeJSON(cmd.OutOrStdout(), importJSON{jsonVersion, r})
			}
			for _, n := range r.Notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "Note: %s.\n", n)
			}
			for _, p := range r.Projects {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: computer %d, %s (%d started, %d finished)\n", p.MasterURL, p.HostID, words.Count(p.Results, "task"), p.Begun, p.Finished)
			}
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "Do not run BOINC's client with these projects again: both would compute and report the same tasks.\nStart the agent with: starling run")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().StringSliceVar(&only, "only", nil, "master URLs of the projects to import (default: all)")
	return cmd
}
