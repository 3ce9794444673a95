package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/state"
)

// frame is how often --watch draws.
const frame = time.Second

// viewCmd is a command that shows something of the running agent, or of its files
// when none runs.
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
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(s)
			}
			if !s.Running {
				fmt.Fprintln(cmd.ErrOrStderr(), "starling: no agent is running; "+o.start())
			}
			human(displayOn(cmd.OutOrStdout()), s)
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVarP(&watched, "watch", "w", false, "refresh the display until Ctrl-C, with progress bars")
	cmd.MarkFlagsMutuallyExclusive("json", "watch")
	return cmd
}

// What a terminal is told: another screen without a cursor and without breaking
// lines, and back again; a frame over the last one.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	firstLine   = "\x1b[H"
	clearLine   = "\x1b[K"
	clearRest   = "\x1b[J"
)

// watch draws on the terminal until ctx ends.
func watch(ctx context.Context, o *options, human func(display, control.Status)) error {
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		return errors.New("--watch needs a terminal; for output that programs can read, use --json")
	}
	fmt.Print(enterScreen)
	defer fmt.Print(leaveScreen)
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		d := displayOn(os.Stdout)
		d.live = true
		_, height, err := term.GetSize(int(os.Stdout.Fd()))
		if err != nil {
			return err
		}
		var text bytes.Buffer
		d.Writer = plainWriter{&text}
		s, err := o.status(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			fmt.Fprintln(d, err)
		case !s.Running:
			fmt.Fprintln(d, "No agent is running; "+o.start())
			fallthrough
		default:
			human(d, s)
		}
		lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
		if len(lines) > height {
			lines = append(lines[:height-1], fmt.Sprintf("… and %d more lines", len(lines)-height+1))
		}
		fmt.Print(firstLine + strings.Join(lines, clearLine+"\r\n") + clearLine + clearRest)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// status asks the agent, or its files when none runs.
func (o *options) status(ctx context.Context) (control.Status, error) {
	s, err := o.client().Status(ctx)
	if !errors.Is(err, control.ErrNotRunning) {
		return s, err
	}
	s, err = api.Offline(o.data, version.Version)
	if errors.Is(err, state.ErrInUse) {
		return s, fmt.Errorf("an agent is running in %s but does not respond", o.data)
	}
	return s, err
}
