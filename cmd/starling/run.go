package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/starling-grid/starling/agent"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/state"
)

func runCmd(o *options) *cobra.Command {
	var whenIdle bool
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the agent in the foreground",
		Long:  "Run the agent in the foreground until it is interrupted. Applications are asked to stop and go on from their last checkpoint the next time.",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settings.Load(o.data)
			if err != nil {
				return err
			}
			var level slog.Level
			if err := level.UnmarshalText([]byte(s.LogLevel)); err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
			a, err := agent.New(agent.Config{DataDir: o.data, Log: log, ExitWhenIdle: whenIdle, Version: version})
			if errors.Is(err, state.ErrInUse) {
				return fmt.Errorf("an agent is already running in %s", o.data)
			} else if err != nil {
				return err
			}
			ctx, stop := context.WithCancel(context.Background()) // people may look until the very end
			defer stop()
			if err := control.Serve(ctx, o.data, a, log); err != nil {
				return errors.Join(err, a.Close())
			}
			return a.Run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&whenIdle, "exit-when-idle", false, "end when no project has work and everything is reported")
	return cmd
}
