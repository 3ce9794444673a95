package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/executor/sandbox"
)

// A terminal is used instead of a GPU: to use it, a program opens it and controls it by ioctl.
const device = "/dev/ptmx"

func TestADeviceThatWasGiven(t *testing.T) {
	for _, given := range []string{"none", "as a device", "to write", "with its folder, to write"} {
		t.Run(given, func(t *testing.T) {
			c := newCell(t)
			switch given {
			case "as a device":
				c.policy.Devices = []string{device, "/dev/none"}
			case "to write":
				c.policy.Write = append(c.policy.Write, device)
			case "with its folder, to write":
				c.policy.Write = append(c.policy.Write, "/dev/", "/dev/pts")
			}
			out, err := c.sh(`stty -F ` + device + ` -a`)
			if given == "none" && err == nil {
				t.Errorf("it can be used: %q", out)
			} else if given != "none" && (err != nil || !strings.Contains(out, "speed")) {
				t.Errorf("it cannot be used: %v, %q", err, out)
			}
		})
	}
}

func TestAFolderThatIsOnlyListed(t *testing.T) {
	c := newCell(t)
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "name"), []byte("content"), 0o600))
	if _, err := c.sh(`ls ` + folder); err == nil {
		t.Error("a folder that was not given is listed")
	}
	c.policy.List = []string{folder, "/none"}
	if out, err := c.sh(`ls ` + folder); err != nil || out != "name\n" {
		t.Errorf("it is not listed: %q, %v", out, err)
	}
	if out, err := c.sh(`cat ` + folder + `/name`); err == nil {
		t.Errorf("a file in it is read: %q", out)
	}
}

// Tasks of a root agent run as separate users. Each is a member of the group of its device and of
// no other.
func TestADeviceOfAGroup(t *testing.T) {
	user, err := sandbox.TaskUser(0)
	if err != nil || user == 0 {
		t.Skip("only root's tasks are other users")
	}
	c := newCell(t)
	const group = 12345
	folder := t.TempDir()
	for _, dir := range []string{folder, filepath.Dir(folder)} {
		must(t, os.Chmod(dir, 0o755))
	}
	node := filepath.Join(folder, "renderD128")
	must(t, os.WriteFile(node, []byte("content\n"), 0o600))
	if err := os.Chown(node, 0, group); err != nil {
		t.Skip(err)
	}
	must(t, os.Chmod(node, 0o660))
	must(t, os.Chown(c.slot, user, user))
	c.policy.User = user
	c.policy.Write = append(c.policy.Write, node)
	if out, err := c.sh(`cat ` + node); err == nil {
		t.Errorf("it can be read by anybody: %q", out)
	}
	c.policy.Devices = []string{node}
	if out, err := c.sh(`cat ` + node + `; id -G`); err != nil || out != "content\n"+fmt.Sprintln(user, group) {
		t.Errorf("got %q, %v", out, err)
	}
}
