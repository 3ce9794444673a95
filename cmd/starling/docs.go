package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/clidocs"
	"github.com/starling-grid/starling/prefs"
)

// docsCmd writes what packages hold beside the program.
func docsCmd() *cobra.Command {
	return clidocs.Command(func(dir string) error {
		var errs []error
		for name, text := range map[string]string{
			installer.Name + ".service": installer.Packaged.Unit(),
			"prefs.toml":                prefs.Reference(),
		} {
			errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) //nolint:gosec // for all to read
		}
		return errors.Join(errs...)
	})
}
