package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// A scratch is a modifiable copy of this computer's system: packages are installed and users
// created in it, and nothing of that remains. It uses the computer's network.
type scratch struct {
	t    *testing.T
	ctx  context.Context
	into []string // the command that enters it
	root string   // its root as seen from outside: /proc/PID/root
}

// overlay puts a copy in memory over the root of the file system, in the empty folder $1, and
// changes to it. $2 is a folder that is the same inside. The disks of other tests, which are files
// here, are unmounted inside: while a disk is still mounted, another mount of it would get the same
// file system.
const overlay = `set -e
while read -r what where rest; do
	case $what in /dev/loop*) [ "$where" = / ] || umount -l "$where" ;; esac
done </proc/self/mounts
mount -t tmpfs none "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"
cd "$1/root"
mkdir -p "./$2"
mount --bind "$2" "./$2"
mount -t tmpfs -o mode=755 none run
`

// wait is a scratch without an init. It lasts until the end of its input.
const wait = overlay + `
for m in proc dev sys; do mount --rbind /$m $m; done
echo ready $$
exec chroot . cat`

// boot is a scratch whose init is systemd, with its core units, the journal and the units that are
// installed later. Its devices and kernel interfaces are those of a container.
const boot = overlay + `
mount -t proc none proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t tmpfs -o mode=755 none dev
for n in null zero full random urandom tty; do touch dev/$n; mount --bind /dev/$n dev/$n; done
mknod -m 600 dev/console c 1 3 # of its own: who sits at a console owns it
mkdir dev/shm dev/pts
ln -s /proc/self/fd dev/fd
mount -t sysfs -o ro none sys
mount -t cgroup2 none sys/fs/cgroup
rm -rf etc/systemd/system/* etc/fstab usr/lib/systemd/system/*.wants lib/systemd/system/*.wants
mkdir usr/lib/systemd/system/sockets.target.wants
ln -s ../systemd-journald.socket usr/lib/systemd/system/sockets.target.wants/
echo 0123456789abcdef0123456789abcdef >etc/machine-id
exec chroot . env -i container=other PATH="$PATH" /usr/lib/systemd/systemd --unit=multi-user.target --log-target=null --show-status=0`

// guard runs the script $3 with $1 and $2 as the first process of new namespaces, in a new control
// group in $4 and with the options $5 for unshare. At the end of its own input it ends the script
// with all processes below it.
const guard = `group=$(mktemp -d "$4/starling-test-XXXXXX") && chmod 755 "$group" || exit
set -- "$1" "$2" "$3" "$group" $5
sh -c 'echo $$ >"$4/cgroup.procs" && exec unshare $5 --mount --pid --fork --cgroup --kill-child --propagation private sh -c "$3" boot "$1" "$2"' guard "$@" </dev/null &
until init=$(pgrep --parent $!) || ! kill -0 $!; do :; done
echo ready $init
cat
kill -KILL $init
wait $!
find "$4" -depth -type d -exec rmdir {} +`

// newScratch makes a scratch in which the folder shared is the same as here.
func newScratch(t *testing.T, ctx context.Context, shared string) *scratch {
	t.Helper()
	needsRoot(t)
	pid := hold(t, "unshare", "--mount", "--propagation", "private", "sh", "-c", wait, "scratch", t.TempDir(), shared)
	return &scratch{
		t: t, ctx: ctx, root: "/proc/" + pid + "/root",
		into: []string{"nsenter", "--target", pid, "--mount", "--root", "--wd"},
	}
}

// bootScratch makes a scratch in which systemd runs.
func bootScratch(t *testing.T, ctx context.Context, shared string) *scratch {
	t.Helper()
	return bootWith(t, ctx, shared, "")
}

// bootAlone makes a scratch in which systemd runs, with a separate network without any connection.
func bootAlone(t *testing.T, ctx context.Context, shared string) *scratch {
	t.Helper()
	return bootWith(t, ctx, shared, "--net")
}

func bootWith(t *testing.T, ctx context.Context, shared, more string) *scratch {
	t.Helper()
	needsRoot(t)
	needs(t, "pgrep", "/usr/lib/systemd/systemd", "systemctl")
	groups := "/sys/fs/cgroup"
	if _, err := os.Stat(groups + "/cgroup.procs"); err != nil {
		groups += "/unified" // in addition to version 1
	}
	pid := hold(t, "sh", "-c", guard, "guard", t.TempDir(), shared, boot, groups, more)
	s := &scratch{
		t: t, ctx: ctx, root: "/proc/" + pid + "/root",
		into: []string{"nsenter", "--target", pid, "--mount", "--pid", "--cgroup", "--net", "--root", "--wd"},
	}
	testwait.Try(t, ctx, "systemd", func() error {
		out, err := s.try("", "systemctl", "is-system-running", "--wait")
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	})
	return s
}

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		absent(t, "installing packages takes root's rights")
	}
	needs(t, "dpkg", "unshare", "nsenter", "setpriv", "chroot", "useradd")
}

// needs skips the test where it cannot run, or fails it if $CI is set.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			absent(t, program+" is not installed; tools/install-test-deps installs it")
		}
	}
}

func absent(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why)
	}
	t.Skip(why + "; this is NOT tested")
}

// hold runs a script that prints "ready PID" and lasts until the end of its input, which is the end
// of the test.
func hold(t *testing.T, args ...string) (pid string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	end := func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}
	t.Cleanup(end)
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if !ok || pid == "" {
		end()
		absent(t, "this kernel gives no copy of the system: "+complaint.String())
	}
	return pid
}

// args returns the command line that runs a command inside, as a user or, if that is "", as root.
func (s *scratch) args(asUser string, args ...string) []string {
	line := append([]string(nil), s.into...)
	if asUser != "" {
		line = append(line, "setpriv", "--reuid="+asUser, "--regid="+asUser, "--init-groups", "env", "HOME=/home/"+asUser)
	}
	return append(append(line, "env", "-u", "XDG_DATA_HOME", "-u", "STARLING_DATA", "DEBIAN_FRONTEND=noninteractive"), args...)
}

// try runs a command inside and returns all its output.
func (s *scratch) try(asUser string, args ...string) (string, error) {
	line := s.args(asUser, args...)
	cmd := exec.CommandContext(s.ctx, line[0], line[1:]...)
	cmd.Env = append(os.Environ(), "TMPDIR=") // this test's belongs to root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run runs a command that has to succeed, as root.
func (s *scratch) run(args ...string) string {
	s.t.Helper()
	out, err := s.try("", args...)
	if err != nil {
		s.t.Fatalf("%v: %v: %s", args, err, out)
	}
	return out
}

// service starts the program of an installed systemd unit, with the unit's user, umask and command.
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
