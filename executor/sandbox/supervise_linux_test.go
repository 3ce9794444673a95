//go:build amd64 || arm64

package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/executor/sandbox"
)

// inSlot returns a cell whose slot belongs to the program, with a mark.
func inSlot(t *testing.T) cell {
	t.Helper()
	c := newCell(t)
	slot, err := filepath.EvalSymlinks(c.slot)
	must(t, err)
	c.slot, c.policy.Own, c.policy.Mark = slot, slot, 1<<62+12345
	c.policy.Write = append(c.policy.Write, slot)
	return c
}

// Real programs can change the permissions and times of their own files.
func TestPermissionsOfItsOwnFiles(t *testing.T) {
	c := inSlot(t)
	c.can(map[string]string{
		"makes a script executable": `echo 'echo it runs' >s; chmod +x s; ./s | grep -q runs`,
		"by an absolute path":       `echo x >a; chmod 640 "$PWD/a"; stat -c %a a | grep -qx 640`,
		"of a folder":               `mkdir d; chmod 700 d; stat -c %a d | grep -qx 700`,
		"in a folder":               `mkdir e; echo x >e/f; chmod -R go-rwx e; stat -c %a e/f | grep -qx 600`,
		"of an open file":           `install -m 751 /bin/true i; stat -c %a i | grep -qx 751`,
		"time by name":              `echo x >t; touch -d '2001-02-03 04:05:06 UTC' t; date -u -r t +%F | grep -qx 2001-02-03`,
		"time of an open file":      `echo x >u; cp -p u v; test u -ot v && exit 1; test v -ot u && exit 1; true`,
		"now":                       `echo x >n; touch -d 2001-02-03 n; touch n; date -u -r n +%Y | grep -qv 2001`,
		"an archive":                `mkdir z; echo x >z/f; chmod 751 z/f; touch -d 2001-02-03 z/f; tar cf z.tar z; rm -r z; tar xpf z.tar; stat -c %a-%y z/f | grep -q ^751-2001-02-0`,
		"its own priority":          `renice -n 19 -p $$ >/dev/null`,
		"its child's priority":      `sleep 100 & renice -n 19 -p $! >/dev/null; e=$?; kill $!; exit $e`,
		"its own processors":        `taskset -p $(taskset -p $$ | sed 's/.* //') $$ >/dev/null`,
		"its own limits":            `ulimit -n 100; prlimit --pid $$ --nofile=90 && test $(ulimit -n) = 90`,
		"sees its limits":           `prlimit --pid $$ >/dev/null`,
	})
}

