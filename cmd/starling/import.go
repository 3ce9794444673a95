package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/boincimport"
)

func importCmd(o *options) *cobra.Command {
	var only []string
	cmd := &cobra.Command{
		Use:   "import BOINC_DATA_DIR",
		Short: "Go on where a stopped BOINC client left off",
		Long: "Take over the projects, preferences, host identity, files and tasks of a BOINC client that is stopped; begun tasks go on from their last checkpoint. " +
			"Its folder, often /var/lib/boinc-client, is only read. The agent must not run meanwhile.",
		Args: cobra.ExactArgs(1),

		Annotations: map[string]string{ownData: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := boincimport.Import(args[0], o.data, only)
			if o.json && err == nil {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			for _, n := range r.Notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "Note: %s.\n", n)
			}
			for _, p := range r.Projects {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: computer %d, %d tasks, of which %d begun and %d finished\n", p.MasterURL, p.HostID, p.Results, p.Begun, p.Finished)
			}
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), "Do not start BOINC's client on these projects again: both would compute and report the same tasks.\nStart the agent with: starling run")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().StringSliceVar(&only, "only", nil, "master URLs of the projects to take over (default: all)")
	return cmd
}
