package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

func doctorCmd() *cobra.Command {
	var asJSON, mend, adopt bool
	cmd := &cobra.Command{
		Use:   "doctor DIR",
		Short: "Check that the project's records and files agree with each other",
		Long: "Check what must always hold of the project: that every workunit comes to its end, that credit adds up, that\n" +
			"the files of unfinished work are there and programs are signed, that the database is whole. It says what is\n" +
			"wrong and how to mend it, and changes nothing without --mend. It may run beside the server.\n\n" +
			"It also tells of unsent results that no computer active in the last 7 days can have, and why. That is\n" +
			"no fault of the records and does not change the exit status, which is 1 if something is wrong.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			open := project.Open
			if adopt {
				open = project.Adopt
			}
			return withOpened(cmd, args[0], open, func(ctx context.Context, p *project.Project) error {
				d := operate.Doctor(p)
				if mend {
					if err := d.Mend(ctx, time.Now()); err != nil {
						return err
					}
				}
				wrong, err := d.Examine(ctx)
				if err != nil {
					return err
				}
				advice, err := d.Advise(ctx, time.Now())
				if err != nil {
					return err
				}
				if asJSON {
					if err := printJSON(append(wrong, advice...)); err != nil {
						return err
					}
				} else {
					for _, v := range wrong {
						fmt.Printf("%v\n  to mend it: %s\n", v, v.Mend)
					}
					for _, v := range advice {
						fmt.Printf("%s\n  You can: %s.\n", v.Rows[0], v.Mend)
					}
				}
				if len(wrong) > 0 {
					return fmt.Errorf("rules that do not hold: %d", len(wrong))
				}
				if !asJSON && len(advice) == 0 {
					fmt.Println("all is well")
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&mend, "mend", false, "first mend what can be mended without loss")
	cmd.Flags().BoolVar(&adopt, "adopt", false, "first make the database that is there this project's own, though it is empty or another project's; one that is gone is made anew, without accounts and work")
	return cmd
}
