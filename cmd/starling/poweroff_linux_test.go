package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbus"
	"github.com/starling-grid/starling/internal/testwait"
)

// locking is a login manager that gives locks.
type locking chan *os.File

// Inhibit gives one.
func (l locking) Inhibit(_, _, _, _ string) (dbus.UnixFD, *dbus.Error) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	fd := f.Fd()
	l <- f
	return dbus.UnixFD(fd), nil
}

// startRun starts an agent in a terminal, with a bus that has logind, or none. ended waits for the
// agent's end and returns its log.
func startRun(t *testing.T, bus string, command ...string) (agent *os.Process, ended func() (log string)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // the socket in it needs a short path
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	data := filepath.Join(dir, "d")
	var log bytes.Buffer
	command = append(command, "starling", "run", "--gui-rpc-port", "0", "--dashboard-port", "0")
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "STARLING_DATA="+data, "STARLING_RUN_DIR="+dir, "DBUS_SYSTEM_BUS_ADDRESS="+bus, "NOTIFY_SOCKET=", "GORACE=atexit_sleep_ms=0")
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	testwait.Try(t, t.Context(), "the agent", func() error {
		_, err := control.NewClient(data).Status(t.Context())
		return err
	})
	return cmd.Process, func() string {
		if err := cmd.Wait(); err != nil {
			t.Errorf("the agent ended with: %v", err)
		}
		return log.String()
	}
}

func TestAShutdownStopsTheAgent(t *testing.T) {
	const name, path, manager = "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"
	bus, locks := testbus.Start(t), make(locking, 1)
	bus.Serve(name, path, manager, locks)
	_, ended := startRun(t, bus.Address)
	defer (<-locks).Close()
	bus.Emit(path, manager+".PrepareForShutdown", true)
	if log := ended(); !strings.Contains(log, "the computer is shutting down") || !strings.Contains(log, "agent stopping") {
		t.Errorf("log:\n%s", log)
	}
}

func TestTheEndOfATerminalStopsTheAgent(t *testing.T) {
	agent, ended := startRun(t, "unix:path=/nowhere")
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} { // as systemd does
		must(t, agent.Signal(s))
	}
	if log := ended(); !strings.Contains(log, "agent stopping") {
		t.Errorf("log:\n%s", log)
	}
}

func TestNohupKeepsTheAgentRunning(t *testing.T) {
	agent, ended := startRun(t, "unix:path=/nowhere", "nohup")
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", agent.Pid))
	must(t, err)
	_, mask, _ := strings.Cut(string(status), "SigIgn:\t")
	if ignored, err := strconv.ParseUint(mask[:16], 16, 64); err != nil || ignored&1 == 0 {
		t.Errorf("the agent does not ignore SIGHUP: %s, %v", mask[:16], err)
	}
	must(t, agent.Signal(os.Interrupt))
	ended()
}
