package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

func migrateCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate DIR",
		Short: "Bring the project's database up to date with this version of the program",
		Long: "Bring the project's database up to date with this version of the program.\n\n" +
			"\"serve\" does the same when it starts; all other commands refuse a database of another version. Stop the\n" +
			"servers of the project and make a backup first: only a backup leads back.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			log, err := newLog(cmd)
			if err != nil {
				return err
			}
			from, to, err := operate.Migrate(cmd.Context(), args[0], log)
			switch {
			case err != nil:
				return err
			case from == to:
				fmt.Printf("The database is up to date (version %d).\n", to)
			default:
				fmt.Printf("The database was brought from version %d to version %d.\n", from, to)
			}
			return withProject(cmd, args[0], func(context.Context, *project.Project) error { return nil }) // recorded
		},
	}
}
