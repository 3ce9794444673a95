package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/cli"
	"github.com/starling-grid/starling/server/project"
)

// docsCmd writes the files that packages contain in addition to the program.
func docsCmd() *cobra.Command {
	return cli.Docs(manual, func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "server.toml.json"), []byte(project.Schema()), 0o644) //nolint:gosec // for all to read
	})
}

// manual has the text in man pages about the whole program.
var manual = cli.Manual{
	Files: []cli.Entry{
		{Name: "DIR/server.toml", About: "The project's settings, each with its meaning."},
		{Name: "DIR/project.db", About: "The database, if server.toml does not name one of a PostgreSQL server."},
		{Name: "DIR/keys/", About: "The project's keys. Keep a backup of them in a safe place."},
		{Name: "DIR/download/, DIR/upload/", About: "Input and output files, if server.toml does not name a bucket."},
		{Name: "DIR/templates/", About: "Templates of workunits and results, APP_in and APP_out."},
		{Name: "DIR/results/", About: "Outcomes, as the copy assimilator stores them, by batch or by day (results_folders)."},
		{Name: "DIR/archive/", About: "Finished work that was moved out of the database."},
	},
	Environment: []cli.Entry{
		{Name: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY", About: "Keys of the bucket that server.toml names."},
	},
	Formats: []cli.Format{{Name: "server.toml", About: "settings of a Starling project", Reference: project.Reference}},
}
