package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

func stopCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "stop DIR APP",
		Short: "Stop sending an application's work",
		Long: "Stop sending an application's work until app start. A running server applies that at once, and volunteers are\n" +
			"told that the application is stopped. Tasks in progress continue and their outcomes count; work can still be created.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return stopApp(cmd, args, true) },
	}
}

func startCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "start DIR APP",
		Short: "Send the work of a stopped application again",
		Args:  cobra.ExactArgs(2),
		RunE:  func(cmd *cobra.Command, args []string) error { return stopApp(cmd, args, false) },
	}
}

func stopApp(cmd *cobra.Command, args []string, stop bool) error {
	return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
		use, err := operate.StopApp(ctx, p, args[1], stop)
		if err != nil {
			return err
		}
		if stop {
			fmt.Printf("%s is stopped: %s waiting, %s in progress. To send its work again: starling-server app start %s %s\n",
				args[1], words.Count(int(use.Unsent), "task"), words.Count(int(use.InProgress), "task"), args[0], args[1])
			return nil
		}
		fmt.Printf("%s is started: %s waiting\n", args[1], words.Count(int(use.Unsent), "task"))
		return nil
	})
}
