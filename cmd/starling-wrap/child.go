package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/starling-grid/starling/boincapi"
	"github.com/starling-grid/starling/protocol/appipc"
)

// programName is the plain program's open_name.
const programName = "starling_program"

// A child is the plain program. The zero value is one that was not started.
type child struct {
	exited chan struct{} // closed at its end

	mu        sync.Mutex
	cmd       *exec.Cmd
	suspended bool
	cpu       time.Duration // the most seen: a process takes its time with it
}

// start runs the program in the working directory.
func (c *child) start(app *boincapi.App, args []string) error {
	program, err := app.Resolve(programName)
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("the app version must have a file with open_name %s: %w", programName, err)
	}
	if filepath.Base(program) == program {
		program = "." + string(filepath.Separator) + program // it is no command to be searched for
	}
	name, err := app.Resolve(appipc.StdoutFile)
	if err != nil {
		return err
	}
	stdout, err := os.Create(name)
	if err != nil {
		return err
	}
	defer stdout.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = stdout, os.Stderr
	ownGroup(cmd)

	c.mu.Lock()
	defer c.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	c.cmd, c.exited = cmd, make(chan struct{})
	if c.suspended { // since we looked
		signalGroup(c.cmd.Process.Pid, true)
	}
	go func() {
		_ = cmd.Wait() // says no more than cmd.ProcessState
		close(c.exited)
	}()
	return nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// suspend pauses the program, or resumes it.
func (c *child) suspend(v bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspended = v
	if c.cmd != nil {
		signalGroup(c.cmd.Process.Pid, v)
	}
}

func (c *child) isSuspended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.suspended
}

func (c *child) kill() { killGroup(c.pid()) }

// cpuTime is that of the program and its children, as far as the system tells.
func (c *child) cpuTime() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cmd == nil {
		return 0
	}
	select {
	case <-c.exited:
		st := c.cmd.ProcessState
		c.cpu = max(c.cpu, st.UserTime()+st.SystemTime())
	default:
		c.cpu = max(c.cpu, groupCPUTime(c.cmd.Process.Pid))
	}
	return c.cpu
}

// An ending is how the program ended.
type ending struct {
	status  int
	killed  bool // from outside
	crashed bool
	text    string
}

// ended may be called after exited.
func (c *child) ended() ending {
	st := c.cmd.ProcessState
	e := ending{status: st.ExitCode(), text: st.String()}
	e.killed, e.crashed = signaled(st)
	return e
}
