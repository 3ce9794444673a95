package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestHandbook sets up a public project by following the handbook's chapter, word for word, on a
// fresh machine: TLS, volunteers with both clients, PostgreSQL, work over HTTP, a bad version that
// is withdrawn, a backup that is restored elsewhere. In the end every result is credited once.
func TestHandbook(t *testing.T) {
	onDemand(t, "STARLING_HANDBOOK", "handbook")
	needs(t, "ip", "runuser", "update-ca-certificates", "boinccmd", "pg_lsclusters")
	ctx := patience(t)
	s := strangersMachine(t, ctx)
	h := &handbook{t: t, s: s, blocks: chapter(t, "## A public project, step by step")}
	t.Cleanup(h.explain)

	h.follow("on the server") // installs it
	h.follow("as starling-server")
	h.follow("on the server") // the certificate
	if out := h.follow("on the server"); !strings.Contains(out, "no faults found") {
		t.Fatalf("after the start, doctor says %s", out)
	}
	h.follow("as starling-server")              // the first work
	s.run("systemctl", "start", "boinc-client") // as its installation does, so that it has the port of BOINC's tools
	h.follow("on a volunteer's computer")
	s.run("starling", "prefs", "set", "suspend_cpu_usage", "0") // this computer may be busy
	h.follow("on a volunteer's computer with BOINC's client")
	h.credited(mine, 1, 2)

	h.create(2, "in_flight", "--min-quorum", "2")
	startPostgres(s)
	h.follow("on the server") // to PostgreSQL
	if settings, err := os.ReadFile(s.root + serverData + "/mine/server.toml"); err != nil || !strings.Contains(string(settings), `database = "postgres://`) {
		t.Errorf("after the move the settings are %s, %v", settings, err)
	}
	h.credited(mine, 3, 6)

	h.follow("as starling-server") // the token
	s.run("sh", "-c", "useradd --create-home scientist && cp "+serverData+"/lab.token /home/scientist && cd /home/scientist && echo one >one.txt && echo two >two.txt && chown scientist *")
	if out := h.follow("on the scientist's computer"); !strings.Contains(out, "saved in results") {
		t.Errorf("the scientist reads %s", out)
	}
	h.credited(mine, 5, 10)
	if out := s.run("sh", "-c", "cat /home/scientist/results/*/out"); out != "ONE\nTWO\n" {
		t.Errorf("the scientist has %q", out)
	}

	h.operator("printf '#!/bin/sh\\nexit 1\\n' >bad && printf '#!/bin/sh\\nexec tr a-z A-Z <in >out\\n' >shout-1.02 && chmod +x bad shout-1.02")
	h.operator("starling-server version add mine shout --platform x86_64-pc-linux-gnu --version 1.01 --main ./bad --plain")
	h.create(2, "spoiled", "--min-quorum", "2")
	h.create(1, "given_up", "--min-quorum", "2", "--max-error", "1")
	h.await("a workunit is given up and another fails", func() bool {
		return h.status(mine).Workunits.Error == 1 && strings.Contains(h.operator("starling-server result list mine --outcome client_error"), "spoiled")
	})
	if out := h.follow("as starling-server"); !strings.Contains(out, "1 workunit retried") {
		t.Errorf("the withdrawal says %s", out)
	}
	h.credited(mine, 8, 16)

	h.follow("as starling-server") // backup and restore
	h.follow("on the server")
	h.await("the copy is served", func() bool {
		_, err := s.try("", "sh", "-c", "echo 'a good password' | starling attach https://project.example.org:8443/copy/ --email ada@example.org --password-stdin")
		return err == nil
	})
	h.operator("starling-server work create copy shout --name after --input hello.txt=in")
	h.credited(copied, 9, 17)
	h.credited(mine, 8, 16) // the same as before
	if len(h.blocks) != 0 {
		t.Errorf("not followed: %v", h.blocks)
	}
}

// A handbook contains the blocks of a chapter that have not been followed yet.
type handbook struct {
	t      *testing.T
	s      *scratch
	blocks []block
}

// A block contains commands and the place where they are typed.
type block struct{ where, script string }

// chapter reads the blocks of a chapter of the operators' handbook.
func chapter(t *testing.T, heading string) (blocks []block) {
	t.Helper()
	text, err := os.ReadFile("../docs/operators.md")
	must(t, err)
	_, after, _ := strings.Cut(string(text), "\n"+heading+"\n")
	after, _, _ = strings.Cut(after, "\n## ")
	for _, b := range regexp.MustCompile("(?s)\n```\n# ([^\n]*)\n(.*?)\n```\n").FindAllStringSubmatch(after, -1) {
		blocks = append(blocks, block{b[1], b[2]})
	}
	if len(blocks) == 0 {
		t.Fatalf("the handbook has no commands below %q", heading)
	}
	return blocks
}

