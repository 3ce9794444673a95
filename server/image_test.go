package server_test

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/starling-grid/starling/internal/testimage"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/image"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// imageVersion returns a version whose image has a common layer and a layer with this program.
func (w *world) imageVersion(number, program string, more ...testimage.Entry) operate.NewVersion {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "image.tar")
	base := testimage.Tar(testimage.File("lib/base", "common", 0o644))
	w.must(testimage.Docker(path, "amd64", v1.Config{Entrypoint: []string{"/fit"}, Env: []string{"A=b"}},
		base, testimage.Tar(append(more, testimage.File("fit", program, 0o755))...), base))
	m, err := image.Open(w.t.Context(), path, "x86_64-pc-linux-gnu")
	w.must(err)
	w.t.Cleanup(m.Close)
	return operate.NewVersion{App: "upper", Platform: "x86_64-pc-linux-gnu", Number: number, Image: m, Plain: true, Wrapper: w.file("starling-wrap", "#!/bin/sh\n")}
}

// An image's layers are signed files, which later versions share, and only agents that announce its
// platform get it.
func TestImageVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	first, second := w.imageVersion("2.00", "one"), w.imageVersion("2.01", "two")
	first.Job = operate.PlainJob{Checkpoints: []string{"state"}}
	w.must(operate.AddVersion(t.Context(), w.p, first, w.now()))
	w.must(operate.AddVersion(t.Context(), w.p, second, w.now()))
	if err := operate.AddVersion(t.Context(), w.p, first, w.now()); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("published twice: %v", err)
	}
	python, before := w.imageVersion("2.02", "three"), w.files(w.p.Download)
	python.Python = []byte("a program")
	if err := operate.AddVersion(t.Context(), w.p, python, w.now()); err == nil || !strings.Contains(err.Error(), "no program python3 in its PATH") || !strings.Contains(err.Error(), "FROM python:3-slim") {
		t.Errorf("an image without Python: %v", err)
	}
	if now := w.files(w.p.Download); now != before {
		t.Errorf("the image without Python left %d files", now-before)
	}
	w.create(workgen.Params{Name: "wu"}, "hello")
	boinc := &client{w: w, key: w.user("a@example.org"), name: "a"}
	if v := boinc.fetch().AppVersions; len(v) != 1 || v[0].Platform != "x86_64-pc-linux-gnu" {
		t.Errorf("a BOINC client got %+v", v)
	}
	w.create(workgen.Params{Name: "wu2"}, "hello")
	agent := &client{w: w, key: w.user("b@example.org"), name: "b", others: []string{"x86_64-linux-image"}}
	reply := agent.fetch()
	if len(reply.AppVersions) != 1 || reply.AppVersions[0].VersionNum != 201 || reply.AppVersions[0].Platform != "x86_64-linux-image" {
		t.Fatalf("got %+v", reply.AppVersions)
	}
	files := make(map[string]protocol.FileInfo)
	for _, f := range reply.Files {
		files[f.Name] = f
	}
	var layers []string
	var description protocol.Image
	for _, ref := range reply.AppVersions[0].FileRefs {
		f := files[ref.FileName]
		if f.Signature == "" {
			t.Errorf("%s is not signed", f.Name)
		}
		content := agent.download(f)
		switch {
		case protocol.IsImageLayer(f.Name):
			layers = append(layers, f.Name)
		case ref.OpenName == protocol.ImageFile:
			var err error
			description, err = protocol.ParseImage([]byte(content))
			w.must(err)
			if ref.CopyFile {
				t.Error("the description is a copy, so the wrapper does not trust it")
			}
		case ref.MainProgram && content != "#!/bin/sh\n":
			t.Errorf("the main program is %q", content)
		}
	}
	if len(layers) != 2 || len(description.Layers) != 3 || description.Layers[0] != description.Layers[2] || description.Layers[0].FileName() != layers[0] || description.Layers[1].FileName() != layers[1] {
		t.Errorf("got layers %v, %+v", layers, description)
	}
	if !slices.Equal(description.Command, []string{"/fit"}) || !slices.Equal(description.Env, []string{"A=b"}) || description.NBytes() == 0 {
		t.Errorf("got %+v", description)
	}
	if first.Image.Description.Layers[0] != description.Layers[0] || first.Image.Description.Layers[1] == description.Layers[1] {
		t.Error("the versions do not share their common layer alone")
	}
	list, err := operate.RemoveVersion(t.Context(), w.p, operate.VersionSpec{App: "upper", Number: "2.00", Platform: "x86_64-linux-image", DryRun: true})
	if err == nil || !strings.Contains(err.Error(), "withdraw it first") {
		t.Errorf("a version that is sent was removed: %v, %v", list, err)
	}
	spec := operate.VersionSpec{App: "upper", Number: "2.00", Platform: "x86_64-linux-image"}
	_, err = operate.Deprecate(t.Context(), w.p, spec, false, w.now())
	w.must(err)
	list, err = operate.RemoveVersion(t.Context(), w.p, spec)
	w.must(err)
	if len(list) != 1 || slices.Contains(list[0].Files, layers[0]) || !slices.Contains(list[0].Files, first.Image.Description.Layers[1].FileName()) {
		t.Errorf("removed %+v, want the layers that no other version needs", list)
	}
	for name, change := range map[string]func(v *operate.NewVersion){
		"only the Python of a container image": func(v *operate.NewVersion) {
			v.Python, v.Main, v.Image = []byte("x"), w.file("x", "y"), nil
		},
		"needs no job.xml":                  func(v *operate.NewVersion) { v.Python, v.Job.File = []byte("x"), w.file("job.xml", "") },
		"either a main program or an image": func(v *operate.NewVersion) { v.Main = w.file("x", "y") },
		"no images for platform":            func(v *operate.NewVersion) { v.Platform = "windows_x86_64" },
		"needs the wrapper":                 func(v *operate.NewVersion) { v.Wrapper, v.Plain = "", false },
	} {
		v := w.imageVersion("2.02", "three")
		change(&v)
		if err := operate.AddVersion(t.Context(), w.p, v, w.now()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

// An image for a GPU is sent only to computers that run images and can use the GPU in them.
func TestImagesForGPUs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "# [plan_class.mt]", "[plan_class.cuda]\ngpu_type = \"nvidia\"\ncuda = true\nmin_cuda_version = 12000\n# [plan_class.mt]")
	w.setUp()
	v := w.imageVersion("2.00", "for GPUs")
	v.PlanClass = "cuda"
	w.must(operate.AddVersion(t.Context(), w.p, v, w.now()))
	_, err := operate.Deprecate(t.Context(), w.p, operate.VersionSpec{App: "upper", Number: "1.00", Platform: "x86_64-pc-linux-gnu"}, false, w.now())
	w.must(err)
	w.create(workgen.Params{Name: "wu"}, "hello")
	images := []string{"x86_64-linux-image"}
	cards := func(cuda int) []protocol.Coproc {
		return []protocol.Coproc{{Kind: "NVIDIA", Count: 1, Memory: 8 << 30, PeakFlops: 1e12, Version: "55090", CUDA: cuda, Major: 8, ReqSeconds: 1000, ReqInstances: 1}}
	}
	without := cards(12040)
	without[0].NoImages = true
	for _, c := range []struct {
		name    string
		others  []string
		coprocs []protocol.Coproc
		want    string // of its refusal, or "" if it gets the work
	}{
		{"no GPU", images, nil, "NVIDIA"},
		{"an old driver", images, cards(11000), "another CUDA version"},
		{"no images", nil, cards(12040), "support computers of type"},
		{"an incomplete driver", images, without, "are in container images, in which the NVIDIA GPU of this computer cannot be used"},
		{"a GPU and images", images, cards(12040), ""},
	} {
		host := &client{w: w, key: w.user(strings.ReplaceAll(c.name, " ", ".") + "@example.org"), name: c.name, others: c.others, coprocs: c.coprocs}
		reply := host.fetch()
		if c.want != "" {
			var texts strings.Builder
			for _, m := range reply.Messages {
				texts.WriteString(m.Text + "\n")
			}
			if len(reply.Results) > 0 || !strings.Contains(texts.String(), c.want) {
				t.Errorf("%s: got %d results and %q, want %q", c.name, len(reply.Results), texts.String(), c.want)
			}
			continue
		}
		if len(reply.Results) != 1 || len(reply.AppVersions) != 1 {
			t.Fatalf("%s: got %+v, %+v", c.name, reply.Results, reply.Messages)
		}
		if got := reply.AppVersions[0]; got.Platform != images[0] || got.PlanClass != "cuda" || got.Coproc != "NVIDIA" || got.CoprocCount != 1 {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
}

// An image with Python gets the program that runs functions, as a file of the version.
func TestPythonImages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	v := w.imageVersion("2.00", "python", testimage.File("usr/bin/python3", "Python", 0o755))
	v.Python, v.Job.Env = []byte("a program"), []string{"A=c"}
	w.must(operate.AddVersion(t.Context(), w.p, v, w.now()))
	w.create(workgen.Params{Name: "wu"}, "hello")
	agent := &client{w: w, key: w.user("a@example.org"), name: "a", others: []string{"x86_64-linux-image"}}
	reply := agent.fetch()
	if len(reply.AppVersions) != 1 {
		t.Fatalf("got %+v", reply.AppVersions)
	}
	content := make(map[string]string)
	for _, ref := range reply.AppVersions[0].FileRefs {
		for _, f := range reply.Files {
			if f.Name == ref.FileName {
				content[ref.OpenName] = agent.download(f)
			}
		}
		if ref.OpenName == "run_python.py" && !ref.CopyFile {
			t.Error("Python finds a link, and not its program")
		}
	}
	if content["run_python.py"] != "a program" {
		t.Error("the program is missing")
	}
	for _, part := range []string{"<application>python3</application>", "<command_line>run_python.py --image</command_line>", "<setenv>A=c</setenv>"} {
		if !strings.Contains(content["job.xml"], part) {
			t.Errorf("job.xml lacks %s: %s", part, content["job.xml"])
		}
	}
}

// An image can be published for BOINC's docker_wrapper. The task's folder then has all that the wrapper needs to
// build the image without a registry.
func TestImageForDockerWrapper(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var class match.PlanClass
	class.Docker = true
	w.p.Config.PlanClasses = map[string]match.PlanClass{"docker": class}
	w.setUp()
	shell := testimage.File("bin/sh", "a shell", 0o755)
	publish := func(change func(v *operate.NewVersion)) error {
		v := w.imageVersion("3.00", "program", shell)
		v.Platform, v.PlanClass, v.Wrapper, v.DockerWrapper = "windows_x86_64", "docker", "", w.file("docker_wrapper.exe", "BOINC's")
		if change != nil {
			change(&v)
		}
		return operate.AddVersion(t.Context(), w.p, v, w.now())
	}
	for want, change := range map[string]func(v *operate.NewVersion){
		"Add [plan_class.docker] with docker = true": func(v *operate.NewVersion) { v.PlanClass = "" },
		"use --image":             func(v *operate.NewVersion) { v.Image.Close(); v.Image, v.Main = nil, w.file("x", "y") },
		"platform armv7":          func(v *operate.NewVersion) { v.Platform = "armv7-unknown" },
		"no job.xml, checkpoints": func(v *operate.NewVersion) { v.Job.Checkpoints = []string{"state"} },
		`environment variable "spring.profile"`: func(v *operate.NewVersion) {
			v.Image.Description.Env = append(v.Image.Description.Env, "spring.profile=x")
		},
		"a shell starts the program": func(v *operate.NewVersion) {
			*v = func() operate.NewVersion {
				without := w.imageVersion("3.00", "program")
				without.Platform, without.PlanClass, without.DockerWrapper = v.Platform, v.PlanClass, v.DockerWrapper
				return without
			}()
		},
	} {
		if err := publish(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	w.must(publish(func(v *operate.NewVersion) { v.Job.Env = []string{"B=it's"} }))
	version, files := w.published("docker")
	content := make(map[string]string)
	for _, ref := range version.FileRefs {
		f, err := w.p.Download.Open(t.Context(), ref.FileName)
		w.must(err)
		b, err := io.ReadAll(f)
		w.must(err)
		_ = f.Close()
		text := string(b)
		content[ref.Logical()] = text
		if ref.MainProgram && text != "BOINC's" || !ref.MainProgram && !ref.CopyFile || files[ref.FileName].Signature == "" {
			t.Errorf("%+v", ref)
		}
	}
	if got, want := content["Dockerfile"], regexp.MustCompile(`^FROM scratch\n(ADD image_layer_[0-9a-f]{64}\.tgz /\n){3}WORKDIR /starling\nCMD \["/bin/sh", "/starling/starling_run\.sh"\]\n$`); !want.MatchString(got) {
		t.Errorf("Dockerfile:\n%s", got)
	}
	for name := range strings.FieldsSeq(content["Dockerfile"]) {
		if strings.HasPrefix(name, "image_layer_") && content[name] == "" {
			t.Errorf("%s is not in the folder", name)
		}
	}
	if got := content["starling_run.sh"]; !strings.Contains(got, "export A='b'\nexport B='it'\\''s'\n") || !strings.HasSuffix(got, "exec '/fit' $ARGS\n") {
		t.Errorf("script:\n%s", got)
	}
	if got := content["job.toml"]; !strings.Contains(got, "workdir = \"/starling\"\nimage_name = \"boinc__starling__") {
		t.Errorf("job.toml:\n%s", got)
	}
}

// published returns the version of a plan class and its files by name.
func (w *world) published(class string) (v protocol.AppVersion, files map[string]protocol.FileInfo) {
	w.t.Helper()
	files = make(map[string]protocol.FileInfo)
	w.must(w.p.Store.View(w.t.Context(), func(tx *store.View) error {
		list, err := tx.AppVersions()
		for _, x := range list {
			if x.PlanClass != class {
				continue
			}
			e, failed := protocol.ParseElements([]byte(x.XMLDoc))
			if failed != nil || !x.Plain {
				w.t.Fatalf("%+v, %v", x, failed)
			}
			v = e.AppVersions[0]
			for _, f := range e.Files {
				files[f.Name] = f
			}
		}
		return err
	}))
	return v, files
}
