package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
)

// TestWatch checks the live views on a narrow terminal while a task runs.
func TestWatch(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 1)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "a running task", func(s control.Status) bool {
		return len(s.Tasks) == 1 && s.Tasks[0].Running && s.Tasks[0].Fraction > 0.01
	})
	starling := []string{bin.Path(testhost.Starling), "--data", a.Dir}
	if _, err := a.Run(ctx, "tasks", "-w"); err == nil || !strings.Contains(err.Error(), "--watch needs a terminal") {
		t.Errorf("without a terminal: %v", err)
	}

	s := openScreen(t, ctx, 90, 20, starling[0], append(starling[1:], "tasks", "-w")...)
	s.until(lasting+"_0", "running", "[")
	progress := regexp.MustCompile(`\[=*>? *\] +(\d+) %`)
	first := progress.FindString(s.text())
	s.wait([]string{"a bar that moves"}, func(text string) bool {
		now := progress.FindString(text)
		return now != "" && now != first
	})
	if !strings.Contains(s.colours(), "\x1b[32m") {
		t.Errorf("a task that runs is not green:\n%q", s.colours())
	}
	for line := range strings.Lines(s.tmux("capture-pane", "-p")) {
		if n := len([]rune(strings.TrimRight(line, " \n"))); n > 90 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	s.tmux("send-keys", "C-c")
	s.ended()
	s.wait([]string{"the screen as it was before"}, func(text string) bool { return !strings.Contains(text, lasting+"_0") })

	s = openScreen(t, ctx, 90, 20, "/usr/bin/env", append(append([]string{"NO_COLOR=1"}, starling...), "status", "-w")...)
	s.until(lasting+"_0", "remaining", "1 running on 1 CPU")
	if strings.Contains(s.colours(), "\x1b[3") {
		t.Errorf("colours in spite of NO_COLOR:\n%q", s.colours())
	}

	// A window that is too small scrolls, and nothing is cut off.
	s = openScreen(t, ctx, 60, 8, starling[0], append(starling[1:], "status", "-w")...)
	s.until("lines 1 to 7 of", "q quits")
	s.tmux("send-keys", "G")
	s.until(lasting+"_0", "remaining")
	s.tmux("send-keys", "g")
	s.until("lines 1 to 7 of")
	s.tmux("send-keys", "q")
	s.ended()
}
