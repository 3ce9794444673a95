// Command starling is the volunteer's program: the agent, and the command line
// that controls it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/cli"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/internal/words"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
)

func main() {
	sandbox.Main()
	wasmhost.Main()
	// To the very end, a second signal does not kill a process that is stopping.
	ctx, _ := signal.NotifyContext(context.Background(), stops()...)
	var o options
	if err := commands(&o).ExecuteContext(ctx); err != nil {
		err = o.explained(err)
		fmt.Fprintln(plainWriter{os.Stderr}, "starling: "+schedulerop.Text(err, time.Now()).In(spoken()))
		os.Exit(cli.Status(err))
	}
}

// stops returns the signals that stop a command in order. At the end of a session, systemd sends
// SIGHUP right after SIGTERM, which would otherwise kill an agent that is still stopping its tasks.
// nohup has SIGHUP ignored.
func stops() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}

// options are the flags of all commands.
type options struct {
	data  string
	json  bool
	host  string
	agent *control.Client // of another computer (nil: of this one)
}

// commands returns the program's commands. Their flags set o.
func commands(o *options) *cobra.Command {
	var code string
	cmd := &cobra.Command{
		Use:           "starling",
		Short:         "Contribute computing time to science",
		Long:          "Starling runs scientific computations for projects you choose, including BOINC projects.\n\nStart with \"starling attach\", then \"starling run\".",
		Version:       version.Version,
		SilenceUsage:  true,
		SilenceErrors: true,

		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if !o.json {
				cmd.SetContext(words.With(cmd.Context(), spoken()))
			}
			return o.find(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code != "" {
				return o.pair(cmd, code)
			}
			if err := cmd.Help(); err != nil {
				return err
			}
			err := o.reached(o.client().Reach(cmd.Context()))
			if err == nil {
				err = fault("an agent is running; to see what it is doing: starling status")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "\nNow: %s\n", local(sysfault.Text(err)))
			return nil
		},
	}
	cmd.SetOut(plainWriter{os.Stdout})
	cmd.SetErr(plainWriter{os.Stderr})
	cmd.PersistentFlags().StringVar(&o.data, "data", "", "data directory (also STARLING_DATA; default: your own, or the computer's if a service is running)")
	cmd.PersistentFlags().StringVar(&o.host, "host", "", "HOST or HOST:PORT of another computer whose agent to control; pair with it first, see: starling remote --help")
	cmd.Flags().StringVar(&code, "pair", "", "with --host: pair with that computer, using the code from starling remote pair there")
	cmd.AddCommand(anywhere(attachCmd(o), detachCmd(o), statusCmd(o), projectsCmd(o), tasksCmd(o), transfersCmd(o), logCmd(o), historyCmd(o), noticesCmd(o), whyCmd(o), taskCmd(o), modeCmd(o), drainCmd(o), shareCmd(o), managerCmd(o))...)
	cmd.AddCommand(anywhere(projectCmds(o)...)...)
	cmd.AddCommand(runCmd(o), sessionCmd(o), prefsCmd(o), remoteCmd(o), importCmd(o), exportCmd(o), serviceCmd(o), doctorCmd(o), dashboardCmd(o), simulateCmd(), referenceCmd(), docsCmd())
	cli.Strict(cmd)
	return cmd
}
