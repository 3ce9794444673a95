package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/boincexport"
)

func exportCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write accounts and preferences for BOINC's client",
		Long: "Write accounts and preferences as files that BOINC's client reads at its start, to go back to it: into its data directory, often /var/lib/boinc-client, or a new folder. " +
			"Neither the agent nor BOINC's client may run meanwhile. Tasks stay with Starling.",
		Args: cobra.ExactArgs(1),

		Annotations: map[string]string{ownData: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := boincexport.Export(o.data, args[0])
			if err != nil {
				return err
			}
			if o.json {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
			}
			for _, n := range r.Notes {
				fmt.Fprintf(cmd.ErrOrStderr(), "Note: %s.\n", n)
			}
			for _, f := range r.Files {
				fmt.Fprintln(cmd.OutOrStdout(), f)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Start BOINC's client on %s; it must be able to read and change these files.\nDo not start the agent again on these accounts meanwhile, or detach it first.\n", args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}
