package main

import (
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
				return writeJSON(cmd.OutOrStdout(), preferencesOf(p))
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(t, "PREFERENCE\tVALUE\tUNIT\tFROM\tMEANING")
			for _, k := range prefs.Keys() {
				fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", k.Name, k.Show(&p.Prefs), k.Unit, p.Origin[k.Name], k.About)
			}
			return t.Flush()
		},
	}
	show.Long = "Show each preference with its value and its origin.\n\nWith --json, print {\"version\": 1, \"preferences\": [{\"name\", \"value\", \"unit\", \"from\", \"default\", \"about\"}]}, with the names of " + settings.PrefsFile + "; a value is a number, true or false."
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

// A preference is one of those that prefs show --json prints.
type preference struct {
	Name    string `json:"name"`
	Value   any    `json:"value"` // a number, true or false
	Unit    string `json:"unit,omitempty"`
	From    string `json:"from"`
	Default any    `json:"default"`
	About   string `json:"about"`
}

// prefsJSON has the preferences in the form for scripts.
type prefsJSON struct {
	Version     int          `json:"version"`
	Preferences []preference `json:"preferences"`
}

func preferencesOf(p prefs.Effective) prefsJSON {
	out := prefsJSON{Version: jsonVersion}
	for _, k := range prefs.Keys() {
		value := func(v float64) any {
			if k.Bool() {
				return v != 0
			}
			return v
		}
		out.Preferences = append(out.Preferences, preference{k.Name, value(k.Get(&p.Prefs)), k.Unit, p.Origin[k.Name], value(k.Default), k.About})
	}
	return out
}
