package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testimage"
	"github.com/starling-grid/starling/internal/testwait"
)

// countsInImage is a program in an image. It resumes where it stopped, and does not reach the end
// until it has been resumed. It reads a file of its image's working directory.
const countsInImage = `#!/bin/sh
n=0 most=5
if [ -f state ]; then n=$(cat state) most=8; echo "went on at $n" >>out; fi
while [ "$n" -lt 8 ]; do
	i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done
	while [ "$n" -ge $most ]; do sleep 1; done
	n=$((n+1))
	echo $n >state.new
	mv state.new state
	echo "step $((n * 100 / 8)) %"
done
test ! -e /etc/hostname || exit 2
echo "$1 reached $n with $(cat table) of $WHAT" >>out
`

// TestImageApplications makes an agent compute with a container image, which BOINC's clients do not
// get. It is killed and resumes from the program's checkpoint. A second version shares a layer with
// the first, which is not downloaded again, and replaces it on the disk. Another application is for a
// coprocessor, which the agent declares. A third is for a GPU without a driver, and is not sent.
func TestImageApplications(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := emptyProject(t, ctx, "image")
	root := t.TempDir()
	if err := testimage.System(ctx, root, "sh", "cat", "mv", "sleep", "test"); err != nil {
		t.Skip(err)
	}
	system, err := testimage.Folder(root)
	must(t, err)
	platform, _ := hostinfo.Platform()
	add := func(app, number, program, table string, options ...string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "image.tar")
		config := v1.Config{Entrypoint: []string{"./program"}, Cmd: []string{"it has"}, Env: []string{"PATH=/bin", "WHAT=the image"}, WorkingDir: "/work"}
		files := testimage.Tar(testimage.File("work/program", program, 0o755), testimage.File("work/table", table, 0o644))
		must(t, testimage.Docker(path, runtime.GOARCH, config, system, files))
		run(t, ctx, p, append([]string{"version", "add", p.Dir, app, "--platform", platform, "--version", number, "--image", path}, options...)...)
	}
	resumable := []string{"--checkpoint", "state", "--progress-pattern", "step ([0-9]+) %"}
	must(t, p.Append("\n[plan_class.faked]\ngpu_type = \"fake\"\n[plan_class.driven]\ngpu_type = \"nvidia\"\n"))
	run(t, ctx, p, "app", "add", p.Dir, "counts")
	run(t, ctx, p, "app", "add", p.Dir, "card")
	run(t, ctx, p, "app", "add", p.Dir, "driven")
	add("counts", "1.00", countsInImage, "a table", resumable...)
	job(t, ctx, p, "counts", "first")
	serve(t, ctx, p)
	a := newAgentWith(t, "a", "log_level = \"debug\"\n[[coproc]]\ntype = \"fake\"\ncount = 1\npeak_flops = 1e10\n[[coproc]]\ntype = \"NVIDIA\"\ncount = 1\n")
	startAgent(t, ctx, a, p)
	if text, err := a.Run(ctx, "doctor"); !strings.Contains(text, "run in the sandbox") {
		t.Skipf("images do not run here: %s, %v", text, err)
	}
	computed := func(name, table string) {
		t.Helper()
		testwait.Try(t, ctx, "a checkpoint", func() error { return atLeast(a, 3) })
		testwait.Try(t, ctx, "the progress", func() error { return halfway(ctx, a) })
		a.Process().Kill()
		must(t, a.Start())
		text, err := p.Outcome(ctx, name, "out")
		must(t, err)
		var at int
		if _, err := fmt.Sscanf(string(text), "went on at %d\n", &at); err != nil || at < 3 || !strings.HasSuffix(string(text), "\nit has reached 8 with "+table+" of the image\n") {
			t.Errorf("%s: outcome %q, %v", name, text, err)
		}
	}
	computed("first", "a table")
	layers := layersOf(t, a)
	if len(layers) != 2 {
		t.Fatalf("layers %v", layers)
	}
	add("counts", "1.01", countsInImage, "another table", resumable...)
	job(t, ctx, p, "counts", "second")
	computed("second", "another table")
	testwait.Try(t, ctx, "the first version's removal", func() error {
		if now := layersOf(t, a); len(now) != 2 {
			return fmt.Errorf("layers %v", now)
		}
		if images, _ := filepath.Glob(filepath.Join(a.Dir, "images", "*", "work")); len(images) != 1 {
			return fmt.Errorf("images %v", images)
		}
		return nil
	})
	shared := 0
	for name, info := range layersOf(t, a) {
		if before := layers[name]; before != nil && os.SameFile(before, info) && before.ModTime().Equal(info.ModTime()) {
			shared++
		}
	}
	if shared != 1 {
		t.Errorf("%d layers were not downloaded again, want 1: %v, then %v", shared, layers, layersOf(t, a))
	}
	add("driven", "1.00", "#!/bin/sh\n", "", "--plan-class", "driven")
	job(t, ctx, p, "driven", "unsent")
	add("card", "1.00", "#!/bin/sh\necho \"$* with $CARD of $WHAT\" >out\n", "", "--plan-class", "faked", "--env", "CARD=card $GPU_DEVICE_NUM")
	job(t, ctx, p, "card", "third")
	if out, err := a.Run(ctx, "update", p.URL); err != nil { // for coprocessors it would ask later
		t.Fatalf("%v: %s", err, out)
	}
	if text, err := p.Outcome(ctx, "third", "out"); err != nil || string(text) != "it has --device 0 with card 0 of the image\n" {
		t.Fatalf("the coprocessor's task: %q, %v", text, err)
	}
	if _, err := os.Stat("/dev/nvidia0"); err == nil {
		return
	}
	if out, err := a.Run(ctx, "update", p.URL); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	testwait.Try(t, ctx, "the reason why the other one is not sent", func() error {
		s, err := a.Status(ctx)
		if err != nil || len(s.Tasks) > 0 {
			return fmt.Errorf("tasks %+v, %w", s.Tasks, err)
		}
		for _, x := range s.Projects[0].Refused {
			if x.Code == "image_gpu" && x.App == "driven" {
				return nil
			}
		}
		return fmt.Errorf("refused %+v", s.Projects[0].Refused)
	})
}

// atLeast returns nil once a program's checkpoint is at a number.
func atLeast(a *testhost.Agent, least int) error {
	found, _ := filepath.Glob(filepath.Join(a.Dir, "slots", "*", "state"))
	if len(found) != 1 {
		return fmt.Errorf("files %q", found)
	}
	text, err := os.ReadFile(found[0])
	if n, _ := strconv.Atoi(strings.TrimSpace(string(text))); n < least {
		return fmt.Errorf("at %d, %w", n, err)
	}
	return nil
}

// layersOf returns the layers of images that an agent has, by name.
func layersOf(t *testing.T, a *testhost.Agent) map[string]os.FileInfo {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(a.Dir, "projects", "*", "image_layer_*"))
	must(t, err)
	all := make(map[string]os.FileInfo)
	for _, path := range found {
		if info, err := os.Stat(path); err == nil {
			all[filepath.Base(path)] = info
		}
	}
	return all
}
