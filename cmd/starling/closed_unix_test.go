//go:build unix

package main

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/state"
)

// TestFilesOfAnotherUser lets a user without rights ask about another user's agent that does not
// run.
func TestFilesOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be two users; what is said of another user's files is NOT tested")
	}
	nobody, err := user.Lookup("nobody")
	must(t, err)
	uid, _ := strconv.Atoi(nobody.Uid)
	gid, _ := strconv.Atoi(nobody.Gid)
	dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // t.TempDir lies in a folder that only root may enter
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, data := filepath.Join(dir, "starling"), filepath.Join(dir, "data")
	self, err := os.Executable()
	must(t, err)
	content, err := os.ReadFile(self)
	if err == nil {
		err = os.WriteFile(program, content, 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = os.Mkdir(data, 0o751)
	}
	must(t, err)
	db, err := state.Open(filepath.Join(data, "state.db"))
	if err == nil {
		err = db.Close()
	}
	must(t, err)
	for _, command := range []string{"status", "tasks", "why", "history", "log", "notices", "prefs show"} {
		cmd := exec.CommandContext(t.Context(), program, append(strings.Fields(command), "--data", data)...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "starling: permission denied: "+data+" belongs to another user; try again with sudo, or, if no agent is running, start") || strings.Contains(string(out), "open ") {
			t.Errorf("%s: %v: %s", command, err, out)
		}
	}
}
