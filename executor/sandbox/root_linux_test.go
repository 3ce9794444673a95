package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/testimage"
)

// inImage returns a cell whose root is a folder with some programs of this computer. Tests that run
// as root have cells with a separate user, too.
func inImage(t *testing.T, user int) cell {
	t.Helper()
	c := newCell(t)
	root, slot := t.TempDir(), t.TempDir()
	if err := testimage.System(t.Context(), root, "sh", "cat", "ls", "chmod", "touch", "stat", "grep", "mv", "ln", "rm", "mkdir", "mkfifo", "mknod", "id",
		"mount", "umount", "unshare", "chroot", "stty", "true", "nsenter", "setpriv", "keyctl", "strace", "cp", "readlink", "date", "sleep", "pivot_root"); err != nil {
		t.Skip(err)
	}
	c.slot, c.policy = slot, sandbox.Policy{
		Root: root, Own: slot, Settled: t.TempDir(), Temporary: filepath.Join(slot, "temporary"), Mark: 1<<62 + 4711,
		Write: []string{slot, "/dev/null", "/dev/zero"}, User: user,
	}
	for _, dir := range []string{root, filepath.Dir(root), slot, c.policy.Settled} {
		must(t, os.Chmod(dir, 0o755))
	}
	must(t, os.Mkdir(c.policy.Temporary, 0o700))
	for name, text := range map[string]string{filepath.Join(c.policy.Settled, "f"): "settled\n", filepath.Join(root, "marker"): "image\n"} {
		must(t, os.WriteFile(name, []byte(text), 0o644))
	}
	if user != 0 {
		for _, dir := range []string{slot, c.policy.Temporary} {
			must(t, os.Chown(dir, user, user))
		}
	}
	trial := c.policy
	trial.Root = t.TempDir()
	must(t, os.Chmod(trial.Root, 0o755))
	if err := sandbox.Try(trial); err != nil {
		t.Skip(err)
	}
	t.Setenv("SETTLED", c.policy.Settled)
	t.Setenv("PATH", "/bin")
	return c
}

// eachUser runs a test as the agent's user and, if that is root, as a slot's user.
func eachUser(t *testing.T, test func(t *testing.T, c cell)) {
	t.Run("agent's user", func(t *testing.T) { test(t, inImage(t, 0)) })
	if user, err := sandbox.TaskUser(7); err == nil && user != 0 {
		t.Run("slot's user", func(t *testing.T) { test(t, inImage(t, user)) })
	}
}

// A program with its own root finds the image's files, its slot and its project's folder, and can
// use them as usual.
func TestRootWorks(t *testing.T) {
	eachUser(t, func(t *testing.T, c cell) {
		c.can(map[string]string{
			"the image's files":          `test "$(cat /marker)" = image`,
			"its slot":                   `echo x >f && mkdir -p d && mv f d/g && test "$(cat "$PWD/d/g")" = x`,
			"its project":                `test "$(cat "$SETTLED/f")" = settled`,
			"temporary files":            `echo x >/tmp/t && test "$(cat /var/tmp/t)" = x && test "$(cat temporary/t)" = x && rm /dev/shm/t`,
			"devices":                    `echo x >/dev/null && cat /dev/null && test -c /dev/urandom && test -L /dev/stderr`,
			"processes":                  `grep -q '^Name' /proc/self/status && test "$(readlink /proc/$$/root)" = /`,
			"permissions in its slot":    `echo x >p && chmod 751 p && test "$(stat -c %a "$PWD/p")" = 751`,
			"permissions by a full path": `echo x >q && chmod 750 "$PWD/q" && test "$(stat -c %a q)" = 750`,
			"permissions elsewhere":      `echo x >/tmp/r && chmod 711 /tmp/r && test "$(stat -c %a /tmp/r)" = 711`,
			"times":                      `echo x >s && touch -d '2001-02-03 04:05:06 UTC' s && date -u -r s +%F | grep -qx 2001-02-03`,
			"a link of the image":        `echo x >m && ln -s m l && chmod 701 l && test "$(stat -c %a m)" = 701`,
			"the same user":              `test "$(id -u)" = ` + itoa(userOf(c)),
		})
	})
}

func userOf(c cell) int {
	if c.policy.User != 0 {
		return c.policy.User
	}
	return os.Geteuid()
}

