package executor

import (
	"crypto/md5"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/internal/testimage"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

const describedAs = "image_1.json"

// inImage makes a shell script the application, in an image with some programs of this computer.
func inImage(t *testing.T, script string) (*bench, Task) {
	t.Helper()
	b, task := hostile(t, script)
	root := t.TempDir()
	if err := testimage.System(t.Context(), root, "sh", "cat", "ls", "head", "sleep", "mkdir"); err != nil {
		t.Skip(err)
	}
	must(t, os.WriteFile(filepath.Join(root, "marker"), []byte("image\n"), 0o600))
	layer, err := testimage.Folder(root)
	must(t, err)
	task.Image = b.image(layer)
	b.useImages()
	return b, task
}

func (b *bench) useImages() {
	b.t.Helper()
	if err := b.UseImages(); err != nil {
		b.t.Skip(err)
	}
}

// image puts an image of one layer into the project's folder.
func (b *bench) image(archive []byte) *Image {
	b.t.Helper()
	l, err := testimage.Layer(b.project, archive)
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := json.Marshal(protocol.Image{Layers: []protocol.ImageLayer{l}, Command: []string{"sh"}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.put(describedAs, string(text))
	content, err := os.ReadFile(filepath.Join(b.project, l.FileName()))
	if err != nil {
		b.t.Fatal(err)
	}
	sum := md5.Sum(content)
	return &Image{Description: describedAs, Layers: []File{{Physical: l.FileName(), MD5: hex.EncodeToString(sum[:])}}}
}

// A task in an image sees its files and its slot, writes outputs there, and leaves nothing behind in
// the image.
func TestTaskInAnImage(t *testing.T) {
	b, task := inImage(t, `
		test "$(cat /marker)" = image || exit 11
		test "$STARLING_IMAGE" || exit 12
		test ! -e "$SECRET" || exit 13
		echo x >/tmp/t && test "$(cat starling_tmp/t)" = x || exit 14
		test "$(cat $P/in_1)" = hello || exit 15
		test ! -e /etc/passwd || exit 16
		test "$(ls /)" || exit 17
		echo x >/new && exit 18
		echo done >starling_outputs/r_0_0
		echo 0 >boinc_finish_called`)
	t.Setenv("SECRET", filepath.Join(b.data, describedAs))
	for range 2 { // in the same image
		b.start(task)
		if e := b.exited(); e.Verdict != Success || len(e.Outputs) != 1 {
			t.Fatalf("got %.1000v", e)
		}
		must(t, b.Clear(0))
	}
	if found, _ := filepath.Glob(filepath.Join(b.data, imagesDir, "*", "new")); len(found) > 0 {
		t.Errorf("the image was changed: %s", found)
	}
	if err := b.KeepImages([]string{filepath.Join("projects", filepath.Base(b.project), describedAs), "projects/gone/x"}); err != nil {
		t.Error(err)
	}
	if found, _ := filepath.Glob(filepath.Join(b.data, imagesDir, "*", "marker")); len(found) != 1 {
		t.Errorf("images that are kept: %s", found)
	}
	if err := b.KeepImages(nil); err != nil {
		t.Error(err)
	}
	if found, _ := filepath.Glob(filepath.Join(b.data, imagesDir, "*")); len(found) != 0 {
		t.Errorf("images that are not needed: %s", found)
	}
}

// Temporary files count against the disk bound, like all files in the slot.
func TestDiskBoundInAnImage(t *testing.T) {
	b, task := inImage(t, `i=0; while [ $i -lt 100 ]; do head -c 1000000 /dev/zero >/tmp/$i; i=$((i+1)); done; sleep 1000`)
	task.Init.RscDiskBound, b.timing.leave = 10<<20, 100*time.Millisecond // the shell does not read messages
	b.start(task)
	if e := b.ended(); e.Verdict == Success || !strings.Contains(e.Message, "disk") {
		t.Errorf("got %.500v", e)
	}
}

// Tasks in images are suspended, found after a restart, and ended as others are.
func TestProcessesInAnImage(t *testing.T) {
	b, task := inImage(t, `sleep 1000 & : >ready; i=0; while :; do i=$((i+1)); done`)
	b.start(task)
	b.appears("ready")
	must(t, b.Suspend(task.Result))
	b.progress(func(p Progress) bool { return p.Suspended })
	pid := b.Progress()[task.Result].PID
	b.restart()
	if err := b.KillLeftovers(t.Context()); err != nil {
		t.Error(err)
	}
	b.until("the processes' end", func() bool {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		return err != nil || strings.Contains(string(text), ") Z ")
	})
	for _, left := range processesOf(b.data) {
		t.Errorf("a process is left: %s", left)
	}
	b.useImages()
	b.timing.leave = 100 * time.Millisecond // the shell does not read messages
	must(t, os.Remove(b.slotFile("ready")))
	b.start(task)
	b.appears("ready")
	must(t, b.Abort(task.Result, 203, "enough"))
	if e := b.ended(); e.Verdict != Aborted {
		t.Errorf("got %.500v", e)
	}
}

// processesOf returns the commands of processes whose environment names a data directory.
func processesOf(data string) (all []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && strings.Contains(string(env), slotMark+"="+data) {
			command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			all = append(all, dir+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return all
}

// A layer that has changed on the disk is downloaded again. An image that is wrong as its project
// published it fails the task. In both cases nothing runs.
func TestWrongImages(t *testing.T) {
	b, task := inImage(t, `exit 7`)
	layer := filepath.Join(b.project, task.Image.Layers[0].Physical)
	good, err := os.ReadFile(layer)
	must(t, err)
	must(t, os.WriteFile(layer, good[:len(good)/2], 0o600))
	changed := &ChangedError{}
	if err := b.Start(task); !errors.As(err, &changed) || len(changed.Files) != 1 || changed.Files[0] != task.Image.Layers[0].Physical {
		t.Errorf("a changed layer: %v", err)
	}
	task.Image.Room = 1000
	room := &RoomError{}
	if err := b.Start(task); !errors.As(err, &room) || room.Need < 1000 || errors.Is(err, ErrUnusable) {
		t.Errorf("an image that is too large for the disk: %v", err)
	}
	task.Image.Room = 0
	sum := md5.Sum(good[:len(good)/2])
	task.Image.Layers[0].MD5 = hex.EncodeToString(sum[:])
	if err := b.Start(task); !errors.Is(err, ErrUnusable) {
		t.Errorf("a layer that was published incomplete: %v", err)
	}
	must(t, os.Remove(layer))
	if err := b.Start(task); err == nil || errors.Is(err, ErrUnusable) {
		t.Errorf("a layer that is missing: %v", err)
	}
	b.put(describedAs, `{"layers": []}`)
	if err := b.Start(task); !errors.Is(err, ErrUnusable) {
		t.Errorf("a wrong description: %v", err)
	}
	task.Image.Description = "gone"
	if err := b.Start(task); err == nil || errors.Is(err, ErrUnusable) {
		t.Errorf("no description: %v", err)
	}
	b.restart() // an agent that cannot run images
	if err := b.Start(task); !errors.Is(err, ErrNoImages) || errors.Is(err, ErrUnusable) {
		t.Errorf("without images: %v", err)
	}
}

// An agent that stops does not wait until an image is unpacked.
func TestStopWhileUnpacking(t *testing.T) {
	b, task := inImage(t, `exit 7`)
	b.stopStarts()
	if err := b.Start(task); !errors.Is(err, ErrStopped) {
		t.Errorf("got %v", err)
	}
	if found, _ := filepath.Glob(filepath.Join(b.data, imagesDir, "*")); len(found) > 0 {
		t.Errorf("it left %s", found)
	}
}

// Without a sandbox, images are not run.
func TestImagesNeedTheSandbox(t *testing.T) {
	b := newBench(t)
	b.sandboxed = nil
	if no, ok := errors.AsType[*ImagesError](b.UseImages()); !ok || !strings.Contains(no.Cure.String(), "sandbox = false") {
		t.Errorf("got %+v", no)
	}
}

// The wrapper, the main program of such versions, needs shared memory and the other parts of
// BOINC's interface.
func TestInterfaceInAnImage(t *testing.T) {
	b := newBench(t)
	root := t.TempDir()
	self, err := os.Executable()
	must(t, err)
	must(t, testimage.System(t.Context(), root, self))
	archive, err := testimage.Folder(root)
	must(t, err)
	task := b.task("count")
	task.Image = b.image(archive)
	b.useImages()
	b.start(task)
	b.appears("state")
	b.progress(func(p Progress) bool { return p.CheckpointCPUTime > 0 })
	must(t, b.Quit(task.Result))
	b.ends(WillRestart)
	if text := b.read(b.slotFile(appipc.StderrFile)); !strings.Contains(text, `starting with ""`) {
		t.Errorf("stderr: %s", text)
	}
}

// Where user namespaces are refused, an ordinary user's agent reads the reason and the remedy. The
// test repeats itself in a namespace without the right to make others.
func TestImagesWithoutNamespaces(t *testing.T) {
	const inside = "STARLING_TEST_WITHOUT_NAMESPACES"
	if os.Getenv(inside) != "" {
		no, ok := errors.AsType[*ImagesError](newBench(t).UseImages())
		if !ok || !strings.HasSuffix(no.Error(), "limit of namespaces is reached. User namespaces are turned off.") || !strings.HasPrefix(no.Cure.String(), "turn them on with sysctl user.max_user_namespaces") {
			t.Errorf("got %+v", no)
		}
		return
	}
	const user = "61183"
	cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-user="+user, "--map-group="+user, "--keep-caps",
		"sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces || exit 77; exec "$0" -test.run='^TestImagesWithoutNamespaces$' -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), inside+"=1", "TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.ProcessState == nil, cmd.ProcessState.ExitCode() == 77, strings.Contains(string(out), "unshare:"):
		t.Skipf("%v: %s", err, out)
	case err != nil || !strings.Contains(string(out), "--- PASS: TestImagesWithoutNamespaces"):
		t.Errorf("%v: %s", err, out)
	}
}

// Where AppArmor refuses user namespaces, the remedy is a command that installs the profile from the
// archive, for the program where it is.
func TestProfileOfAnArchive(t *testing.T) {
	dir, tools := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "starling")
	if got := installProfile(program); got != "" {
		t.Errorf("without a profile: %s", got)
	}
	profile, err := os.ReadFile("../tools/packages/starling.apparmor")
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "share/starling"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "share/starling/apparmor"), profile, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(tools, "apparmor_parser"), []byte("#!/bin/sh\necho \"$@\"\n"), 0o700)
	}
	must(t, err)
	command, ok := strings.CutPrefix(installProfile(program), "sudo ")
	if !ok || strings.Count(command, usedProfile) != 2 {
		t.Fatalf("got %s", command)
	}
	installed := filepath.Join(dir, "installed")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command, usedProfile, installed))
	cmd.Env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "-r "+installed+"\n" {
		t.Errorf("%s: %v: %s", command, err, out)
	}
	want := strings.Replace(string(profile), packagedProgram, program, 1)
	if got, err := os.ReadFile(installed); err != nil || string(got) != want || want == string(profile) {
		t.Errorf("installed %s, %v", got, err)
	}
	if got := installProfile(filepath.Join(dir, "it's")); got != "" {
		t.Errorf("a path that a shell would not understand: %s", got)
	}
}

