// Package testx11 gives a test a separate X server.
package testx11

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A Screen is a running X server.
type Screen struct {
	Display string // a value of $DISPLAY for programs that use Xlib, which also looks for a socket without a file
	Socket  string // a value of $DISPLAY for programs that use xgb, which takes the file of a socket that ends in a number
}

// Start runs Xvfb until the test ends. The test is skipped where Xvfb is missing, but fails if
// $CI is set. The server never has a socket in /tmp/.X11-unix, even for a moment: BOINC's client connects to
// every display that it finds there, takes input there for a person's, and ends when the display does.
func Start(t testing.TB) Screen {
	t.Helper()
	program, err := exec.LookPath("Xvfb")
	if err != nil {
		why := "Xvfb is not installed; tools/install-test-deps installs it"
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// A reset, when the last client leaves, would throw out the one that is just coming.
	cmd := exec.Command(program, "-displayfd", "3", "-nolisten", "tcp", "-nolisten", "unix", "-noreset", "-screen", "0", "1024x768x24")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); t.Failed() {
			t.Logf("Xvfb: %v: %s", err, &out)
		}
	})
	_ = w.Close()
	number, err := bufio.NewReader(r).ReadString('\n') // all of it: Xvfb dies if it cannot write
	if err != nil {
		t.Fatal("Xvfb: ", err)
	}
	number = strings.TrimSpace(number)
	socket := filepath.Join(t.TempDir(), "x11:"+number)
	forward(t, socket, "@/tmp/.X11-unix/X"+number)
	return Screen{Display: ":" + number, Socket: socket}
}

// forward passes connections to one socket on to another, until the test ends.
func forward(t testing.TB, from, to string) {
	l, err := net.Listen("unix", from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			out, err := net.Dial("unix", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					_ = way[0].Close()
				}()
			}
		}
	}()
}
