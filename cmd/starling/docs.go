package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/logfile"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/cli"
	"github.com/starling-grid/starling/prefs"
)

// manual has the text in man pages about the whole program.
var manual = cli.Manual{
	Files: []cli.Entry{
		{Name: "/var/lib/starling", About: "Data directory of the service. An agent of your own uses ~/.local/share/starling. --data and STARLING_DATA name another."},
		{Name: settings.File, About: "In the data directory: settings of the agent, see starling.toml(5)."},
		{Name: settings.PrefsFile, About: "Computing preferences, see prefs.toml(5)."},
		{Name: "accounts/*.toml", About: "One file for each project, see account.toml(5)."},
		{Name: "*.override.toml, *_override.toml", About: "Changes made by commands and tools. They override the files above."},
		{Name: logfile.Name, About: "The log, if systemd does not run the agent."},
	},
	Environment: []cli.Entry{
		{Name: "STARLING_DATA", About: "The data directory, if --data does not name one."},
		{Name: "STARLING_RUN_DIR", About: "A folder that all agents of this computer share, to detect each other."},
		{Name: "HTTP_PROXY, HTTPS_PROXY, NO_PROXY", About: "Proxies, if starling.toml does not set one."},
		{Name: "NO_COLOR", About: "If set, output has no colors."},
		{Name: "VISUAL, EDITOR", About: "The editor of starling prefs edit."},
	},
	Formats: []cli.Format{
		{Name: settings.File, About: "settings of the starling agent", Reference: settings.Reference},
		{Name: settings.PrefsFile, About: "computing preferences of the starling agent", Reference: prefs.Reference},
		{Name: "account.toml", About: "a project that the starling agent is attached to", Reference: settings.AccountReference},
	},
}

// docsCmd writes the files that packages contain in addition to the program.
func docsCmd() *cobra.Command {
	return cli.Docs(manual, func(dir string) error {
		files := map[string]string{installer.Name + ".service": installer.Packaged.Unit(), installer.SliceName: installer.Packaged.Slice()}
		for name, text := range references {
			files[name] = text()
		}
		for name, text := range schemas {
			files[name+".json"] = text()
		}
		var errs []error
		for name, text := range files {
			errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) //nolint:gosec // for all to read
		}
		return errors.Join(errs...)
	})
}
