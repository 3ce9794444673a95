package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestImage runs the agent from its image in podman: it starts with only an empty volume, another
// computer's agent pairs with it and attaches it, a task is computed in it, and a second container
// continues the work of the first.
func TestImage(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_IMAGE", "test-image")
	for _, program := range []string{"podman", "runc", "debootstrap"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed; the image is NOT tested", program)
		}
	}
	ctx := patience(t)
	layout, err := os.MkdirTemp("", "starling-image-") //nolint:usetesting // podman wants lower case
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(layout) })
	storage := t.TempDir()
	out, err := exec.CommandContext(ctx, "../tools/image/build", "0.9.2", layout).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
		t.Skipf("%s; the image is NOT tested", strings.TrimSpace(string(out)))
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const limits = "nofile=1024:1024" // podman's defaults may be more than this computer grants
	podman := func(args ...string) (string, error) {
		base := []string{"--runtime", "runc", "--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run"), "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs"}
		out, err := exec.Command("podman", append(base, args...)...).Output() // also when the test's context has ended
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("podman %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
		}
		return strings.TrimSpace(string(out)), err
	}
	mustPodman := func(args ...string) string {
		t.Helper()
		out, err := podman(args...)
		must(t, err)
		return out
	}
	image := mustPodman("pull", "--quiet", "oci:"+layout+":0.9.2")
	if out, err := podman("run", "--rm", "--network", "none", "--ulimit", limits, "--ulimit", "nproc=4096:4096", image, "--version"); err != nil || !strings.Contains(out, "0.9.2") {
		t.Skipf("containers cannot be run here: %s, %v", out, err)
	}

	// The test chooses the agent's ports, since the network is this computer's.
	port := freePort(t)
	volume := t.TempDir()
	settings := fmt.Sprintf("remote_port = %d\nallow_multiple_clients = true\ngui_rpc_port = 0\ndashboard_port = 0\nncpus = 1\n", port)
	prefs := "suspend_cpu_usage = 0\n"
	if err := errors.Join(os.WriteFile(filepath.Join(volume, "starling.toml"), []byte(settings), 0o644), os.WriteFile(filepath.Join(volume, "prefs.toml"), []byte(prefs), 0o644),
		os.Chmod(volume, 0o700), chownAll(volume, 1000)); err != nil {
		t.Fatal(err)
	}
	start := func(args []string, command ...string) (id string) {
		t.Helper()
		args = append(append([]string{"run", "--detach", "--ulimit", limits, "--ulimit", "nproc=4096:4096"}, args...), image)
		id = mustPodman(append(args, command...)...)
		t.Cleanup(func() {
			if t.Failed() {
				log, _ := podman("logs", id)
				t.Log(log)
			}
			_, _ = podman("rm", "--force", "--time", "20", id)
		})
		return id
	}
	invited := func(id string) (code control.Invitation) {
		t.Helper()
		testwait.Try(t, ctx, "the container's agent", func() error {
			out, err := podman("exec", id, "starling", "remote", "pair", "--json")
			if err == nil {
				err = json.Unmarshal([]byte(out), &code)
			}
			return err
		})
		return code
	}
	if code := invited(start([]string{"--network", "none"})); code.Port != 31419 {
		t.Errorf("a new one listens at port %d", code.Port)
	}
	mine := []string{"--network", "host", "--volume", volume + ":/data"}
	id := start(mine, "run") // at the port in the settings
	code := invited(id)

	p := newProject(t, ctx)
	work(t, ctx, p, 1, 4423)
	serve(t, ctx, p)
	home := t.TempDir()
	command := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, bin.Path(testhost.Starling), append([]string{"--host", fmt.Sprintf("127.0.0.1:%d", port)}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, args := range [][]string{{"--pair", code.Code}, {"attach", p.URL, "--key", p.Key}} {
		if out, err := command(args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	creditedOnce(t, ctx, p, 1, 4423)
	if out, err := command("history"); err != nil || !strings.Contains(out, "m4423") {
		t.Errorf("the history: %v\n%s", err, out)
	}
	mustPodman("stop", "--time", "20", id)
	invited(start(mine, "run"))
	history, err := command("history")
	if err != nil || !strings.Contains(history, "m4423") {
		t.Errorf("the history of the second container: %v\n%s", err, history)
	}
}

// chownAll gives a folder and its content to a user.
func chownAll(dir string, uid int) error {
	return filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Chown(path, uid, uid))
	})
}
