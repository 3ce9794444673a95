package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/prefs"
)

func prefsCmd(o *options) *cobra.Command {
	cmd := &cobra.Command{Use: "prefs", Short: "Show, change or check computing preferences"}
	show := &cobra.Command{
		Use:   "show",
		Short: "Show each preference with its value and its origin",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := o.client().Prefs(cmd.Context())
			if errors.Is(err, control.ErrNotRunning) {
				p, err = api.OfflinePrefs(o.data, version.Version)
			}
			if err != nil {
				return err
			}
			if o.json {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(p)
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "PREFERENCE\tVALUE\tUNIT\tFROM\tMEANING")
			for _, k := range prefs.Keys() {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", k.Name, k.Show(&p.Prefs), k.Unit, p.Origin[k.Name], k.About)
			}
			return t.Flush()
		},
	}
	show.Flags().BoolVar(&o.json, "json", false, "print JSON")
	check := &cobra.Command{
		Use:   "check",
		Short: "Check all files that you may edit, and report all errors at once",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := o.client().Check(cmd.Context()) // it may read files that this user may not
			if errors.Is(err, control.ErrNotRunning) {
				err = api.Check(o.data)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s, %s and the account files have no errors.\n", settings.File, settings.PrefsFile)
			return nil
		},
	}
	reference := &cobra.Command{
		Use:   "reference",
		Short: "Print a preference file that explains every key",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprint(cmd.OutOrStdout(), prefs.Reference())
			return nil
		},
	}
	cmd.AddCommand(anywhere(show, check, setPrefCmd(o), unsetPrefCmd(o), editPrefsCmd(o))...)
	cmd.AddCommand(reference)
	return cmd
}
