//go:build unix

package power

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/testwait"
)

// A program that is started every few minutes leaves no others behind, whether it ends or is ended.
func TestNothingIsLeftOfAProgram(t *testing.T) {
	for name, script := range map[string]string{
		"ends":       `sleep 1000 >/dev/null 2>&1 & echo $! >"$0"; echo 5`,
		"holds":      `sleep 1000 & echo $! >"$0"; echo 5`,
		"is stopped": `sleep 1000 & echo $! >"$0"; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = (&Reader{}).Read(ctx, settings.Power{Command: []string{"sh", "-c", script, file}})
			}()
			pid := 0
			testwait.Until(t, "the other program", func() bool {
				text, err := os.ReadFile(file)
				if err != nil {
					return false
				}
				pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
				return err == nil
			})
			if name == "is stopped" {
				cancel()
			}
			<-done
			testwait.Until(t, "the end of the other program", func() bool { return ended(pid) })
		})
	}
}

// ended reports whether a process has ended. It may wait for its parent.
func ended(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err == nil {
		return strings.Contains(string(text), ") Z ")
	}
	return syscall.Kill(pid, 0) != nil
}