// A task on a coprocessor uses its device and finds the libraries of its driver, which only the
// computer has.
func TestDriverInAnImage(t *testing.T) {
	b, task := inImage(t, `
		test "$STARLING_IMAGE_LIBRARIES" = /usr/local/driver || exit 11
		ls / && exit 12
		LD_LIBRARY_PATH=$STARLING_IMAGE_LIBRARIES ls / >/dev/null || exit 13
		echo x >/dev/pts/new && exit 14
		test -c "$(cat $P/in_1)" && echo x >"$(cat $P/in_1)" || exit 15
		echo done >starling_outputs/r_0_0
		echo 0 >boinc_finish_called`)
	root := t.TempDir()
	if err := testimage.System(t.Context(), root, "sh", "cat", "ls"); err != nil {
		t.Skip(err)
	}
	var name, from string // of a library that ls needs and the shell does not
	for _, n := range libraries(t, "ls") {
		found, _ := filepath.Glob(filepath.Join(root, "*", "*", n))
		deeper, _ := filepath.Glob(filepath.Join(root, "*", "*", "*", n))
		if found = append(found, deeper...); len(found) > 0 && !slices.Contains(libraries(t, "sh"), n) {
			name, from = n, found[0]
		}
	}
	if name == "" {
		t.Skip("ls needs no library of its own here")
	}
	moved := filepath.Join(t.TempDir(), "library")
	must(t, os.Rename(from, moved))
	archive, err := testimage.Folder(root)
	must(t, err)
	task.Image = b.image(archive)
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	n, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0)
	}
	task.Devices = []string{"/dev/pts/" + strconv.Itoa(n)}
	if err == nil {
		err = os.Chmod(task.Devices[0], 0o666)
	}
	if err != nil {
		t.Skip(err)
	}
	b.put("in_1", task.Devices[0])
	incomplete := errors.New("incomplete")
	task.Image.Shared = func() (Shared, error) { return Shared{}, incomplete }
	if err := b.Start(task); !errors.Is(err, incomplete) || errors.Is(err, ErrUnusable) {
		t.Errorf("without a driver: %v", err)
	}
	task.Image.Shared = func() (Shared, error) {
		return Shared{[]Shown{{At: "/usr/local/driver"}, {At: "/usr/local/driver/" + name, From: moved}}, "/usr/local/driver"}, nil
	}
	b.start(task)
	if e := b.exited(); e.Verdict != Success || len(e.Outputs) != 1 {
		t.Errorf("got %.1000v", e)
	}
}

// libraries returns the names of the libraries that a program of this computer loads itself.
func libraries(t *testing.T, program string) []string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skip(err)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	names, err := f.ImportedLibraries()
	if err != nil {
		t.Skip(err)
	}
	return names
}
