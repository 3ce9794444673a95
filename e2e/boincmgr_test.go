//go:build linux

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/internal/testx11"
)

// A manager is Debian's BOINC Manager on a separate screen, with simulated keyboard input. It
// controls our agent, whose log shows its calls.
type manager struct {
	t     *testing.T
	ctx   context.Context
	env   []string
	agent *testhost.Agent
	ended chan error // the error of the program that runs
	port  int
}

// deaths is the maximum number of times that the Manager may crash. Debian's (7.20.5) sometimes
// corrupts its memory when it closes the window that asks for patience, which it shows if an answer
// takes longer than a second or two.
const deaths = 3

// open starts the program. At the latest the end of the test ends it.
func (m manager) open() {
	program := exec.Command("boincmgr", "--no-daemon", "--datadir", m.agent.Dir, "--gui_rpc_port", fmt.Sprint(m.port))
	program.Env = m.env
	var out bytes.Buffer
	program.Stdout, program.Stderr = &out, &out
	if err := program.Start(); err != nil {
		m.t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		err := program.Wait()
		close(gone)
		m.ended <- fmt.Errorf("the Manager ended: %w: %s", err, &out)
	}()
	m.t.Cleanup(func() {
		_ = program.Process.Kill()
		<-gone
	})
}

// command runs a program that can see the screen.
func (m manager) command(name string, args ...string) string {
	cmd := exec.CommandContext(m.ctx, name, args...)
	cmd.Env = m.env
	out, _ := cmd.Output() // a closed window is not an error
	return strings.TrimSpace(string(out))
}

