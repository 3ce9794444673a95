package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// smallDisk mounts a disk of the given size on a folder and returns the folder.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	dir := filepath.Join(t.TempDir(), "disk")
	must(t, os.Mkdir(dir, 0o755))
	if err := unix.Mount("starling-test", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
			t.Error(err)
		}
	})
	return dir
}

// fill writes to a file until the disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	must(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(bytes.Repeat([]byte("x"), size)); err != nil {
			size /= 2
		}
	}
}

// newAgentIn makes an agent whose data directory, but not its log, is on a disk.
func newAgentIn(t *testing.T, disk string) *testhost.Agent {
	t.Helper()
	home := filepath.Join(t.TempDir(), "a")
	a, err := testhost.NewAgent(bin, home, "disk_min_free_gb = 0\ndisk_max_used_pct = 100\n", "log_max_mb = 0\n")
	must(t, err)
	data := filepath.Join(disk, "a")
	if err := os.Rename(home, data); err != nil { // it is on another file system
		must(t, os.CopyFS(data, os.DirFS(home)))
	}
	if err := os.RemoveAll(home); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	must(t, os.Symlink(data, home))
	t.Cleanup(func() { end(t, a) })
	return a
}

// troubleOf returns a function that waits until the agent has logged a disk fault since, or has
// ended.
func troubleOf(t *testing.T, ctx context.Context, a *testhost.Agent) (wait func()) {
	t.Helper()
	fault := regexp.MustCompile(`while the disk was full|cannot save the state|no space left on device|read-only file system|input/output error`)
	read := func() []byte {
		log, err := os.ReadFile(a.Log())
		must(t, err)
		return log
	}
	before := len(read())
	return func() {
		t.Helper()
		testwait.Try(t, ctx, "the agent to meet a fault of its disk", func() error {
			select {
			case <-a.Process().Done():
				return nil
			default:
			}
			if log := read()[before:]; !fault.Match(log) {
				return fmt.Errorf("it has logged %s", log)
			}
			return nil
		})
	}
}

// With a full disk an agent continues and reports the problem. When there is room again, nothing is
// lost: each result is credited once.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "64m")
	ctx := patience(t)
	p := newProject(t, ctx)
	// A program that writes while the disk is full fails, and this is the only host for another
	// result.
	set(t, p, map[string]string{"one_result_per_host_per_wu": "false"})
	exponents := []int{1279, 2203, 2281, 3217}
	workWith(t, ctx, p, 1, append(slowly(2*time.Millisecond), "--rsc-disk-bound", "1e6"), exponents...)
	serve(t, ctx, p)
	a := newAgentIn(t, disk)
	startAgent(t, ctx, a, p)
	for n := range 2 {
		s := await(t, ctx, a, "a task to run", func(s control.Status) bool {
			for _, k := range s.Tasks {
				if k.Running {
					return true
				}
			}
			return len(s.Tasks) == 0 && n > 0
		})
		full := filepath.Join(disk, "full")
		trouble := troubleOf(t, ctx, a)
		fill(t, full)
		if len(s.Tasks) > 0 {
			trouble()
		}
		if n == 0 { // also an agent that starts, and one that is killed
			a.Process().Kill()
			must(t, a.Start())
			_ = a.Reach(ctx) // or until it ends
		}
		must(t, os.Remove(full))
		select {
		case <-a.Process().Done():
			log, _ := os.ReadFile(a.Log())
			if !strings.Contains(string(log), "no space left on device") {
				t.Fatalf("the agent has ended:\n%s", log)
			}
			if err := a.Start(); err != nil { // as its service does
				t.Fatal(err)
			}
		default:
		}
	}
	creditedOnce(t, ctx, p, 1, exponents...)
}

// After a data directory disappears, as on a network drive, and returns, it still has all its
// content.
func TestADriveThatGoesAndComesBack(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "128m")
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{2203, 2281}
	workWith(t, ctx, p, 1, append(slowly(2*time.Millisecond), "--rsc-disk-bound", "1e6"), exponents...)
	serve(t, ctx, p)
	a := newAgentIn(t, disk)
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "a task to run", func(s control.Status) bool { return len(s.Tasks) > 0 && s.Tasks[0].Running })
	cover := func() {
		must(t, unix.Mount("starling-test", disk, "tmpfs", 0, "size=1m"))
	}
	trouble := troubleOf(t, ctx, a)
	cover() // as if nothing were mounted there
	trouble()
	must(t, unix.Unmount(disk, unix.MNT_DETACH))
	creditedOnce(t, ctx, p, 1, exponents...)
	if s := await(t, ctx, a, "the agent to answer", func(control.Status) bool { return true }); len(s.Projects) != 1 {
		t.Errorf("projects: %+v", s.Projects)
	}
}

