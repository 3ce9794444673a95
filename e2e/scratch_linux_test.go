package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
)

// A scratch is this computer's system as a copy that can be changed: packages are
// installed and users made there, and nothing of it stays. Its network and its
// processes are the computer's own. It lasts as long as a process in it does.
type scratch struct {
	t    *testing.T
	ctx  context.Context
	pid  int    // of the process that holds it
	root string // as others see it: /proc/PID/root
}

// layers lays a copy in memory over the root of the file system and waits there
// for the end of its input. $1 is an empty folder, $2 one that is the same inside.
const layers = `set -e
mount -t tmpfs none "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
for m in /proc /dev /sys "$2"; do
	mkdir -p "$1/root/$m"
	mount --rbind "$m" "$1/root/$m"
done
mount -t tmpfs none "$1/root/run"
echo ready
exec chroot "$1/root" cat`

// newScratch makes a scratch in which the folder shared is the same as here.
func newScratch(t *testing.T, ctx context.Context, shared string) *scratch {
	t.Helper()
	absent := func(why string) {
		t.Helper()
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why + "; packages are NOT tested")
	}
	if os.Geteuid() != 0 {
		absent("installing packages takes root's rights")
	}
	for _, program := range []string{"dpkg", "unshare", "nsenter", "setpriv", "chroot", "useradd"} {
		if _, err := exec.LookPath(program); err != nil {
			absent(program + " is not installed")
		}
	}
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", layers, "scratch", t.TempDir(), shared)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		_ = in.Close()
		_ = cmd.Wait()
		absent("this kernel gives no copy of the file system: " + complaint.String())
	}
	return &scratch{t: t, ctx: ctx, pid: cmd.Process.Pid, root: fmt.Sprintf("/proc/%d/root", cmd.Process.Pid)}
}

// args is the command line that runs a command inside, as a user or, if that is
// "", as root.
func (s *scratch) args(asUser string, args ...string) []string {
	line := []string{"nsenter", "--target", strconv.Itoa(s.pid), "--mount", "--root", "--wd"}
	if asUser != "" {
		line = append(line, "setpriv", "--reuid="+asUser, "--regid="+asUser, "--init-groups", "env", "HOME=/home/"+asUser)
	}
	return append(append(line, "env", "-u", "XDG_DATA_HOME", "-u", "STARLING_DATA", "DEBIAN_FRONTEND=noninteractive"), args...)
}

// try runs a command inside and returns all that it printed.
func (s *scratch) try(asUser string, args ...string) (string, error) {
	line := s.args(asUser, args...)
	out, err := exec.CommandContext(s.ctx, line[0], line[1:]...).CombinedOutput()
	return string(out), err
}

// run is try for commands that have to succeed, as root.
func (s *scratch) run(args ...string) string {
	s.t.Helper()
	out, err := s.try("", args...)
	if err != nil {
		s.t.Fatalf("%v: %v: %s", args, err, out)
	}
	return out
}

// service starts what an installed unit of systemd says, as systemd would as far as
// user, umask and command go.
func (s *scratch) service(unit, log string) *testhost.Process {
	s.t.Helper()
	b, err := os.ReadFile(s.root + unit)
	if err != nil {
		s.t.Fatal(err)
	}
	key := make(map[string]string)
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			key[k] = v
		}
	}
	if key["User"] == "" || key["ExecStart"] == "" || key["StateDirectory"] == "" {
		s.t.Fatalf("%s: %v", unit, key)
	}
	data := "/var/lib/" + key["StateDirectory"]
	s.run("install", "-d", "-o", key["User"], "-g", key["User"], "-m", key["StateDirectoryMode"], data)
	line := s.args(key["User"], "sh", "-c", "umask "+key["UMask"]+" && cd / && exec "+key["ExecStart"])
	p, err := testhost.Start(log, line[0], line[1:]...)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}
