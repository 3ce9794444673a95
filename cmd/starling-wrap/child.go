package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/starling-grid/starling/boincapi"
	"github.com/starling-grid/starling/internal/script"
)

// A child is a program that was started.
type child struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed at its end
	cpu    time.Duration // highest value seen, since a process takes its time with it (guarded by the crew)
}

// whyNot returns the reason why a program was not started, if its file has one that err does not name.
func whyNot(program string, err error) error {
	if errors.Is(err, syscall.ENOEXEC) {
		return errors.New("it is not a program for this kind of computer, nor a script with an interpreter in its first line, such as #!/bin/sh")
	}
	e, ok := errors.AsType[*fs.PathError](err)
	if !ok || e.Path != program || !errors.Is(err, fs.ErrNotExist) {
		return err // its folder may be missing
	}
	f, opened := os.Open(program)
	if opened != nil {
		return err
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, script.Longest)) // empty if it cannot be read
	switch name := script.Interpreter(head); {
	case script.ForWindows(head):
		return errors.New("its lines end as on Windows, so that its interpreter is not found")
	case name == "":
		return errors.New("the loader that it names, a part of the C library, is not on this computer")
	default:
		return fmt.Errorf("its interpreter %s is not on this computer", name)
	}
}

// A crew is the programs that the wrapper has started. They are all paused and ended together. Its
// methods may be called at any time.
type crew struct {
	mu        sync.Mutex
	children  []*child
	suspended bool
}

// start runs a step's program.
func (c *crew) start(app *boincapi.App, st step) (*child, error) {
	program, err := st.program(app.Resolve, app.InitData())
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, st.args...)
	cmd.Dir, cmd.Env = st.dir, st.environment()
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	open := func(logical string, flags int) (*os.File, error) {
		path, err := app.Resolve(logical)
		if err != nil {
			return nil, err
		}
		return os.OpenFile(path, flags, 0o644) //nolint:gosec // the client may be another user
	}
	more := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	for _, x := range []struct {
		logical string
		flags   int
		use     func(*os.File)
	}{
		{st.stdin, os.O_RDONLY, func(f *os.File) { cmd.Stdin = f }},
		{st.stdout, more, func(f *os.File) { cmd.Stdout = f }},
		{st.stderr, more, func(f *os.File) { cmd.Stderr = f }},
	} {
		if x.logical == "" {
			continue
		}
		if st.fresh {
			x.flags = x.flags&^os.O_APPEND | os.O_TRUNC
		}
		f, err := open(x.logical, x.flags)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		x.use(f)
	}
	ownGroup(cmd)

	c.mu.Lock()
	defer c.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", st.application, whyNot(program, err))
	}
	k := &child{cmd: cmd, exited: make(chan struct{})}
	c.children = append(c.children, k)
	if c.suspended { // since we looked
		signalGroup(k.pid(), true)
	}
	go func() {
		_ = cmd.Wait()     // cmd.ProcessState has the result
		killGroup(k.pid()) // its children that are left
		close(k.exited)
	}()
	return k, nil
}

func (k *child) pid() int { return k.cmd.Process.Pid }

// runs reports whether it has not ended. The number of a process that has may be another's.
func (k *child) runs() bool {
	select {
	case <-k.exited:
		return false
	default:
		return true
	}
}

// kill ends a program with the processes that it has started.
func (k *child) kill() {
	if k.runs() {
		killGroup(k.pid())
		<-k.exited
	}
}

// suspend pauses the programs, or resumes them.
func (c *crew) suspend(v bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspended = v
	for _, k := range c.children {
		if k.runs() {
			signalGroup(k.pid(), v)
		}
	}
}

func (c *crew) isSuspended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.suspended
}

// kill ends all programs.
func (c *crew) kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.children {
		k.kill()
	}
}

// cpuTime returns the CPU time of all programs and their children, or less where the system does
// not count children.
func (c *crew) cpuTime() (sum time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.children {
		if k.runs() {
			k.cpu = max(k.cpu, groupCPUTime(k.pid()))
		} else {
			st := k.cmd.ProcessState
			k.cpu = max(k.cpu, st.UserTime()+st.SystemTime())
		}
		sum += k.cpu
	}
	return sum
}

// An ending describes how a program ended.
type ending struct {
	status  int
	killed  bool // from outside
	crashed bool
	text    string
}

// ended may be called after exited.
func (k *child) ended() ending {
	st := k.cmd.ProcessState
	e := ending{status: st.ExitCode(), text: st.String()}
	e.killed, e.crashed = signaled(st)
	return e
}