// A disk that fails, first with I/O errors and then by becoming read-only, loses nothing that was
// on it. After its repair the agent resumes.
func TestADyingDisk(t *testing.T) {
	// Not parallel: a test that makes a mount namespace would keep the disk mounted.
	under := smallDisk(t, "48m")
	d := newExt4(t, filepath.Join(under, "image"))
	disk := d.folder
	ctx := patience(t)
	p := newProject(t, ctx)
	exponents := []int{1279, 2203, 2281, 3217}
	workWith(t, ctx, p, 1, append(slowly(2*time.Millisecond), "--rsc-disk-bound", "1e6"), exponents...)
	serve(t, ctx, p)
	a := newAgentIn(t, disk)
	unix.Sync() // the test's own files must not delay the agent
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "a task to run", func(s control.Status) bool { return len(s.Tasks) > 0 && s.Tasks[0].Running })
	trouble := troubleOf(t, ctx, a)
	fill(t, filepath.Join(under, "full")) // no room is left for data that is written to the disk now
	big, err := os.Create(filepath.Join(disk, "big"))
	must(t, err)
	for range 200 {
		if _, err = big.Write(make([]byte, 1<<20)); err != nil {
			break
		}
	}
	if err = errors.Join(err, big.Sync()); !errors.Is(err, unix.EIO) && !errors.Is(err, unix.EROFS) && !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk has not failed: %v", err)
	}
	_ = big.Close()
	trouble()
	select {
	case <-a.Process().Done():
		log, _ := os.ReadFile(a.Log())
		if strings.Contains(string(log), "goroutine ") {
			t.Errorf("the agent crashed:\n%s", log)
		}
	default:
		if err := a.Stop(); err != nil {
			t.Logf("the agent ended with: %v", err)
		}
	}
	d.unmount(ctx)
	must(t, os.Remove(filepath.Join(under, "full")))
	d.repair()
	must(t, a.Start())
	creditedOnce(t, ctx, p, 1, exponents...)
}

// A server on a disk that becomes read-only confirms nothing that it cannot keep, and its operator
// reads why. Agents keep their results, and report them once the disk is repaired.
func TestADyingDiskOfTheServer(t *testing.T) {
	// Not parallel: as above.
	d := newExt4(t, filepath.Join(t.TempDir(), "image"))
	var device unix.Stat_t
	must(t, unix.Stat(d.folder, &device))
	link, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(device.Dev), unix.Minor(device.Dev)))
	if err != nil {
		t.Skip(err)
	}
	ctx := patience(t)
	// The server's log is on another disk.
	dir := filepath.Join(t.TempDir(), "project")
	must(t, errors.Join(os.Mkdir(filepath.Join(d.folder, "p"), 0o755), os.Symlink(filepath.Join(d.folder, "p"), dir)))
	p := newProjectIn(t, ctx, dir)
	exponents := []int{1279, 2203, 2281, 3217}
	workWith(t, ctx, p, 1, slowly(2*time.Millisecond), exponents...)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	await(t, ctx, a, "a task to run", func(s control.Status) bool { return len(s.Tasks) > 0 && s.Tasks[0].Running })
	if err := os.WriteFile(filepath.Join("/sys/fs/ext4", filepath.Base(link), "trigger_fs_error"), []byte("a test"), 0); err != nil {
		t.Skip(err)
	}
	await(t, ctx, a, "an upload to wait", func(s control.Status) bool {
		for _, x := range s.Transfers {
			if x.Upload && x.Trouble != "" {
				return true
			}
		}
		return false
	})
	if out := run(t, ctx, p, "status", p.Dir); !strings.Contains(out, ": read-only file system\n") {
		t.Errorf("status: %s", out)
	}
	if out, err := p.Run(ctx, "doctor", p.Dir); err == nil || !strings.Contains(err.Error(), "faults found: 1") {
		t.Errorf("doctor: %v: %s", err, out)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	d.unmount(ctx)
	d.repair()
	must(t, p.Serve(ctx))
	if _, err := a.Run(ctx, "update", p.URL); err != nil { // instead of the wait for the next attempt
		t.Fatal(err)
	}
	creditedOnce(t, ctx, p, 1, exponents...)
}

// ext4 is a disk in a file that becomes read-only at its first error.
type ext4 struct {
	t             *testing.T
	image, folder string
}

// newExt4 makes a disk and mounts it, until the test ends.
func newExt4(t *testing.T, image string) *ext4 {
	t.Helper()
	for _, program := range []string{"mkfs.ext4", "e2fsck", "losetup", "mount", "umount"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	d := &ext4{t, image, filepath.Join(t.TempDir(), "dying")}
	must(t, errors.Join(os.Mkdir(d.folder, 0o755), os.WriteFile(image, nil, 0o600), os.Truncate(image, 256<<20)))
	if err := d.run("mkfs.ext4", "-q", "-F", image); err != nil {
		t.Skip(err)
	}
	if err := d.mount(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(d.folder, unix.MNT_DETACH) })
	return d
}

func (d *ext4) run(name string, args ...string) error {
	out, err := exec.CommandContext(d.t.Context(), name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

func (d *ext4) mount() error {
	return d.run("mount", "-o", "loop,errors=remount-ro", d.image, d.folder)
}

func (d *ext4) unmount(ctx context.Context) {
	d.t.Helper()
	if err := d.run("umount", d.folder); err != nil {
		d.t.Fatal(err)
	}
	letGo(d.t, ctx, d.image)
}

// repair repairs the disk and mounts it again.
func (d *ext4) repair() {
	d.t.Helper()
	_ = d.run("e2fsck", "-fy", d.image) // its exit status is not 0 if it repaired something
	if err := errors.Join(d.mount(), os.WriteFile(filepath.Join(d.folder, "new"), nil, 0o600)); err != nil {
		d.t.Fatalf("the disk is not as good as new: %v", err)
	}
}

// letGo waits until nothing has the disk image mounted. Programs of other tests may have made a
// mount namespace meanwhile, which has the disk mounted for as long as it exists. Until then
// another mount would get the same read-only file system.
func letGo(t *testing.T, ctx context.Context, image string) {
	t.Helper()
	testwait.Try(t, ctx, "the disk to be let go", func() error {
		out, err := exec.CommandContext(ctx, "losetup", "--associated", image).CombinedOutput()
		if err != nil {
			t.Fatalf("losetup: %v: %s", err, out)
		}
		if len(out) > 0 {
			return fmt.Errorf("losetup: %s", out)
		}
		return nil
	})
}
