// Package testhost runs whole projects and agents as real processes on loopback, each in its own
// folder. The demo and the end-to-end tests use it.
//
// It starts programs that were built before, watches them and ends them by process id. It does not
// depend on their inner workings.
package testhost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/internal/testprogram"
)

// Programs that a project and its hosts consist of, by their names in a Bin.
const (
	Starling = "starling"
	Server   = "starling-server"
	Wrap     = "starling-wrap"
	Detect   = "starling-detect"
	Mersenne = "mersenne"
	Collatz  = "collatz"
	Demo     = "demo"
)

// Bin is a folder with the built programs.
type Bin string

// Path returns where a program is.
func (b Bin) Path(program string) string {
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	return filepath.Join(string(b), program)
}

// Build builds all programs into a folder.
func Build(ctx context.Context, dir string) (Bin, error) {
	return Bin(dir), testprogram.Build(ctx, dir, nil,
		"cmd/starling", "cmd/starling-server", "cmd/starling-detect", "cmd/starling-wrap", "cmd/demo", "examples/mersenne", "examples/collatz")
}

// Run runs a program to its end and returns its standard output. The error holds its standard
// error.
func (b Bin) Run(ctx context.Context, stdin io.Reader, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, b.Path(program), args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.String(), nil
}

// ports counts those that FreePort has looked at.
var ports atomic.Int64

// FreePort returns an unused TCP port on loopback, another one each time. The port is below 32768,
// where systems start to choose ports themselves, so that no outgoing connection takes it before it
// is used. Each process begins at a different port.
func FreePort() (int, error) {
	for range 100 {
		port := 10_000 + (251*os.Getpid()+int(ports.Add(1)))%20_000
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no free port found")
}

// A Process is a program that keeps running.
type Process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
	err  error
}

// Start starts a program and appends its output to the file log. The program gets a separate
// process group, so that a Ctrl-C in the terminal reaches only the caller, which then ends the
// program in order.
func Start(log, program string, args ...string) (*Process, error) {
	return StartWith(nil, log, program, args...)
}

// StartWith is Start with further variables of the environment.
func StartWith(env []string, log, program string, args ...string) (*Process, error) {
	f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	p := &Process{cmd: exec.Command(program, args...), log: f, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = f, f
	p.cmd.Env = append(os.Environ(), env...)
	detach(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	go func() {
		p.err = p.cmd.Wait()
		_ = f.Close()
		close(p.done)
	}()
	return p, nil
}

// PID returns the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until the process ends without being stopped, and returns its error.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Kill ends the process at once, as a power cut would.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Signal sends the process a signal and waits for its end.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return err
	}
	<-p.done
	return nil
}

// Grace is the time that a program has to end, and only one that hangs needs it all, however busy
// the computer is.
const Grace = 2 * time.Minute

// Stop asks the process to end, and kills it when it has not within grace.
func (p *Process) Stop(grace time.Duration) error {
	asked := interrupt(p.cmd.Process)
	select {
	case <-p.done:
	case <-time.After(grace):
		p.Kill()
		return fmt.Errorf("%s had to be killed after %v; its log is %s", filepath.Base(p.cmd.Path), grace, p.log.Name())
	}
	if !asked {
		return nil // killed, it could not end well
	}
	return p.err
}