// window returns the newest window whose title matches, or "" if there is none.
func (m manager) window(title string) string {
	all := strings.Fields(m.command("xdotool", "search", "--onlyvisible", "--name", title))
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// agree answers Yes to the Manager's questions, and OK to its complaints about premature input.
func (m manager) agree() {
	for _, key := range []string{"alt+y", "Return"} {
		w := m.window(".")
		if _, height := m.size(w); height > 50 && height < 200 { // a wizard is larger
			m.command("xdotool", "windowfocus", "--sync", w, "key", key)
		}
	}
}

// size returns the size of a window.
func (m manager) size(window string) (width, height int) {
	_, geometry, _ := strings.Cut(m.command("xdotool", "getwindowgeometry", window), "Geometry: ")
	_, _ = fmt.Sscanf(geometry, "%dx%d", &width, &height)
	return width, height
}

// Titles of the Manager's windows.
const (
	mainWindow = "^BOINC Manager .*"
	dialog     = "^BOINC Manager$"
)

// typed is the prefix of keys that are typed as text. next is a click on a wizard's button, which
// does nothing while the wizard is busy, when keys would cancel it.
const (
	typed = "type:"
	next  = "next"
)

// does repeats keys in the newest window with a title until a condition holds, because input is
// lost while a window is not ready for it.
func (m manager) does(what, title string, keys []string, so func() bool) {
	m.t.Helper()
	for died := 0; ; {
		select {
		case err := <-m.ended:
			if died++; died > deaths {
				m.t.Fatalf("%s: %v", what, err)
			}
			m.t.Log(err)
			m.open()
		default:
		}
		m.agree()
		if w := m.window(title); w != "" && !so() {
			m.command("xdotool", "windowfocus", "--sync", w)
			for _, key := range keys {
				text, isText := strings.CutPrefix(key, typed)
				switch {
				case isText:
					m.command("xdotool", "type", text)
				case key == next:
					width, height := m.size(w)
					m.command("xdotool", "mousemove", "--window", w, fmt.Sprint(width-148), fmt.Sprint(height-28), "click", "1")
				default:
					m.command("xdotool", "key", key)
				}
			}
		}
		ctx, cancel := context.WithTimeout(m.ctx, 2*time.Second)
		err := testwait.Poll(ctx, func() error {
			if so() {
				return nil
			}
			return errors.New("it never happened")
		})
		cancel()
		if err == nil {
			return
		}
		if m.ctx.Err() != nil {
			m.picture("failed")
			m.t.Fatalf("%s: %v; the Manager asked for: %s", what, err, m.asked())
		}
	}
}

var asksFor = regexp.MustCompile(`"GUI RPC call".* call=(\w+)`)

// asked lists the calls that the Manager has made.
func (m manager) asked() (calls []string) {
	b, err := os.ReadFile(m.agent.Log())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, line := range asksFor.FindAllStringSubmatch(string(b), -1) {
		calls = append(calls, line[1])
	}
	return calls
}

// calls returns a function that reports whether the Manager has made a call since.
func (m manager) calls(name string) func() bool {
	count := func() (n int) {
		for _, c := range m.asked() {
			if c == name {
				n++
			}
		}
		return n
	}
	before := count()
	return func() bool { return count() > before }
}

// picture saves a picture of the screen, for docs/screenshots.
func (m manager) picture(name string) {
	if dir := os.Getenv(testbrowser.Screenshots); dir != "" {
		m.ctx = context.WithoutCancel(m.ctx)
		m.command("import", "-window", "root", "-trim", filepath.Join(dir, "manager-"+name+".png"))
	}
}

// newManager starts the Manager as described in the documentation.
func newManager(t *testing.T, ctx context.Context, a *testhost.Agent, port int) manager {
	t.Helper()
	dir := t.TempDir()
	m := manager{t, ctx, append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8", "DISPLAY="+testx11.Start(t).Display), a, make(chan error, deaths+2), port}
	m.open()
	return m
}

// TestManager attaches to a project in BOINC Manager, watches a task run, and suspends computing,
// in both of its views.
func TestManager(t *testing.T) {
	t.Parallel()
	needs(t, "boincmgr", "Xvfb", "xdotool")
	ctx := patience(t)
	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 1)
	serve(t, ctx, p)
	port := freePort(t)
	a := newAgentWith(t, "a", fmt.Sprintf("gui_rpc_port = %d\n[log_flags]\ngui_rpc_debug = true\n", port))
	must(t, a.Start())
	await(t, ctx, a, "the agent", func(control.Status) bool { return true })
	m := newManager(t, ctx, a, port)

	// It finds no project attached and offers to attach to one.
	m.does("choose a project", dialog, []string{"alt+u", "ctrl+a", typed + p.URL, next}, m.calls("get_project_config"))
	m.does("log in", dialog, []string{"alt+y", "alt+e", "ctrl+a", typed + testhost.Email, "Tab", "ctrl+a", typed + testhost.Password, next}, m.calls("lookup_account"))
	await(t, ctx, a, "a running task", func(s control.Status) bool {
		return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].Fraction > 0
	})
	m.does("finish", dialog, []string{next}, func() bool {
		return slices.Contains(m.asked(), "project_attach_poll") && m.window(dialog) == ""
	})
	m.picture("simple")

	m.does("look at the advanced view", mainWindow, []string{"ctrl+shift+a", "ctrl+shift+s"}, m.calls("get_statistics"))
	m.does("look at the disk", mainWindow, []string{"ctrl+shift+d"}, m.calls("get_disk_usage"))
	m.does("look at transfers", mainWindow, []string{"ctrl+shift+x"}, m.calls("get_file_transfers"))
	m.does("look at tasks", mainWindow, []string{"ctrl+shift+t"}, m.calls("get_results"))
	m.picture("advanced")
	mode := func(want string) func() bool {
		return func() bool {
			s, err := a.Status(ctx)
			return err == nil && s.RunMode == want
		}
	}
	m.does("suspend computing", mainWindow, []string{"Escape", "alt+a", "s"}, mode("never"))
	m.does("go on", mainWindow, []string{"Escape", "alt+a", "r"}, mode("always"))
	m.does("go back to the simple view", mainWindow, []string{"ctrl+shift+v"}, func() bool {
		width, height := m.size(m.window(mainWindow))
		return width < height
	})
}
