package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
)

// rpms makes the packages of both programs for rpm, in two versions.
func rpms(t *testing.T) (old, upgrade []string) {
	t.Helper()
	dir := filepath.Join(string(bin), "rpms")
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	for _, version := range []string{"0.9.1", "0.9.2"} {
		cmd := exec.Command("../tools/packages/build", version, dir, "rpm")
		cmd.Env = append(os.Environ(), "PLATFORMS=linux/"+runtime.GOARCH, "TRIMPATH=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
		files := []string{filepath.Join(dir, "starling-"+version+"-1."+arch+".rpm"), filepath.Join(dir, "starling-server-"+version+"-1."+arch+".rpm")}
		old, upgrade = upgrade, files
	}
	return old, upgrade
}

// TestRPM has rpm install, upgrade and remove both packages, with systemd. In an upgrade the new version's
// scriptlets run before the old version's. Services run on with the new programs, and data, settings and
// users stay, even after removal.
func TestRPM(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_PACKAGES", "test-packages")
	needs(t, "rpm")
	old, upgrade := rpms(t)
	ctx := patience(t)
	s := bootScratch(t, ctx, string(bin))
	t.Cleanup(func() {
		if t.Failed() {
			late, cancel := context.WithTimeout(context.Background(), 20*time.Second) // the test's may have ended
			defer cancel()
			s.ctx = late
			out, _ := s.try("", "journalctl", "--no-pager", "--lines=60")
			t.Log(out)
		}
	})
	rpm := func(args ...string) string {
		t.Helper()
		return s.run(append([]string{"rpm", "--nodeps"}, args...)...) // the system's own packages are not rpm's
	}
	show := func(property, unit string) string {
		return strings.TrimSpace(s.run("systemctl", "show", "--property="+property, "--value", unit))
	}
	// verify checks that all files are as packaged, except for those that were edited.
	verify := func(when, edited string) {
		t.Helper()
		for _, name := range []string{"starling", "starling-server"} {
			out, _ := s.try("", "rpm", "--verify", "--nodeps", name)
			for line := range strings.Lines(out) {
				if edited == "" || !strings.Contains(line, edited) {
					t.Errorf("%s: rpm -V: %s", when, line)
				}
			}
		}
	}
	const settings, autostart, project = "# mine\nncpus = 1\nallow_multiple_clients = true\ngui_rpc_port = 0\ndashboard_port = 0\n", "/etc/xdg/autostart/starling-session.desktop", serverData + "/demo"
	stays := func(when string) {
		t.Helper()
		for file, want := range map[string]string{systemData + "/starling.toml": settings, autostart: "# mine\n", project + "/server.toml": "long_name"} {
			b, err := os.ReadFile(s.root + file)
			if err != nil && file == autostart {
				b, err = os.ReadFile(s.root + file + ".rpmsave") // after removal
			}
			if err != nil || !strings.Contains(string(b), want) {
				t.Errorf("%s: %s: %q, %v", when, file, b, err)
			}
		}
		for _, user := range []string{"starling", "starling-server"} {
			s.run("getent", "passwd", user)
		}
		if out := s.run("stat", "-c", "%U %a", systemData, serverData); out != "starling 751\nstarling-server 750\n" {
			t.Errorf("%s: folders %s", when, out)
		}
	}
	unit := "starling-server@demo"
	url := fmt.Sprintf("http://127.0.0.1:%d/demo/", freePort(t))
	serves := func(what string) {
		t.Helper()
		testwait.Try(t, ctx, what, func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			must(t, err)
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				err = res.Body.Close()
			}
			return err
		})
	}
	version := func(unit string) string { // of the program that runs
		out, _ := s.try("", "/proc/"+show("MainPID", unit)+"/exe", "--version")
		return strings.TrimSpace(out[strings.LastIndex(out, " ")+1:])
	}

	for _, name := range []string{"starling", "starling-server"} {
		s.run("dpkg", "--purge", name) // in case this computer has one
	}
	if out := rpm(append([]string{"--install"}, old...)...); !strings.Contains(out, "usermod -aG starling") || !strings.Contains(out, "systemctl enable --now starling-server@NAME") {
		t.Errorf("the installation says %s", out)
	}
	verify("after installation", "")
	if got := show("UnitFileState", "starling"); got != "enabled" {
		t.Errorf("after installation the service is %s", got)
	}
	must(t, os.WriteFile(s.root+systemData+"/starling.toml", []byte(settings), 0o600))
	must(t, os.WriteFile(s.root+autostart, []byte("# mine\n"), 0o600))
	s.run("systemctl", "restart", "starling")
	if out, err := s.try("starling-server", "starling-server", "init", project, "--name", "Demo", "--url", url); err != nil {
		t.Fatal(out)
	}
	s.run("systemctl", "enable", "--now", unit)
	serves("the service")
	s.run("systemctl", "set-property", "starling", "CPUWeight=50")

	before := show("MainPID", "starling")
	if out := rpm(append([]string{"--upgrade"}, upgrade...)...); strings.Contains(out, "usermod") || strings.Contains(out, "did not start") {
		t.Errorf("the upgrade says %s", out)
	}
	serves("the service after an upgrade")
	for _, u := range []string{"starling", unit} {
		if got := version(u); got != "0.9.2" || show("ActiveState", u) != "active" || show("UnitFileState", u) != "enabled" {
			t.Errorf("after an upgrade %s runs version %q and is %s, %s", u, got, show("ActiveState", u), show("UnitFileState", u))
		}
	}
	if show("MainPID", "starling") == before || show("CPUWeight", "starling") != "50" {
		t.Errorf("after an upgrade the agent is %s, with weight %s", before, show("CPUWeight", "starling"))
	}
	if out := s.run("rpm", "--query", "--queryformat", `[%{FILENAMES} %{FILEFLAGS:fflags}\n]`, "starling"); !strings.Contains(out, autostart+" cn\n") {
		t.Errorf("an upgrade may replace an edited file: %s", out)
	}
	stays("after an upgrade")
	verify("after an upgrade", autostart)

	// A service that was disabled stays so, and one that was stopped does not start.
	s.run("systemctl", "disable", "--now", "starling", unit)
	rpm(append([]string{"--upgrade", "--oldpackage"}, old...)...)
	for _, u := range []string{"starling", unit} {
		if got := show("ActiveState", u) + " " + show("UnitFileState", u); got != "inactive disabled" {
			t.Errorf("after a downgrade a disabled %s is %s", u, got)
		}
	}
	rpm(append([]string{"--upgrade", "--replacepkgs"}, old...)...) // as dnf reinstall
	stays("after installing the same version again")
	s.run("systemctl", "enable", "--now", "starling", unit)
	rpm(append([]string{"--upgrade"}, upgrade...)...)
	serves("the service after another upgrade")

	rpm("--erase", "starling", "starling-server")
	for _, u := range []string{"starling", unit} {
		if got := show("ActiveState", u); got != "inactive" && got != "failed" {
			t.Errorf("after removal %s is %s", u, got)
		}
	}
	stays("after removal")
	for _, file := range []string{"/usr/bin/starling", "/usr/bin/starling-server", "/etc/systemd/system/multi-user.target.wants/starling.service", "/usr/share/starling", "/usr/share/doc/starling", "/usr/libexec/starling", "/usr/lib/starling", "/usr/share/starling-server", "/usr/share/doc/starling-server"} {
		if _, err := os.Lstat(s.root + file); err == nil {
			t.Errorf("%s is left after removal", file)
		}
	}
	rpm(append([]string{"--install"}, upgrade...)...)
	if got := show("UnitFileState", "starling"); got != "enabled" || version("starling") != "0.9.2" {
		t.Errorf("installed again, the service is %s", got)
	}
	b, err := os.ReadFile(s.root + systemData + "/starling.toml")
	if err != nil || string(b) != settings {
		t.Errorf("installed again: %q, %v", b, err)
	}
	s.run("systemctl", "start", unit)
	serves("the project, installed again")
}
