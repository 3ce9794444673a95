package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/doctor"
	"github.com/starling-grid/starling/agent/gpus"
)

func doctorCmd(o *options) *cobra.Command {
	var verbose bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find problems and suggest fixes",
		Long:  "Find out why nothing is running and suggest a fix. doctor checks the data directory, this computer and the projects' servers; it changes nothing. If an agent is running, it makes the checks itself, with its own rights. The exit status is 1 if it finds a problem.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all []doctor.Finding
			switch err := o.client().Doctor(cmd.Context(), &all); {
			case errors.Is(err, control.ErrForbidden):
				return err
			case err != nil: // no agent, or one that does not answer: its files may have the reason
				all = doctor.Examine(cmd.Context(), o.data, gpus.Detector{}.Detect, nil)
			}
			wrong := 0
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, f := range all {
				if f.Grade == doctor.Wrong {
					wrong++
				}
				if o.json || f.Grade == doctor.Info && !verbose {
					continue
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", phrase(string(f.Grade)), phrase(f.Check), local(f.Text))
				if f.Fix.Is() {
					fmt.Fprintf(w, "\t\t→ %s\n", local(f.Fix))
				}
			}
			var err error
			if o.json {
				err = writeJSON(cmd.OutOrStdout(), doctorJSON{jsonVersion, all})
			}
			if err = errors.Join(err, w.Flush()); err == nil && wrong > 0 {
				err = fault("doctor: {wrong} of {all} checks found a problem", "wrong", wrong, "all", len(all))
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "also print what is for experts: what wakes the computer")
	return cmd
}