// follow carries out the next block, which must be for the place that the test expects.
func (h *handbook) follow(where string) (out string) {
	h.t.Helper()
	if len(h.blocks) == 0 || h.blocks[0].where != where {
		h.t.Fatalf("the handbook continues with %v, not %s", h.blocks, where)
	}
	script := h.blocks[0].script
	h.blocks = h.blocks[1:]
	h.t.Logf("%s:\n%s", where, script)
	ended := make(chan error, 1)
	go func() {
		var err error
		out, err = h.s.try("", typedBy(where, script)...)
		ended <- err
	}()
	h.await(where+" all commands end", func() bool {
		select {
		case err := <-ended:
			if err != nil {
				h.t.Fatalf("%s: %v: %s", where, err, out)
			}
			return true
		default:
			return false
		}
	})
	return out
}

// typedBy returns the command that runs a script as the user of a place.
func typedBy(where, script string) []string {
	script = "set -euo pipefail\ncd\n" + script
	switch where {
	case "as starling-server":
		return []string{"sudo", "-u", "starling-server", "-H", "bash", "-c", script}
	case "on the scientist's computer":
		return []string{"sudo", "-u", "scientist", "-H", "bash", "-c", script}
	}
	return []string{"env", "HOME=" + atHome, "bash", "-c", script}
}

// operator runs a command that is not in the handbook.
func (h *handbook) operator(command string) string {
	h.t.Helper()
	return h.s.run(typedBy("as starling-server", command)...)
}

// create makes n workunits.
func (h *handbook) create(n int, name string, args ...string) {
	h.t.Helper()
	for i := range n {
		h.operator(fmt.Sprintf("starling-server work create mine shout --name %s_%d --input hello.txt=in %s", name, i, strings.Join(args, " ")))
	}
}

// Projects by their folders.
const (
	mine   = "mine"
	copied = "copy"
)

func (h *handbook) status(project string) (c testhost.Count) {
	h.t.Helper()
	if err := json.Unmarshal([]byte(h.operator("starling-server status "+project+" --json")), &c); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// credited waits until all workunits are done. It checks their number, that each has a canonical
// result, and that the required number of results got credit.
func (h *handbook) credited(project string, workunits, results int64) {
	h.t.Helper()
	h.await(fmt.Sprintf("%s has %d workunits done", project, workunits), func() bool {
		c := h.status(project)
		return c.Done && c.Workunits.Canonical == workunits
	})
	c := h.status(project)
	if c.Workunits.Error != 0 || c.Workunits.Assimilated != workunits || c.Results.Granted != results {
		h.t.Errorf("%s: %+v, want %d workunits and %d results with credit", project, c, workunits, results)
	}
	if out := h.operator("starling-server doctor " + project); !strings.Contains(out, "no faults found") { // the credit is consistent
		h.t.Errorf("%s: %s", project, out)
	}
}

// await makes both clients ask for work until a condition holds. It respects the pause between
// requests that the project wants.
func (h *handbook) await(what string, reached func() bool) {
	h.t.Helper()
	updated := time.Now()
	testwait.Try(h.t, h.s.ctx, what, func() error {
		if reached() {
			return nil
		}
		if time.Since(updated) > 15*time.Second {
			updated = time.Now()
			for _, update := range []string{
				"starling update https://project.example.org/mine/",
				"starling update https://project.example.org:8443/copy/",
				"cd /var/lib/boinc-client && boinccmd --project https://project.example.org/mine/ update",
			} {
				_, _ = h.s.try("", "sh", "-c", update) // some are not attached yet
			}
		}
		return errors.New("not reached")
	})
}

// explain prints the state of all programs at the end of a test that failed.
func (h *handbook) explain() {
	if !h.t.Failed() {
		return
	}
	late, cancel := context.WithTimeout(context.Background(), 20*time.Second) // the test's may have ended
	defer cancel()
	h.s.ctx = late
	out, _ := h.s.try("", "sh", "-c", `starling why
cd /var/lib/boinc-client && boinccmd --get_messages | tail -n 30
journalctl --no-pager -n 40 -u "starling-server@*"
cd `+serverData+` && for p in mine copy; do sudo -u starling-server starling-server status $p; sudo -u starling-server starling-server result list $p; done`)
	h.t.Log(out)
}

// handbookPackages makes the packages that users download.
func handbookPackages(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("../tools/packages/build", "0.9.3", dir, "deb")
	cmd.Env = append(os.Environ(), "PLATFORMS=linux/"+runtime.GOARCH, "TRIMPATH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	if debs, _ := filepath.Glob(filepath.Join(dir, "*.deb")); len(debs) != 2 {
		t.Fatalf("packages: %v", debs)
	}
}
