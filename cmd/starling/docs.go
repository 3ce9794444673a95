package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/cli"
)

// docsCmd writes what packages hold beside the program.
func docsCmd() *cobra.Command {
	return cli.Docs(func(dir string) error {
		files := map[string]string{installer.Name + ".service": installer.Packaged.Unit()}
		for name, text := range references {
			files[name] = text()
		}
		var errs []error
		for name, text := range files {
			errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)) //nolint:gosec // for all to read
		}
		return errors.Join(errs...)
	})
}
