package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

func banHostCmd(ban bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ban DIR ID …",
		Short: "Send no work to computers",
		Long: "Send no work to computers, by number (max_results_day is -1 then, as in BOINC). Their volunteers read that the\n" +
			"project has excluded the computer. Tasks that they have may still be reported and are credited if they are valid.",
		Args: cobra.MinimumNArgs(2),
	}
	if !ban {
		cmd.Use, cmd.Short, cmd.Long = "unban DIR ID …", "Send work to banned computers again", ""
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var ids []int64
		for _, a := range args[1:] {
			id, ok := number(a)
			if !ok {
				return errors.New(a + " is not a computer's number: see host list")
			}
			ids = append(ids, id)
		}
		return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
			if err := operate.ExcludeHosts(ctx, p, ids, ban); err != nil {
				return err
			}
			what := "banned"
			if !ban {
				what = "no longer banned"
			}
			fmt.Printf("%s %s\n", words.Count(len(ids), "computer"), what)
			return nil
		})
	}
	return cmd
}
