// Command starling is the volunteer's program: the agent, and the command line
// that steers it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/version"
)

func main() {
	sandbox.Main()
	wasmhost.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "starling: "+err.Error())
		os.Exit(1)
	}
}

// options are the flags of all commands.
type options struct {
	data string
	json bool
}

func root() *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:           "starling",
		Short:         "Lend this computer to science",
		Long:          "Starling runs scientific computations for the projects you choose, those of BOINC among them.\n\nStart with \"starling attach\", then \"starling run\".",
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return o.find(cmd) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.Help(); err != nil {
				return err
			}
			err := o.reached(control.NewClient(o.data).Reach(cmd.Context()))
			if err == nil {
				err = errors.New("an agent is running; see: starling status")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "\nNow: %v\n", err)
			return nil
		},
	}
	cmd.PersistentFlags().StringVar(&o.data, "data", "", "data directory (also STARLING_DATA; default: your own, or the computer's where a service runs)")
	cmd.AddCommand(runCmd(&o), attachCmd(&o), detachCmd(&o), statusCmd(&o), projectsCmd(&o), tasksCmd(&o), transfersCmd(&o), logCmd(&o))
	cmd.AddCommand(whyCmd(&o), taskCmd(&o), modeCmd(&o), prefsCmd(&o), managerCmd(&o), importCmd(&o), exportCmd(&o), serviceCmd(&o), doctorCmd(&o), dashboardCmd(&o), simulateCmd(), referenceCmd(), docsCmd())
	cmd.AddCommand(projectCmds(&o)...)
	return cmd
}
