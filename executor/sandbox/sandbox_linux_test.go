package sandbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/testerr"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// A cell is a slot and the files that must be out of its reach.
type cell struct {
	t            *testing.T
	slot, secret string
	policy       sandbox.Policy
}

func newCell(t *testing.T) cell {
	t.Helper()
	if words, ok := sandbox.Level(); !ok {
		t.Skip(words)
	}
	c := cell{t: t, slot: t.TempDir(), secret: filepath.Join(t.TempDir(), "id_rsa"), policy: sandbox.System()}
	must(t, os.WriteFile(c.secret, []byte("the volunteer's key\n"), 0o600))
	c.policy.Write = append(c.policy.Write, c.slot)
	return c
}

// sh runs a shell command in the cell.
func (c cell) sh(command string) (string, error) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "/bin/sh", "-c", command)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.slot, append(os.Environ(), "SECRET="+c.secret), &out, &out
	if err := sandbox.Start(cmd, c.policy); err != nil {
		c.t.Fatal(err)
	}
	err := cmd.Wait()
	return out.String(), err
}

// can requires that each command succeeds.
func (c cell) can(commands map[string]string) {
	c.t.Helper()
	for name, command := range commands {
		if out, err := c.sh(command); err != nil {
			c.t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

// cannot requires that each command fails.
func (c cell) cannot(commands map[string]string) {
	c.t.Helper()
	for name, command := range commands {
		if out, err := c.sh(command); err == nil {
			c.t.Errorf("%s: it could: %q", name, out)
		}
	}
}

// Everything that an application needs works as usual.
func TestWhatIsItsOwnWorks(t *testing.T) {
	c := newCell(t)
	out, err := c.sh(`echo hi >f && mkdir d && mv f d/g && cat d/g && ls / >/dev/null; date >/dev/null && head -c 4 /dev/urandom >/dev/null && echo ok >/dev/null && echo done`)
	if err != nil || !strings.Contains(out, "hi\n") || !strings.Contains(out, "done") {
		t.Errorf("got %q, %v", out, err)
	}
	// A link into another folder needs the same right as a move, which mv replaces with a copy.
	for _, c.policy.Network = range []bool{false, true} {
		if out, err := c.sh(`mkdir -p a b && echo hi >a/f && ln -f a/f b/f && cat b/f`); err != nil || out != "hi\n" {
			t.Errorf("with network %v: a file is not moved between folders: %q, %v", c.policy.Network, out, err)
		}
	}
	if out, err := c.sh(`echo "policy:$STARLING_SANDBOX"`); err != nil || strings.TrimSpace(out) != "policy:" {
		t.Errorf("the policy is passed on: %q, %v", out, err)
	}
}

// Each attempt of a hostile application is refused, also if the agent runs as root.
func TestHostileApplication(t *testing.T) {
	c := newCell(t)
	c.policy.FileBytes = 1 << 20
	home := t.TempDir()
	c.cannot(map[string]string{
		"reads a key":               `cat "$SECRET"`,
		"lists the home folder":     `ls ` + home,
		"writes outside":            `echo x >` + home + `/x`,
		"writes beside the system":  `echo x >/usr/starling-test`,
		"follows a link out":        `ln -s "$SECRET" link; cat link`,
		"links a file in":           `ln "$SECRET" hard`,
		"deletes outside":           `rm -f "$SECRET"; test ! -e "$SECRET"`,
		"changes outside":           `mv "$SECRET" .`,
		"reads through proc":        `cat /proc/self/root` + c.secret,
		"kills the agent":           `kill -0 $PPID`,
		"gains rights":              `grep -q 'NoNewPrivs:.*0' /proc/self/status`,
		"reads the shadow file":     `cat /etc/shadow`,
		"mounts":                    `mount -t tmpfs none .`,
		"makes a device":            `mknod device c 1 3`,
		"becomes another in a fork": `(sh -c 'cat "$SECRET"')`,
	})
	if _, err := os.Stat(c.secret); err != nil {
		t.Error(err)
	}
	if out, err := c.sh(`head -c 2000000 /dev/zero >big`); err == nil {
		t.Errorf("a file beyond its bound was written: %q", out)
	}
	if st, err := os.Stat(filepath.Join(c.slot, "big")); err != nil || st.Size() > 1<<20 {
		t.Errorf("got %v, %v", st, err)
	}
}

func TestForkBomb(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("the system does not bound root; make test-unprivileged runs this as another user")
	}
	c := newCell(t)
	c.policy.MoreTasks = 20
	const bomb = `for i in $(seq 100); do sleep 5 >/dev/null 2>&1 & done; echo all`
	if out, err := c.sh(bomb); err == nil {
		t.Errorf("it made all its processes: %q", out)
	}
	c.policy.MoreTasks = 1000
	if out, err := c.sh(bomb); err != nil {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestNetwork(t *testing.T) {
	c := newCell(t)
	if words, _ := sandbox.Level(); !strings.Contains(words, "TCP") {
		t.Skip(words)
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	connect := fmt.Sprintf(`bash -c 'echo >/dev/tcp/127.0.0.1/%d'`, l.Addr().(*net.TCPAddr).Port)
	if out, err := c.sh(connect); err == nil {
		t.Errorf("it connected: %q", out)
	}
	c.policy.Network = true
	if out, err := c.sh(connect); err != nil {
		t.Errorf("it could not connect though it may: %q, %v", out, err)
	}
}

func TestWhatCannotStartSaysWhy(t *testing.T) {
	c := newCell(t)
	text := filepath.Join(c.slot, "text")
	must(t, os.WriteFile(text, []byte("hello"), 0o700))
	for path, want := range map[string]error{filepath.Join(c.slot, "gone"): syscall.ENOENT, text: syscall.ENOEXEC, c.secret: syscall.EACCES} {
		cmd := exec.CommandContext(t.Context(), path)
		if err := sandbox.Start(cmd, c.policy); !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
}

var must = testerr.Must
