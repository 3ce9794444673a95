package executor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/boincapi"
	"github.com/starling-grid/starling/executor/sandbox"
)

// TestMain makes the test binary run as an application if its arguments ask for one.
func TestMain(m *testing.M) {
	sandbox.Main()
	if len(os.Args) > 2 && os.Args[1] == "application" {
		application(os.Args[2], os.Args[3:])
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each application takes a second to end under -race
	os.Exit(m.Run())
}

// exit ends an application. With os.Exit, a test with -cover would write about it to stderr.
func exit(status int) { syscall.Exit(status) }

func application(what string, args []string) {
	switch what {
	case "upper": // writes its input in capitals
		boincapi.Run(func(app *boincapi.App) error {
			in, _ := app.Resolve("in")
			out, _ := app.Resolve("out")
			text, err := os.ReadFile(in)
			if err != nil {
				return err
			}
			app.FractionDone(1)
			return os.WriteFile(out, bytes.ToUpper(text), 0o600)
		})
	case "count": // counts to 3 with one checkpoint a run, then waits until it is asked to exit
		boincapi.Run(func(app *boincapi.App) error {
			state, _ := os.ReadFile("state")
			fmt.Fprintf(os.Stderr, "starting with %q\n", state)
			if string(state) == "xxx" {
				out, _ := app.Resolve("out")
				return os.WriteFile(out, state, 0o600)
			}
			if err := os.WriteFile("state", append(state, 'x'), 0o600); err != nil {
				return err
			}
			burn()
			app.CheckpointCompleted()
			return wait(app)
		})
	case "hasty": // makes one checkpoint after another
		boincapi.Run(func(app *boincapi.App) error {
			for {
				burn()
				app.CheckpointCompleted()
				if err := app.Yield(); err != nil {
					return err
				}
			}
		})
	case "wait":
		boincapi.Run(func(app *boincapi.App) error {
			if err := os.WriteFile("working", nil, 0o600); err != nil {
				return err
			}
			return wait(app)
		})
	case "later":
		boincapi.Run(func(app *boincapi.App) error {
			app.TemporaryExit(time.Minute, "no GPU")
			return nil
		})
	case "fail":
		fmt.Fprintln(os.Stderr, "cannot compute")
		exit(3)
	case "crash":
		crash()
	case "leave": // premature exit
		exit(0)
	case "memory": // takes more and more memory
		for all := [][]byte(nil); len(all) < 500; time.Sleep(time.Millisecond) {
			all = append(all, bytes.Repeat([]byte("x"), 1<<20))
		}
		exit(1)
	case "environment":
		_ = os.WriteFile("out", []byte(strings.Join(os.Environ(), "\n")), 0o600)
		_ = os.WriteFile("boinc_finish_called", []byte("0\n"), 0o600)
		exit(0)
	case "plain": // uses BOINC's finish file, but not its runtime, and reports how it was started
		report := fmt.Sprintf("%q\n%s\n%s\n", args, os.Args[0], os.Getenv("LD_LIBRARY_PATH"))
		_ = os.WriteFile("out", []byte(report), 0o600)
		_ = os.WriteFile("boinc_finish_called", []byte("0\n"), 0o600)
		exit(0)
	case "hog": // computes on so many CPUs once its input ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		n, _ := strconv.Atoi(args[0])
		for range n - 1 {
			go spin()
		}
		spin()
	case "sleep":
		time.Sleep(1000 * time.Second)
	case "spin": // does not use BOINC's interface. It counts in a file, and so does its child.
		if len(args) == 0 {
			child := exec.Command(os.Args[0], "application", "spin", "child.ticks")
			if err := child.Start(); err != nil {
				exit(1)
			}
			args = []string{"ticks"}
		}
		for n := 0; ; n++ {
			_ = os.WriteFile(args[0]+".new", fmt.Append(nil, n), 0o600)
			_ = os.Rename(args[0]+".new", args[0])
			time.Sleep(time.Millisecond)
		}
	case "stubborn", "escape": // has a child that left the process group
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		if what == "escape" {
			child := exec.Command(os.Args[0], "application", "sleep")
			child.SysProcAttr = apart()
			if err := child.Start(); err != nil {
				exit(1)
			}
			_ = os.WriteFile("child.new", fmt.Append(nil, child.Process.Pid), 0o600)
			_ = os.Rename("child.new", "child")
		}
		_ = os.WriteFile("working", nil, 0o600)
		time.Sleep(time.Hour)
		exit(1)
	}
}

func spin() {
	for n := 0; ; n++ {
	}
}

func wait(app *boincapi.App) error {
	for {
		if err := app.Yield(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// install puts the test binary into a project's folder under this name.
func install(dir, name string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	err = os.Link(exe, filepath.Join(dir, name))
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil { // another file system
		b, err := os.ReadFile(exe)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), b, 0o700)
	}
	return nil
}
