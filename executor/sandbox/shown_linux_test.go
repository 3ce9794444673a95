package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/executor/sandbox"
)

// terminal opens a new terminal, to be used instead of a GPU, and returns the path of its device.
func terminal(t *testing.T) string {
	t.Helper()
	f, err := os.OpenFile(device, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	fd := int(f.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	path := fmt.Sprintf("/dev/pts/%d", n)
	if err == nil {
		err = os.Chmod(path, 0o666)
	}
	if err != nil {
		t.Skip(err)
	}
	return path
}

// A program with its own root uses a device that it was given, at its path, and no other.
func TestDevicesInARoot(t *testing.T) {
	eachUser(t, func(t *testing.T, c cell) {
		given, other := terminal(t), terminal(t)
		t.Setenv("GIVEN", given)
		t.Setenv("OTHER", other)
		c.policy.Devices = []string{given}
		if out, err := c.sh(`stty -F "$GIVEN" -a && echo x >"$GIVEN" && test "$(ls /dev/pts)" = "${GIVEN##*/}"`); err != nil || !strings.Contains(out, "speed") {
			t.Errorf("the device cannot be used: %v, %q", err, out)
		}
		c.cannot(map[string]string{
			"another device":         `stty -F "$OTHER" -a || echo x >"$OTHER" || stty -F "/proc/$PPID/root$OTHER" -a`,
			"its permissions":        `chmod 600 "$GIVEN"`,
			"its removal":            `rm "$GIVEN"`,
			"another in its folder":  `mknod /dev/pts/x c 1 1 || ln -s /tmp /dev/pts/x || echo x >/dev/pts/x`,
			"another in its slot":    `mknod d c 1 1 && cat d`,
			"the computer's devices": `ls /dev/tty || ls /dev/ptmx || ls /dev/ | grep -e '^sd' -e '^loop' -e '^mem$'`,
		})
		if st, err := os.Stat(given); err != nil || st.Mode().Perm() != 0o666 {
			t.Errorf("the device is %v, %v", st, err)
		}
		c.policy.Devices = []string{given, "/dev/gone"}
		cmd := exec.CommandContext(t.Context(), "/bin/true")
		cmd.Dir = c.slot
		if err := sandbox.Start(cmd, c.policy); err == nil || !strings.Contains(err.Error(), "/dev/gone") {
			t.Errorf("with a device that is gone: %v", err)
		}
	})
}

// The service's user may open GPUs as a member of a group, which counts in an image, too. Tasks of a
// root agent get the group with the device. The test repeats itself as a user with the group.
func TestADeviceOfAGroupInARoot(t *testing.T) {
	const inside, group, user = "STARLING_TEST_DEVICE", "12345", "61181"
	if node := os.Getenv(inside); node != "" {
		c := inImage(t, 0)
		c.policy.Devices = []string{node}
		if out, err := c.sh(`stty -F ` + node + ` speed`); err != nil {
			t.Errorf("got %q, %v", out, err)
		}
		return
	}
	slot, err := sandbox.TaskUser(7)
	if err != nil || slot == 0 {
		t.Skip("only root can become a user with other groups")
	}
	c, node := inImage(t, slot), terminal(t)
	gid, _ := strconv.Atoi(group)
	if err := errors.Join(os.Chown(node, 0, gid), os.Chmod(node, 0o660)); err != nil {
		t.Skip(err)
	}
	c.policy.Devices = []string{node}
	if out, err := c.sh(`stty -F ` + node + ` speed && id -G`); err != nil || !strings.HasSuffix(out, "\n"+fmt.Sprintln(slot, group)) {
		t.Errorf("got %q, %v", out, err)
	}
	dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // for another user
	must(t, err)
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "test")
	binary, err := os.ReadFile("/proc/self/exe")
	must(t, errors.Join(err, os.Chmod(dir, 0o777), os.WriteFile(program, binary, 0o755)))
	for _, groups := range []string{"--groups=" + group, "--clear-groups"} {
		cmd := exec.CommandContext(t.Context(), "setpriv", "--reuid="+user, "--regid="+user, groups, "--inh-caps=-all", program, "-test.run=^TestADeviceOfAGroupInARoot$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"="+node, "TMPDIR="+dir)
		out, err := cmd.CombinedOutput()
		switch mayOpen := groups != "--clear-groups"; {
		case cmd.ProcessState == nil, strings.Contains(string(out), "--- SKIP"):
			t.Skipf("%v: %s", err, out)
		case (err == nil) != mayOpen:
			t.Errorf("%s: %v: %s", groups, err, out)
		}
	}
}

// Files, folders and links of a policy are shown at their paths, also in place of the image's own, and
// cannot be changed.
func TestShownInARoot(t *testing.T) {
	eachUser(t, func(t *testing.T, c cell) {
		computer := t.TempDir()
		for _, dir := range []string{computer, filepath.Dir(computer), filepath.Join(computer, "folder")} {
			must(t, os.MkdirAll(dir, 0o755))
			must(t, os.Chmod(dir, 0o755))
		}
		own := filepath.Join(c.policy.Root, "usr/local/driver")
		must(t, os.MkdirAll(own, 0o755))
		for name, text := range map[string]string{
			filepath.Join(computer, "lib.so.1.2"): "library\n", filepath.Join(computer, "hidden"): "hidden\n", filepath.Join(computer, "folder", "f"): "f\n", filepath.Join(own, "old"): "old\n",
		} {
			must(t, os.WriteFile(name, []byte(text), 0o644))
		}
		c.policy.Shown = []sandbox.Shown{
			{At: "/sys/devices/d", From: filepath.Join(computer, "folder")},
			{At: "/sys/class/x/d", Link: "../../devices/d"},
			{At: "/usr/local/driver"},
			{At: "/usr/local/driver/lib64/lib.so.1.2", From: filepath.Join(computer, "lib.so.1.2")},
			{At: "/usr/local/driver/lib64/lib.so", Link: "lib.so.1.2"},
		}
		for i := range 48 { // of GPUs behind many bridges
			c.policy.Shown = append(c.policy.Shown, sandbox.Shown{At: "/sys/class/x/" + strconv.Itoa(i), Link: strings.Repeat("../devices/", 20)})
		}
		if out, err := c.sh(`cat /sys/class/x/d/f /usr/local/driver/lib64/lib.so && ls /usr/local/driver /usr/local/driver/lib64 && ls /sys`); err != nil ||
			out != "f\nlibrary\n/usr/local/driver:\nlib64\n\n/usr/local/driver/lib64:\nlib.so\nlib.so.1.2\nclass\ndevices\nfs\n" {
			t.Errorf("got %q, %v", out, err)
		}
		for _, command := range []string{
			`echo x >/sys/class/x/d/f`, `rm /sys/class/x/d`, `echo x >/sys/new`, `mkdir /usr/local/driver/lib64/new`, `rm /usr/local/driver/lib64/lib.so`,
			`echo x >/usr/local/driver/lib64/lib.so`, `chmod 777 /usr/local/driver/lib64/lib.so.1.2`, `cat ` + computer + `/hidden`, `umount /usr/local/driver`,
		} {
			if out, err := c.sh(command); err == nil {
				t.Errorf("%s: it could: %q", command, out)
			}
		}
		if left, err := os.ReadDir(own); err != nil || len(left) != 1 {
			t.Errorf("the image has %v, %v", left, err)
		}
	})
}
