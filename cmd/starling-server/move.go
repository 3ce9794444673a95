package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate/backup"
	"github.com/starling-grid/starling/server/project"
)

func moveCmd() *cobra.Command {
	var w backup.Where
	cmd := &cobra.Command{
		Use:   "move DIR",
		Short: "Move the project's database, its files or its address",
		Long: "Move the project's database, its files or its address. Stop its servers first: one running on this\n" +
			"computer is detected, others are not.\n\n" +
			"Everything is copied and compared before the settings change, so an interrupted move can be repeated.\n" +
			"The originals stay in place, unused, until you delete them. A former address is still answered.",
		Example: "  starling-server move myproject --db postgres://starling@db.example.org/myproject\n" +
			"  starling-server move myproject --files 's3://bucket/myproject?endpoint=s3.example.org'\n" +
			"  starling-server move myproject --url https://new.example.org/myproject/",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if w == (backup.Where{}) {
				return errors.New("move needs --db, --files or --url")
			}
			log, err := newLog(cmd)
			if err != nil {
				return err
			}
			m, err := backup.Move(cmd.Context(), args[0], w, log)
			if err != nil {
				return err
			}
			if m.OldFiles != "" {
				fmt.Printf("%s copied. The originals are still in %s.\n", words.Count(m.Files, "file"), m.OldFiles)
			}
			if m.OldDatabase != "" {
				fmt.Printf("Database copied, %d rows. The original is still in %s.\n", m.Rows, m.OldDatabase)
			}
			if m.OldMasterURL != "" {
				fmt.Printf("The address is changed. The former one, %s, is answered as well.\n", m.OldMasterURL)
			}
			if m == (backup.Moved{}) {
				fmt.Println("Nothing to move: nothing would change.")
				return nil
			}
			return withProject(cmd, args[0], func(context.Context, *project.Project) error { return nil }) // recorded
		},
	}
	f := cmd.Flags()
	f.StringVar(&w.Database, "db", "", "an empty PostgreSQL database, postgres://USER:PASSWORD@HOST/NAME, or \"local\" for SQLite in DIR")
	f.StringVar(&w.Files, "files", "", "a bucket, s3://BUCKET/PREFIX?endpoint=HOST:PORT, or \"local\" for folders in DIR")
	f.StringVar(&w.MasterURL, "url", "", "the address that volunteers attach to")
	return cmd
}
