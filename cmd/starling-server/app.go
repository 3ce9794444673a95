package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

// stopCmd returns the command that stops an application, or the one that starts it again.
func stopCmd(stop bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop DIR APP",
		Short: "Stop sending an application's work",
		Long: "Stop sending an application's work until app start. A running server applies that at once, and volunteers are\n" +
			"told that the application is stopped. Tasks in progress continue and their outcomes count; work can still be created.",
		Args: cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			use, err := operate.StopApp(ctx, p, args[1], stop)
			switch {
			case err != nil:
			case stop:
				fmt.Printf("%s is stopped: %s waiting, %s in progress. To send its work again: starling-server app start %s %s\n",
					args[1], words.Count(int(use.Unsent), "task"), words.Count(int(use.InProgress), "task"), args[0], args[1])
			default:
				fmt.Printf("%s is started: %s waiting\n", args[1], words.Count(int(use.Unsent), "task"))
			}
			return err
		}),
	}
	if !stop {
		cmd.Use, cmd.Short, cmd.Long = "start DIR APP", "Send the work of a stopped application again", ""
	}
	return cmd
}

func retryAppCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "retry DIR APP",
		Short: "Try again what an application's programs could not handle",
		Long: "Try again, after you have mended an application's validator, assimilator or trickle handler, what it could not\n" +
			"handle. A running server does it at once, instead of after the pause that follows each failure. app set does\n" +
			"the same if it changes one of them. For workunits that were given up, see work retry.",
		Args: cobra.ExactArgs(2),
		RunE: inProject(func(ctx context.Context, p *project.Project, args []string) error {
			n, err := operate.RetryApp(ctx, p, args[1], time.Now())
			if err == nil {
				fmt.Printf("the server tries again now what the programs of %s could not handle (to validate: %s)\n", args[1], words.Count(n, "workunit"))
			}
			return err
		}),
	}
}
