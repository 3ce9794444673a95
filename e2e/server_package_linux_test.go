package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testwait"
)

const serverData = "/var/lib/starling-server"

// serverPackages makes the server's Debian packages of two versions, once for all tests.
var serverPackages = sync.OnceValues(func() (files [2]string, err error) {
	dir := filepath.Join(string(bin), "server-packages")
	for i, version := range []string{"0.9.1", "0.9.2"} {
		cmd := exec.Command("../tools/packages/build", version, dir, "deb")
		cmd.Env = append(os.Environ(), "PACKAGES=starling-server", "PLATFORMS=linux/"+runtime.GOARCH, "TRIMPATH=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return files, fmt.Errorf("%v: %w\n%s", cmd, err, out)
		}
		files[i] = filepath.Join(dir, "starling-server_"+version+"_"+runtime.GOARCH+".deb")
	}
	return files, nil
})

// TestServerPackage makes systemd serve a project with the installed unit. Nothing runs before
// there is a project, an upgrade restarts the server, and neither removal nor purging deletes the
// project.
func TestServerPackage(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_PACKAGES", "test-packages")
	files, err := serverPackages()
	must(t, err)
	ctx := patience(t)
	s := bootScratch(t, ctx, string(bin))
	unit := "starling-server@demo"
	port := freePort(t)
	url := fmt.Sprintf("http://127.0.0.1:%d/demo/", port)
	project := serverData + "/demo"
	asServer := func(args ...string) string {
		t.Helper()
		out, err := s.try("starling-server", append([]string{"starling-server"}, args...)...)
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return out
	}
	serves := func(what string) {
		t.Helper()
		testwait.Try(t, ctx, what, func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			must(t, err)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			if err == nil && !strings.Contains(string(b), "<scheduler>"+url+"cgi</scheduler>") {
				err = fmt.Errorf("got %s", b)
			}
			return err
		})
	}
	active := func() string {
		out, _ := s.try("", "systemctl", "is-active", unit)
		return strings.TrimSpace(out)
	}
	t.Cleanup(func() {
		if t.Failed() {
			late, cancel := context.WithTimeout(context.Background(), 20*time.Second) // the test's may have ended
			defer cancel()
			s.ctx = late
			out, _ := s.try("", "journalctl", "--no-pager", "--lines=60")
			state, _ := s.try("", "systemctl", "status", "--no-pager", unit)
			t.Log(out, state)
		}
	})

	s.run("dpkg", "--purge", "starling-server") // in case this computer has one
	if out := s.run("dpkg", "--install", files[0]); !strings.Contains(out, "systemctl enable --now starling-server@NAME") {
		t.Errorf("the installation says %s", out)
	}
	if out, err := s.try("", "systemctl", "list-units", "--no-legend", "starling-server@*"); err != nil || strings.TrimSpace(out) != "" {
		t.Errorf("without a project there runs %s, %v", out, err)
	}
	if _, err := s.try("", "systemctl", "start", unit); err != nil || active() != "inactive" {
		t.Errorf("started without a project: %s, %v", active(), err)
	}
	asServer("init", project, "--name", "Demo", "--url", url)
	key := strings.TrimSpace(asServer("user", "add", project, "--email", "ada@example.org"))
	s.run("systemctl", "enable", "--now", unit)
	serves("the service")
	if out := s.run("systemctl", "show", "--property=Type,WatchdogUSec,ActiveState", unit); !strings.Contains(out, "Type=notify\n") || !strings.Contains(out, "WatchdogUSec=4min\n") || !strings.Contains(out, "ActiveState=active\n") {
		t.Errorf("the service is not watched: %s", out)
	}
	for _, file := range []string{"/usr/share/man/man5/server.toml.5.gz", "/usr/share/doc/starling-server/THIRD-PARTY-LICENSES", "/usr/share/starling-server/schema/server.toml.json"} {
		if _, err := os.Stat(s.root + file); err != nil {
			t.Error(err)
		}
	}
	if out := asServer("user", "show", project, "ada@example.org"); !strings.Contains(out, "ada@example.org") {
		t.Errorf("operators beside the service: %s", out)
	}
	pid := func() string {
		return strings.TrimSpace(s.run("systemctl", "show", "--property=MainPID", "--value", unit))
	}
	first := pid()
	if limits := s.run("cat", "/proc/"+first+"/status"); !strings.Contains(limits, "CapBnd:\t0000000000000400") || !strings.Contains(limits, "NoNewPrivs:\t1") {
		t.Errorf("the service may do more than listen: %s", limits)
	}
	if out, err := s.try("", "touch", "/proc/"+first+"/root/usr/written"); err == nil || !strings.Contains(out, "Read-only") {
		t.Errorf("the service can write to the system: %v: %s", err, out)
	}

	s.run("systemctl", "reload", unit)
	if got := active(); got != "active" || pid() != first {
		t.Errorf("after a reload the service is %s", got)
	}
	s.run("dpkg", "--install", files[1])
	serves("the service after an upgrade")
	if pid() == first {
		t.Error("an upgrade did not restart the service")
	}
	s.run("dpkg", "--remove", "starling-server")
	if got := active(); got != "inactive" && got != "failed" {
		t.Errorf("after removal the service is %s", got)
	}
	s.run("dpkg", "--install", files[1])
	s.run("systemctl", "start", unit)
	serves("the service, installed again")
	if out := asServer("user", "list", project); !strings.Contains(out, "ada@example.org") || key == "" {
		t.Errorf("accounts after removal: %s", out)
	}
	if out := s.run("dpkg", "--purge", "starling-server"); !strings.Contains(out, "projects are kept in "+serverData) {
		t.Errorf("purging says %s", out)
	}
	if _, err := os.Stat(s.root + project + "/project.db"); err != nil {
		t.Errorf("purging deleted a project: %v", err)
	}
}