// Other files keep their permissions, times and owner, and other programs keep their limits,
// priorities and processors, even if they belong to the same user.
func TestWhatIsNotItsOwnStays(t *testing.T) {
	c := inSlot(t)
	other := exec.CommandContext(t.Context(), "sleep", "1000")
	must(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	c.policy.Settled = t.TempDir()
	t.Setenv("SETTLED", c.policy.Settled)
	must(t, os.WriteFile(filepath.Join(c.policy.Settled, "f"), nil, 0o600))
	t.Setenv("OTHER", itoa(other.Process.Pid))
	home := filepath.Dir(c.secret)
	before := stat(t, c.secret, home)
	c.cannot(map[string]string{
		"permissions":                        `chmod 777 "$SECRET"`,
		"permissions of the home":            `chmod 000 "$(dirname "$SECRET")"`,
		"through a link":                     `ln -sf "$SECRET" l; chmod 777 l`,
		"through a link to the folder":       `ln -sfn "$(dirname "$SECRET")" m; chmod 777 m/id_rsa`,
		"by a way around":                    `chmod 777 "$PWD/../../..$SECRET" || chmod 777 "../../../../../../..$SECRET"`,
		"through proc":                       `chmod 777 /proc/self/root$SECRET || chmod 777 /proc/$$/root$SECRET || chmod 777 /proc/$PPID/root$SECRET`,
		"the folder of slots":                `chmod 777 .. || chmod 777 "$PWD/.."`,
		"times":                              `touch -d 2001-01-01 "$SECRET"`,
		"times through a link":               `ln -sf "$SECRET" l; touch -d 2001-01-01 l`,
		"the owner":                          `chown nobody "$SECRET"`,
		"the owner of its own":               `echo x >own; chown nobody own`,
		"attributes":                         `setfattr -n user.x -v y "$SECRET"`,
		"set user id":                        `cp /bin/true su; chmod u+s su; test ! -u su && false`,
		"files that are settled":             `chmod 000 $SETTLED/f && touch -d 2001-01-01 $SETTLED/f || exit 0; test $(stat -c %a $SETTLED/f) = 0`,
		"limits of another program":          `prlimit --pid $OTHER --nofile=0`,
		"limits of the agent":                `prlimit --pid $PPID --as=1`,
		"its mark":                           `prlimit --pid $$ --locks=7 || ulimit -x 7`,
		"priority of another program":        `renice -n 19 -p $OTHER`,
		"priority of all the user's":         `renice -n 19 -u $(id -u)`,
		"input and output of another":        `ionice -c 3 -p $OTHER`,
		"processors of another":              `taskset -p 1 $OTHER`,
		"scheduling of another":              `chrt -i -p 0 $OTHER`,
		"datagrams to the log of the system": `logger -u /dev/log hello; test ! -S /dev/log && false`,
	})
	if after := stat(t, c.secret, home); after != before {
		t.Errorf("before %s\nafter  %s", before, after)
	}
	if m := sandbox.Marked(other.Process.Pid); m != 0 {
		t.Errorf("a program that was not marked has the mark %d", m)
	}
}

func TestMarkOutlivesEverything(t *testing.T) {
	c := inSlot(t)
	out, err := c.sh(`env -i setsid sh -c 'sed -n "/file locks/p" /proc/$$/limits'`)
	if err != nil || !strings.Contains(out, itoa(1<<62+12345)) {
		t.Errorf("got %q, %v", out, err)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// stat returns a description of permissions, owner and times.
func stat(t *testing.T, names ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "stat", append([]string{"-c", "%n %a %u %g %y"}, names...)...).Output()
	must(t, err)
	return string(out)
}

// A task of a root agent runs as another user, to whom folders above its own may be closed, without
// any of root's rights.
func TestRootBecomesAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	c := inSlot(t)
	user, err := sandbox.TaskUser(3)
	if err != nil || user == 0 {
		t.Fatalf("got %d, %v", user, err)
	}
	if err := os.Chmod(filepath.Dir(c.slot), 0o700); err != nil { // closed to other users
		t.Fatal(err)
	}
	must(t, os.Chown(c.slot, user, user))
	c.policy.User, c.policy.Reach = user, c.slot
	must(t, sandbox.Try(c.policy))
	if out, err := c.sh(`id -u; id -G; grep Cap /proc/self/status`); err != nil || strings.Count(out, itoa(user)) != 2 || strings.Count(out, ":\t0000000000000000") < 4 {
		t.Errorf("got %q, %v", out, err)
	}
	c.can(map[string]string{
		"its own files":      `echo x >"$PWD/f"; chmod 600 f; cat "$PWD/f" && mkdir -p a/b && rm -r a`,
		"programs it brings": `cp /bin/echo e; chmod 755 e; ./e`,
	})
	c.cannot(map[string]string{
		"becomes root":            `cp /bin/bash b; chmod u+s b; ./b -p -c 'test $EUID = 0'`,
		"becomes root by another": `su -c true`,
		"reads a key":             `cat "$SECRET"`,
		"reads a private key":     `ls /etc/ssl/private || cat /etc/shadow`,
		"stops the agent":         `prlimit --pid $PPID --nofile=0`,
		"kills the agent":         `kill -0 $PPID`,
		"gives files away":        `echo x >g; chown 0 g`,
		"makes a device":          `mknod d c 1 1`,
	})
}

// The supervisor keeps up with programs that make many held calls: they are slower, but not blocked
// forever.
func TestManyHeldCalls(t *testing.T) {
	c := inSlot(t)
	start := time.Now()
	if out, err := c.sh(`mkdir many; cd many; for i in $(seq 300); do : >$i; done; chmod 600 *; touch *; rm *`); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	t.Log("600 calls and their program's own work took", time.Since(start))
}
