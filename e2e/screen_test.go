package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
)

// A screen is a terminal in which a program runs, as a person sees it.
type screen struct {
	t      *testing.T
	ctx    context.Context
	socket string
	env    []string
}

// openScreen starts a program in a terminal of the given size. When the program ends, the screen
// stays unchanged.
func openScreen(t *testing.T, ctx context.Context, width, height int, program string, args ...string) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed; tools/install-test-deps installs it")
	}
	dir, err := os.MkdirTemp("", "tmux") //nolint:usetesting // the socket in it needs a short path
	must(t, err)
	s := &screen{t: t, ctx: ctx, socket: filepath.Join(dir, "s"), env: append(os.Environ(), "HOME="+dir, "TERM=screen-256color", "LC_ALL=C.UTF-8")}
	must(t, os.WriteFile(filepath.Join(dir, ".tmux.conf"), []byte("set -g remain-on-exit on\nset -g status off\n"), 0o600))
	t.Cleanup(func() {
		_ = exec.CommandContext(context.WithoutCancel(ctx), "tmux", "-S", s.socket, "kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	s.tmux(append([]string{"new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), program}, args...)...)
	return s
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.ctx, "tmux", append([]string{"-S", s.socket}, args...)...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// text returns the screen's text, with wrapped lines joined.
func (s *screen) text() string { return s.tmux("capture-pane", "-p", "-J", "-S", "-") }

// colours returns the screen's text with the escape sequences that color it.
func (s *screen) colours() string { return s.tmux("capture-pane", "-p", "-e") }

// until waits until the screen shows all of the texts.
func (s *screen) until(wants ...string) string {
	s.t.Helper()
	return s.wait(wants, func(text string) bool {
		for _, w := range wants {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
}

// ended waits until the program has ended, as reported by tmux. Output on the screen would not be
// reliable, since it may be lost when the program restores the screen.
func (s *screen) ended() {
	s.t.Helper()
	s.wait([]string{"the program's end"}, func(string) bool {
		return strings.TrimSpace(s.tmux("list-panes", "-F", "#{pane_dead}")) == "1"
	})
}

// typed types a line when the last line of the screen asks for it.
func (s *screen) typed(prompt, line string) {
	s.t.Helper()
	s.wait([]string{prompt}, func(text string) bool {
		text = strings.TrimRight(text, " \n")
		return strings.Contains(text[strings.LastIndexByte(text, '\n')+1:], prompt)
	})
	s.tmux("send-keys", "-l", line)
	s.tmux("send-keys", "Enter")
}

func (s *screen) wait(wants []string, ok func(text string) bool) (text string) {
	s.t.Helper()
	testwait.Try(s.t, s.t.Context(), fmt.Sprintf("%q", wants), func() error {
		if text = s.text(); !ok(text) {
			return fmt.Errorf("the screen shows\n%s", text)
		}
		return nil
	})
	return text
}
