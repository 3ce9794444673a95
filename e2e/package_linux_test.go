package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/testhost"
)

const (
	unitFile   = "/usr/lib/systemd/system/starling.service"
	systemData = "/var/lib/starling"
)

// buildPackage makes the agent's Debian package of a version.
func buildPackage(t *testing.T, ctx context.Context, version, dir string) string {
	t.Helper()
	cmd := exec.CommandContext(ctx, "../tools/packages/build", version, dir, "deb")
	cmd.Env = append(os.Environ(), "PACKAGES=starling", "PLATFORMS=linux/"+runtime.GOARCH, "TRIMPATH=") // compiled already
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return filepath.Join(dir, "starling_"+version+"_"+runtime.GOARCH+".deb")
}

// awaitStatus asks for the status inside until it is as wanted.
func (s *scratch) awaitStatus(what string, ok func(control.Status) bool) control.Status {
	s.t.Helper()
	for {
		var st control.Status
		out, err := s.try("", "starling", "status", "--json")
		if err == nil {
			err = json.Unmarshal([]byte(out), &st)
		}
		if err == nil && ok(st) {
			return st
		}
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("waiting for %s: %v: %s", what, err, out)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func fingerprint(t *testing.T, files ...string) (sum [32]byte) {
	t.Helper()
	h := sha256.New()
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		h.Write(b)
	}
	return [32]byte(h.Sum(nil))
}

// TestDebianPackage has dpkg install the agent, upgrade it while a task runs, and
// remove it. The task is finished by the new version and credited once; ordinary
// users steer the agent if they are in its group.
func TestDebianPackage(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	dir := t.TempDir()
	s := newScratch(t, ctx, dir)
	old, upgraded := buildPackage(t, ctx, "0.9.1", dir), buildPackage(t, ctx, "0.9.2", dir)
	system := []string{"/etc/passwd", "/etc/group", "/var/lib/dpkg/status"}
	before := fingerprint(t, system...)
	const exponent = 86243
	p := newProject(t, ctx)
	work(t, ctx, p, 1, exponent)
	serve(t, ctx, p)

	s.run("dpkg", "--purge", "starling") // should this computer have one
	s.run("dpkg", "--install", old)
	if b, err := os.ReadFile(s.root + unitFile); err != nil || string(b) != installer.Packaged.Unit() {
		t.Errorf("the unit is %q, %v", b, err)
	}
	for _, file := range []string{"/usr/share/man/man1/starling-attach.1.gz", "/usr/share/bash-completion/completions/starling", systemData + "/prefs.toml"} {
		if _, err := os.Stat(s.root + file); err != nil {
			t.Error(err)
		}
	}
	if out := s.run("starling", "--version"); !strings.Contains(out, "0.9.1") {
		t.Errorf("the version is %q", out)
	}
	if out, _ := s.try("", "starling", "status"); !strings.Contains(out, "no agent is running; start it with: sudo starling service start") {
		t.Errorf("without an agent: %q", out)
	}
	mine := "# mine\nncpus = 1\nno_priority_change = true\nallow_multiple_clients = true\ngui_rpc_port = 0\ndashboard_port = 0\n"
	prefs := "suspend_cpu_usage = 0\nrun_on_batteries = true\ndisk_interval = 1\n"
	for name, text := range map[string]string{"starling.toml": mine, "prefs.toml": prefs} {
		if err := os.WriteFile(filepath.Join(s.root, systemData, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	log := filepath.Join(dir, "agent.log")
	var agent *testhost.Process
	stop := func() {
		if agent != nil {
			if err := agent.Stop(time.Minute); err != nil {
				t.Error(err)
			}
			agent = nil
		}
	}
	t.Cleanup(func() {
		stop()
		showLog(t, log)
	})
	agent = s.service(unitFile, log)
	s.awaitStatus("the agent", func(st control.Status) bool { return st.Running && st.Version == "0.9.1" })

	// Who is in the group steers it, at once; who is not is told how to get in.
	s.run("useradd", "--create-home", "--user-group", "ada")
	if out, err := s.try("ada", "starling", "attach", p.URL, "--key", p.Key); err == nil || !strings.Contains(out, "members of the group starling") || !strings.Contains(out, "sudo usermod -aG starling ada") {
		t.Errorf("a user of no group: %v: %s", err, out)
	}
	s.run("usermod", "-aG", "starling", "ada")
	if out, err := s.try("ada", "starling", "attach", p.URL, "--key", p.Key); err != nil || !strings.Contains(out, "Attached to e2e as") {
		t.Errorf("attach by a member: %v: %s", err, out)
	}
	if out, err := s.try("ada", "starling", "status"); err != nil || !strings.Contains(out, p.URL) {
		t.Errorf("status for a member: %v: %s", err, out)
	}
	if out, err := s.try("ada", "sh", "-c", "cat "+systemData+"/accounts/* || head -c1 "+systemData+"/state.db"); err == nil {
		t.Errorf("members of the group read what they need not: %s", out)
	}

	// The agent works on through the upgrade, and the service's manager starts it anew.
	s.awaitStatus("a task with a checkpoint", func(st control.Status) bool {
		return len(st.Tasks) == 1 && st.Tasks[0].Running && st.Tasks[0].Fraction > 0
	})
	s.run("dpkg", "--install", upgraded)
	s.awaitStatus("the agent to work on", func(st control.Status) bool { return st.Version == "0.9.1" && len(st.Tasks) == 1 })
	stop()
	agent = s.service(unitFile, log)
	s.awaitStatus("the new version", func(st control.Status) bool { return st.Running && st.Version == "0.9.2" })
	creditedOnce(t, ctx, p, 1, exponent)
	if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), "resumed=true") {
		t.Errorf("the task did not go on from its checkpoint: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(s.root, systemData, "starling.toml")); err != nil || string(b) != mine {
		t.Errorf("settings after an upgrade: %q, %v", b, err)
	}
	stop()

	// Removal keeps what is the volunteer's, purging does not.
	s.run("dpkg", "--remove", "starling")
	if _, err := os.Stat(s.root + "/usr/bin/starling"); err == nil {
		t.Error("the program is left after removal")
	}
	if _, err := os.Stat(filepath.Join(s.root, systemData, "state.db")); err != nil {
		t.Error(err)
	}
	s.run("dpkg", "--install", upgraded)
	s.awaitStatus("what was known before removal", func(st control.Status) bool {
		return !st.Running && len(st.Projects) == 1 && st.Projects[0].Name == "e2e"
	})
	s.run("dpkg", "--purge", "starling")
	if _, err := os.Stat(s.root + systemData); err == nil {
		t.Error("data is left after purging")
	}
	if out, err := s.try("", "getent", "passwd", "starling"); err == nil {
		t.Errorf("the user is left after purging: %s", out)
	}
	if out, err := s.try("", "getent", "group", "starling"); err == nil {
		t.Errorf("the group is left after purging: %s", out)
	}
	if fingerprint(t, system...) != before {
		t.Error("the computer itself has changed")
	}
}