// A hostile program does not leave its root, and changes nothing in it.
func TestRootHolds(t *testing.T) {
	eachUser(t, func(t *testing.T, c cell) {
		other := exec.CommandContext(t.Context(), "/bin/sleep", "1000")
		must(t, other.Start())
		defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
		t.Setenv("OTHER", itoa(other.Process.Pid))
		t.Setenv("IMAGE", c.policy.Root)
		before := stat(t, c.secret, filepath.Dir(c.secret))
		c.cannot(map[string]string{
			"a key by its path":                 `cat "$SECRET"`,
			"a key by a link":                   `ln -s "$SECRET" k; cat k`,
			"a key by the way up":               `cat "../../../../../../..$SECRET"`,
			"the root of the first process":     `ls /proc/1/root/ || cat "/proc/1/root$SECRET"`,
			"the root of the agent":             `cat "/proc/$PPID/root$SECRET"`,
			"the root of another program":       `cat "/proc/$OTHER/root$SECRET"`,
			"the folder of another program":     `cat /proc/$OTHER/cwd/root_linux_test.go || ls /proc/$OTHER/cwd/`,
			"the files of another program":      `cat /proc/$OTHER/fd/0 || cat /proc/$OTHER/fd/1`,
			"the memory of another program":     `cat /proc/$OTHER/mem || cat /proc/$OTHER/environ`,
			"its way by its own root":           `cat "/proc/self/root$SECRET" || cat "/proc/$$/root/../../..$SECRET"`,
			"a file of the image":               `echo x >/marker || rm /marker || mv /bin /b || echo x >/new || mkdir /d`,
			"permissions of the image":          `chmod 777 /marker || chmod 777 /bin/sh || touch -d 2001-01-01 /marker`,
			"permissions by the way up":         `chmod 777 "../../../../../../..$SECRET" || chmod 777 "$SECRET"`,
			"permissions by proc":               `chmod 777 "/proc/self/root$SECRET" || chmod 777 "/proc/1/root$SECRET" || chmod 777 "/proc/$PPID/root$SECRET"`,
			"permissions of the image's folder": `chmod 777 "$IMAGE" || chmod 777 "$IMAGE/marker"`,
			"its project":                       `echo x >"$SETTLED/f" || rm "$SETTLED/f" || echo x >"$SETTLED/g"`,
			"devices":                           `rm /dev/null || echo x >/dev/new || ls /dev/ | grep -q sda`,
			"a new device":                      `mknod d c 1 3 || mknod /tmp/d b 8 0`,
			"mounts":                            `mount -t tmpfs none /tmp || mount --bind / /tmp || mount -o remount,rw / || mount -t proc none /tmp`,
			"unmounts":                          `umount "$PWD" || umount -l / || umount /proc || umount -l /dev`,
			"a further root":                    `chroot /tmp /bin/sh -c true || chroot . /bin/true || pivot_root . .`,
			"further namespaces":                `unshare -Ur true || unshare -Urm true || unshare -m true || unshare -Urp --fork true`,
			"namespaces of others":              `nsenter -t 1 -m true || nsenter -t $PPID -m true || nsenter -t $PPID -U true`,
			"rights":                            `grep -q 'NoNewPrivs:.*0' /proc/self/status || grep 'Cap[PEBA].*:' /proc/self/status | grep -v 0000000000000000 | grep .`,
			"another program's end":             `kill -0 $OTHER || kill -0 $PPID || kill -0 1`,
			"traces":                            `strace -p $OTHER || strace true`,
			"keys":                              `keyctl show || keyctl newring x @u`,
			"kernel settings":                   `echo 1 >/proc/sys/kernel/panic || echo x >/proc/sysrq-trigger || echo 0 >/proc/self/oom_score_adj`,
			"maps of users":                     `echo 0 0 1 >/proc/self/uid_map || echo allow >/proc/self/setgroups`,
			"the control group":                 `mkdir /sys/fs/cgroup/x || echo $$ >/sys/fs/cgroup/cgroup.procs`,
		})
		if after := stat(t, c.secret, filepath.Dir(c.secret)); after != before {
			t.Errorf("files changed from %s to %s", before, after)
		}
		if text, err := os.ReadFile(filepath.Join(c.policy.Root, "marker")); err != nil || string(text) != "image\n" {
			t.Errorf("the image has %q, %v", text, err)
		}
		mounts, err := c.sh(`cat /proc/self/mountinfo`)
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(mounts) {
			if f := strings.Fields(line); len(f) > 4 && f[3] == "/" && f[4] == "/" {
				t.Errorf("the root of a file system of the computer is mounted: %s", line)
			}
		}
	})
}

// Several tasks may start in an image at the same time, even the first ones.
func TestRootAtOnce(t *testing.T) {
	eachUser(t, func(t *testing.T, c cell) {
		errs := make(chan error)
		const n = 8
		for range n {
			go func() {
				cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `test "$(cat /marker)" = image && test -c /dev/null && cd "$PWD"`)
				cmd.Dir = c.slot
				err := sandbox.Start(cmd, c.policy)
				if err == nil {
					err = cmd.Wait()
				}
				errs <- err
			}()
		}
		for range n {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}

// The places where a program finds its files may be anything in an image: links out of it, files or
// nothing.
func TestRootWithLinksInTheWay(t *testing.T) {
	eachUser(t, func(t *testing.T, c cell) {
		outside := t.TempDir()
		top := strings.Split(c.slot, "/")[1]
		for _, name := range []string{"proc", "dev", "sys", "tmp", top} {
			path := filepath.Join(c.policy.Root, name)
			must(t, os.RemoveAll(path))
			must(t, os.Symlink(outside, path))
		}
		must(t, os.RemoveAll(filepath.Join(c.policy.Root, "var")))
		must(t, os.WriteFile(filepath.Join(c.policy.Root, "var"), nil, 0o644))
		if out, err := c.sh(`echo x >f && echo x >/var/tmp/g && test -d /proc/self && test "$(cat "$PWD/f")" = x`); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("a folder outside has %v, %v", left, err)
		}
	})
}
