package e2e_test

import (
	"archive/tar"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testimage"
	"github.com/starling-grid/starling/internal/testprogram"
)

// TestContainers makes an agent compute a task in a Podman container, which its volunteer allows.
// Before that, the project's refusal names the missing program and explains how to fix it.
func TestContainers(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("podman is not installed; tasks in containers are NOT tested")
	}
	if os.Getenv("STARLING_BIN") != "" {
		t.Skip("nothing can be built here")
	}
	ctx := patience(t)
	p := newProject(t, ctx)
	containers(t, ctx, p)
	serve(t, ctx, p)

	start := func(name, settings string) *testhost.Agent {
		t.Helper()
		return containerAgent(t, ctx, p, name, settings)
	}
	without := start("without", "")
	refused := await(t, ctx, without, "a refusal", func(s control.Status) bool {
		return len(s.Projects) == 1 && s.Projects[0].TroubleCode == "containers_needed"
	})
	if cure := refused.Projects[0].TroubleCure; !strings.Contains(cure, "install Podman") || !strings.Contains(cure, "virtualization = true") {
		t.Errorf("the cure: %s", cure)
	}
	if why, err := without.Run(ctx, "why"); err != nil || !strings.Contains(why, "run in containers") {
		t.Errorf("%v: %s", err, why)
	}

	with := start("with", "virtualization = true\n")
	status, err := with.Status(ctx)
	must(t, err)
	if len(status.Virtualization) == 0 {
		t.Skipf("containers cannot be run here, and tasks in them are NOT tested: %v", status.VirtualizationFaults)
	}
	if c, err := p.AwaitDone(ctx); err != nil || c.Results.Granted != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	got, err := p.Outcome(ctx, "boxed", "out")
	if err != nil || string(got) != "HELLO" {
		t.Errorf("the outcome: %q, %v", got, err)
	}
}

// containerAgent starts an agent that can run Podman, where this computer can.
func containerAgent(t *testing.T, ctx context.Context, p *testhost.Project, name, settings string) *testhost.Agent {
	t.Helper()
	home, err := os.MkdirTemp("", "sc-") //nolint:usetesting // short, and open to other users
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	// No network, since programs that Podman's default network needs may be missing.
	must(t, os.MkdirAll(filepath.Join(home, ".config", "containers"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, ".config", "containers", "containers.conf"), []byte("[containers]\nnetns = \"none\"\n"), 0o600))
	a, err := testhost.NewAgent(unprivileged(t, home), filepath.Join(home, name), "", "ncpus = 1\n"+settings)
	if err == nil && os.Geteuid() == 0 {
		err = chownAll(home, nobody)
	}
	must(t, err)
	t.Cleanup(func() { end(t, a) })
	startAgent(t, ctx, a, p)
	return a
}

// containers adds an application whose tasks run in containers, and a workunit of it.
func containers(t *testing.T, ctx context.Context, p *testhost.Project) {
	t.Helper()
	dir := t.TempDir()
	must(t, testprogram.Build(ctx, dir, nil, "e2e/testdata/container", "e2e/testdata/contained"))
	program, err := os.ReadFile(filepath.Join(dir, "contained"))
	must(t, err)
	image, err := os.Create(filepath.Join(dir, "image.tar"))
	must(t, err)
	w := tar.NewWriter(image)
	err = w.WriteHeader(&tar.Header{Name: "contained", Mode: 0o755, Size: int64(len(program))})
	if err == nil {
		_, err = w.Write(program)
	}
	for _, end := range []func() error{w.Close, image.Close} {
		if e := end(); err == nil {
			err = e
		}
	}
	in := filepath.Join(dir, "in")
	if err == nil {
		err = os.WriteFile(in, []byte("hello"), 0o600)
	}
	must(t, err)
	must(t, p.Append("\n[plan_class.docker]\ndocker = true\n"))
	publish(t, ctx, p, "box", "--plan-class", "docker",
		"--main", filepath.Join(dir, "container"), "--file", image.Name()+"=image.tar")
	job(t, ctx, p, "box", "boxed", "--input", in+"=in", "--target-nresults", "1", "--min-quorum", "1")
}

