package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/installer"
)

// ownData marks commands that are about an agent of the user's own, whether one
// runs or not.
const ownData = "own data"

// find determines the data directory of a command. It is the named one, or else the user's. If no
// agent runs in the user's, it is the directory of the agent that serves the whole computer.
func (o *options) find(cmd *cobra.Command) error {
	if o.host != "" {
		return o.reachOut(cmd)
	}
	if o.data != "" {
		return nil
	}
	if o.data = os.Getenv("STARLING_DATA"); o.data != "" {
		return nil
	}
	own, shared := usersData(), installer.Packaged.DataDir
	o.data = own
	for c := cmd; c != nil; c = c.Parent() {
		if c.Annotations[ownData] != "" {
			return nil
		}
	}
	if runtime.GOOS != "linux" || own == shared || !errors.Is(control.NewClient(own).Reach(cmd.Context()), control.ErrNotRunning) {
		return nil
	}
	_, err := os.Stat(own)
	hasOwn := err == nil
	switch err := control.NewClient(shared).Reach(cmd.Context()); {
	case err == nil:
		o.data = shared
		if hasOwn {
			fmt.Fprintf(cmd.ErrOrStderr(), "starling: using the computer's agent, in %s; your own, in %s, is not running\n", shared, own)
		}
	case errors.Is(err, control.ErrForbidden) && !hasOwn:
		return err
	}
	return nil
}

// usersData returns the agent's default folder: the system's place for services if run as the
// administrator, else the user's.
func usersData() string {
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
		return installer.Packaged.DataDir
	}
	if d := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "starling")
	}
	return filepath.Join(home, ".local", "share", "starling")
}

// start returns how to start the agent of a command.
func (o *options) start() string {
	if runtime.GOOS == "windows" && o.data == usersData() && installer.Installed() {
		return phrase("start it with: starling service start, in a terminal that was opened with \"Run as administrator\"")
	} else if runtime.GOOS == "windows" {
		return phrase("start it with: starling run")
	}
	if o.data == installer.Packaged.DataDir && installer.Installed() {
		return phrase("start it with: sudo starling service start")
	}
	if installer.Installed() {
		return phrase("start your own with: starling run, or the computer's with: sudo starling service start")
	}
	return phrase("start it with: starling run")
}

// reached turns a client's error into what to do about it.
func (o *options) reached(err error) error {
	if errors.Is(err, control.ErrNotRunning) {
		return fault("no agent is running; {command}", "command", o.start())
	}
	return err
}
