package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/state"
)

// viewCmd returns a command that shows data of the running agent, or of its files if none runs.
func viewCmd(o *options, name, short string, human func(display, control.Status)) *cobra.Command {
	var watched bool
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watched {
				return watch(cmd.Context(), o, human)
			}
			s, err := o.status(cmd.Context())
			if err != nil {
				return err
			}
			if o.json {
				return writeJSON(cmd.OutOrStdout(), statusJSON{jsonVersion, s})
			}
			if !s.Running {
				fmt.Fprintln(cmd.ErrOrStderr(), phrase("starling: no agent is running; {command}", "command", o.start()))
			}
			on(cmd.OutOrStdout(), func(d display) { human(d, s) })
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&watched, "watch", "w", false, "refresh the display until you press q, with progress bars; arrow keys scroll")
	cmd.MarkFlagsMutuallyExclusive("json", "watch")
	return cmd
}

// status asks the agent, or reads its files if none runs.
func (o *options) status(ctx context.Context) (control.Status, error) {
	s, err := o.client().Status(ctx)
	if !errors.Is(err, control.ErrNotRunning) {
		return s, err
	}
	s, err = api.Offline(ctx, o.data, version.Version)
	if errors.Is(err, state.ErrInUse) {
		return s, control.Unresponsive(o.data)
	}
	return s, err
}
