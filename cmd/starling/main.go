// Command starling is the volunteer's program: the agent, and the command line
// that steers it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/executor/sandbox"
)

// version is set by the release build.
var version = "0.1.0-dev"

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
		Long:          "Starling runs scientific computations for the projects you choose, those of BOINC among them.\n\nStart with \"starling attach URL --email YOU\", then \"starling run\".",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.PersistentFlags().StringVar(&o.data, "data", defaultData(), "data directory (also STARLING_DATA)")
	cmd.AddCommand(runCmd(&o), attachCmd(&o), detachCmd(&o), statusCmd(&o), projectsCmd(&o), tasksCmd(&o), transfersCmd(&o))
	cmd.AddCommand(whyCmd(&o), taskCmd(&o), modeCmd(&o), prefsCmd(&o), importCmd(&o), serviceCmd(&o), doctorCmd(&o), dashboardCmd(&o), simulateCmd())
	cmd.AddCommand(projectCmds(&o)...)
	return cmd
}

// defaultData is where the agent keeps its files unless told otherwise: the
// system's place for services when run as the administrator, else the user's.
func defaultData() string {
	if d := os.Getenv("STARLING_DATA"); d != "" {
		return d
	}
	home, _ := os.UserHomeDir()
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(os.Getenv("ProgramData"), "Starling")
	case "darwin":
		if os.Geteuid() == 0 {
			return "/Library/Application Support/Starling"
		}
		return filepath.Join(home, "Library", "Application Support", "Starling")
	}
	if os.Geteuid() == 0 {
		return "/var/lib/starling"
	}
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "starling")
	}
	return filepath.Join(home, ".local", "share", "starling")
}

var errNoAgent = errors.New("no agent is running; start it with: starling run")
