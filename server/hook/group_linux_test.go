package hook_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/server/hook"
)

// A program that fails leaves no others behind, which would compute next to the next run. One that
// exits with 0 has succeeded, whatever it leaves.
func TestProgramsOfAProgram(t *testing.T) {
	const child = `sleep 1000 & echo $! >pid; `
	for _, tt := range []struct {
		name, script string
		pool         *hook.Pool
		want         string // "": success
	}{
		{"accepts", child, nil, ""},
		{"answers", child + `echo '{"n": 1}'`, nil, ""},
		{"fails", strings.Replace(child, "&", ">/dev/null 2>&1 &", 1) + "exit 3", nil, "exit status 3"},
		{"hangs", child + "wait", nil, "it ran for more than 10s"},
		{"lines, ends", child + "read l; exit 3", new(hook.Pool), "it ended without an answer: EOF (stderr: the last word)"},
		{"lines, hangs", child + "read l; wait", new(hook.Pool), "it ran for more than 10s"},
		{"lines, does not read", child + "wait", new(hook.Pool), "it ran for more than 10s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := hook.Command{Args: []string{"sh", "-c", "echo the last word >&2; " + tt.script}, Dir: t.TempDir(), Timeout: testwait.Patience, Pool: tt.pool}
			if strings.Contains(tt.want, "10s") {
				c.Timeout = 10 * time.Second
			}
			var out any = new(counted)
			if tt.name == "accepts" {
				out = nil
			}
			err := c.Run(t.Context(), strings.Repeat("x", 1<<20), out)
			text, readErr := os.ReadFile(filepath.Join(c.Dir, "pid"))
			pid, convErr := strconv.Atoi(strings.TrimSpace(string(text)))
			if readErr != nil || convErr != nil {
				t.Fatal(readErr, convErr, err)
			}
			ended := func() bool {
				stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
				return err != nil || strings.Contains(string(stat), ") Z ")
			}
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				testwait.Until(t, "the end of the other program", ended)
				return
			}
			if err != nil || ended() {
				t.Errorf("got %v, the other program has ended: %t", err, ended())
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		})
	}
}