// inDocker is a program in an image. It reads a file of its image's working directory, and fails if a file that
// a layer removes is there.
const inDocker = `#!/bin/sh
test ! -e /gone || exit 2
echo "$#: $1 $2 $WHAT $(cat table) $(cat in)" >out
`

// TestImagesForDocker makes an agent compute with a container image that is published for BOINC's
// docker_wrapper. STARLING_DOCKER_WRAPPER names that program. Without it, the test's own takes its place.
func TestImagesForDocker(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("podman is not installed; images for docker_wrapper are NOT tested")
	}
	if os.Getenv("STARLING_BIN") != "" {
		t.Skip("nothing can be built here")
	}
	ctx := patience(t)
	p := newProject(t, ctx)
	dir := t.TempDir()
	wrapper := os.Getenv("STARLING_DOCKER_WRAPPER")
	if wrapper == "" {
		must(t, testprogram.Build(ctx, dir, nil, "e2e/testdata/dockerwrapper"))
		wrapper = filepath.Join(dir, "dockerwrapper")
	}
	root := filepath.Join(dir, "root")
	if err := testimage.System(ctx, root, "sh", "cat", "ln", "test"); err != nil {
		t.Skip(err)
	}
	system, err := testimage.Folder(root)
	must(t, err)
	image, in := filepath.Join(dir, "image.tar"), filepath.Join(dir, "in")
	err = testimage.Docker(image, runtime.GOARCH,
		v1.Config{Entrypoint: []string{"./program"}, Cmd: []string{"it's"}, Env: []string{"PATH=/bin", "WHAT=a $word"}, WorkingDir: "/work"},
		system, testimage.Tar(testimage.File("gone", "", 0o644), testimage.File("work/table", "data", 0o644)),
		testimage.Tar(testimage.File(".wh.gone", "", 0o644), testimage.File("work/program", inDocker, 0o755)))
	must(t, err)
	must(t, os.WriteFile(in, []byte("hello"), 0o600))
	must(t, p.Append("\n[plan_class.docker]\ndocker = true\n"))
	publish(t, ctx, p, "box", "--plan-class", "docker",
		"--image", image, "--docker-wrapper", wrapper, "--cmdline", "--fast")
	job(t, ctx, p, "box", "boxed", "--input", in+"=in", "--target-nresults", "1", "--min-quorum", "1")
	serve(t, ctx, p)
	a := containerAgent(t, ctx, p, "docker", "virtualization = true\n")
	status, err := a.Status(ctx)
	must(t, err)
	if len(status.Virtualization) == 0 {
		t.Skipf("containers cannot be run here, and images for docker_wrapper are NOT tested: %v", status.VirtualizationFaults)
	}
	if c, err := p.AwaitDone(ctx); err != nil || c.Results.Granted != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	got, err := p.Outcome(ctx, "boxed", "out")
	if want := "2: it's --fast a $word data hello\n"; err != nil || string(got) != want {
		t.Errorf("the outcome: %q, %v; want %q", got, err, want)
	}
}

// nobody is the user without rights who runs agents in tests that run as root.
const nobody = 65534

// unprivileged returns programs that run the agent as a user without rights, with a folder as home,
// because Podman is meant for ordinary users. A test that does not run as root gets the usual
// programs.
func unprivileged(t *testing.T, home string) testhost.Bin {
	t.Helper()
	if os.Geteuid() != 0 {
		return bin
	}
	dir, err := os.MkdirTemp("", "sb-") //nolint:usetesting // short, and open to other users
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	script := fmt.Sprintf("#!/bin/sh\ncd / && exec setpriv --reuid %d --regid %d --clear-groups env -i PATH=\"$PATH\" HOME=%s XDG_RUNTIME_DIR=%s %s/starling \"$@\"\n",
		nobody, nobody, home, home, dir)
	program, err := os.ReadFile(bin.Path(testhost.Starling)) // the shared folder may be closed to others
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "starling"), program, 0o755)
	}
	scripts := filepath.Join(dir, "as-nobody")
	if err == nil {
		err = os.Mkdir(scripts, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(scripts, "starling"), []byte(script), 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	must(t, err)
	return testhost.Bin(scripts)
}
