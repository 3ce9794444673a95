package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testimage"
)

// TestScientist makes a project by the handbook for scientists, and computes with the templates, plain
// programs, validators and requests of its other pages.
func TestScientist(t *testing.T) {
	t.Parallel()
	needs(t, "python3", "curl")
	s := newStory(t)
	port := freePort(t)
	p := &storyProject{s: s, Project: testhost.Project{Bin: bin, Dir: filepath.Join(s.dir, "myproject"), URL: fmt.Sprintf("http://127.0.0.1:%d/mine/", port)}}
	s.call("http://192.0.2.7:8080/mine/", p.URL)
	s.typed("cp " + bin.Path(testhost.Mersenne) + " primes")
	s.write("numbers.txt", "2203\n")
	s.write("range_7.txt", "2281\n")
	s.write("range_8.txt", "3217\n")
	s.write("table.bin", "a table\n")

	s.images()
	b := s.take("scientists.md", "starling-server init myproject").Commands()
	s.prints(s.typed(b[0]), "My project", "myproject/server.toml")
	p.Key = strings.TrimSpace(s.typed(b[1]))
	s.typed("sed -i 's/^min_sendwork_interval = .*/min_sendwork_interval = 0/' myproject/server.toml") // so that computers need not pause
	s.typed(strings.Join(b[2:], "\n"))
	s.join("a", p.URL, p.Key)
	s.join("b", p.URL, p.Key)
	p.done()
	p.has("first/out", "M2203 is prime!\n")
	s.prints(s.follow("scientists.md", "starling-server status myproject"), "workunits", "volunteers 1 with ", "no faults found", "transitioner", "create", "scheduler", "canonical")
	s.follow("scientists.md", "starling-server work create myproject primes")
	s.typed("starling-server work create myproject primes --name in_batch --input numbers.txt=in --batch 3")

	p.templates()
	p.plainPrograms()
	p.programs()
	p.done()
	for name, want := range map[string]string{
		"range_7/out": "M2281 is prime!\n", "in_batch/out": "M2203 is prime!\n", "range_8/out": "M3217 is prime!\n",
		"fitted/out": "threads 1\n", "by_lines/out": "threads 1\n", "aligned/out": "total\n2\n",
	} {
		p.has(name, want)
	}
	s.prints(s.typed("python3 -m zipfile -e myproject/results/*/aligned/all.zip all && cat all/hits.txt"), "ONE\nTWO\n")
	if got := p.read("stored_stored_out"); got != "2203\n" {
		t.Errorf("the script has stored %q", got)
	}
	s.prints(s.follow("scientists.md", "starling-server batch show"), "batch 3  1 workunit: 0 unfinished", "100 %, done", "first_0", "MD5", "stderr out", "No workunits.")
	p.requests()
}

// A storyProject is the project of a story.
type storyProject struct {
	testhost.Project
	s *story
}

// done waits until all work is done.
func (p *storyProject) done() { p.s.typed("starling-server status myproject --wait") }

// has compares an outcome, given as workunit and file.
func (p *storyProject) has(name, want string) {
	p.s.t.Helper()
	workunit, file, _ := strings.Cut(name, "/")
	if got, err := p.Outcome(p.s.ctx, workunit, file); err != nil || string(got) != want {
		p.s.t.Errorf("%s is %q, %v, want %q; %s", name, got, err, want, p.s.typed("starling-server work show myproject "+workunit))
	}
}

// publish publishes a plain program.
func (p *storyProject) publish(app, program string) {
	p.s.t.Helper()
	p.s.typed("starling-server version add myproject " + app + " --platform x86_64-pc-linux-gnu --version 1.00 --main ./" + program + " --plain")
}

// read returns a file of the project.
func (p *storyProject) read(name string) string {
	p.s.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Dir, name))
	if err != nil {
		p.s.t.Fatal(err)
	}
	return string(text)
}

// images publishes an image, as docker save writes it, in a project that is not served.
func (s *story) images() {
	s.t.Helper()
	layer := testimage.Tar(testimage.File("work/program", "#!/bin/sh\n", 0o755), testimage.File("bin/sh", "a shell", 0o755))
	if err := testimage.Docker(filepath.Join(s.dir, "fit.tar"), runtime.GOARCH, v1.Config{Cmd: []string{"./program"}, WorkingDir: "/work"}, layer); err != nil {
		s.t.Fatal(err)
	}
	s.write("table.csv", "1,2\n")
	s.write("docker_wrapper.exe", "a program for Windows")
	s.typed("starling-server init mine --name Images --url http://127.0.0.1:1/images/")
	publish := s.take("images.md", "docker build").Commands()
	s.typed(strings.Join(publish[1:], "\n"))
	s.typed("cat >>mine/server.toml <<'END'\n\n" + s.example("images.md", "[plan_class.cuda]") + "\n" + s.example("images.md", "[plan_class.docker]") + "END")
	s.follow("images.md", "starling-server version add mine fit --platform x86_64")
	s.follow("images.md", "starling-server version add mine fit --platform windows")
	s.prints(s.typed("starling-server version list mine"), "x86_64-linux-image", "cuda", "windows_x86_64", "docker")
}

// templates uses the templates of templates.md.
func (p *storyProject) templates() {
	s := p.s
	const output = "<output_template>\n"
	s.typed("starling-server app add myproject one --output out:10000000")
	if got, want := p.read("templates/one_out"), s.example("templates.md", output); got != want {
		s.t.Errorf("app add writes %s instead of %s", got, want)
	}
	s.write("myproject/templates/primes_in", s.example("templates.md", "<input_template>\n"))
	s.follow("templates.md", "starling-server work create")
	s.typed("rm myproject/templates/primes_in")
}

// plainPrograms publishes the programs of plain-programs.md.
func (p *storyProject) plainPrograms() {
	s := p.s
	s.call("add mine ", "add myproject ")
	s.write("fit", "#!/bin/sh\necho state >model.new && mv model.new model.sav\necho 'step 1 of 2 (50 %)'\necho threads $OMP_NUM_THREADS >out\n")
	s.typed("starling-server app add myproject fit")
	s.follow("plain-programs.md", "starling-server version add mine fit")
	s.typed("starling-server work create myproject fit --name fitted")

	s.write("align", "#!/bin/sh\n[ $1 = --threads ] && [ $2 -ge 1 ] && [ $3 = -o ] && tr a-z A-Z <$5 >$4\n")
	s.write("summarize", "#!/bin/sh\necho $1; wc -l\n")
	s.write("reads.fa", "one\ntwo\n")
	s.typed("python3 -m zipfile -c data.zip reads.fa")
	s.write("job.xml", s.example("plain-programs.md", "<job_desc>\n"))
	s.typed("starling-server app add myproject align --output out --output all.zip")
	s.follow("plain-programs.md", "starling-server version add mine align")
	s.typed("starling-server work create myproject align --name aligned --input data.zip=data.zip --cmdline total")
}

// programs uses the validators and scripts of programs.md.
func (p *storyProject) programs() {
	s := p.s
	s.call("app add demo upper", "app add myproject checked")
	scripts, err := filepath.Abs("../examples/boinc-scripts")
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("myproject/bin/lines.py", s.take("programs.md", "import json, sys").Text)
	s.typed("cp " + scripts + "/*.py myproject/bin")
	s.write("myproject/bin/check.py", "#!/bin/sh\n[ -z \"$(tr -dc a-z <$1)\" ]\n")
	s.write("myproject/bin/compare.py", "#!/bin/sh\ncmp -s $1 $2\n")
	s.write("myproject/bin/store.py", "#!/bin/sh\ncp $2 ../stored_$1_$3\n")
	s.follow("programs.md", "starling-server app add demo upper")
	s.write("upper", "#!/bin/sh\ntr a-z A-Z <in >out\n")
	p.publish("checked", "upper")
	s.typed("starling-server work create myproject checked --name stored --input numbers.txt=in --min-quorum 2")
	s.typed("starling-server app set myproject fit --validator 'lines:python3 bin/lines.py'")
	s.typed("starling-server work create myproject fit --name by_lines --min-quorum 2")
}

// requests submits work by the commands of api.md and python.md.
func (p *storyProject) requests() {
	s := p.s
	s.call("DIR", "myproject")
	for _, app := range []string{"upper", "shout"} {
		s.typed("starling-server app add myproject " + app)
		p.publish(app, "upper")
	}
	b := s.take("api.md", "starling-server token create").Commands()
	token := regexp.MustCompile(`starling_[\w-]+`).FindString(s.typed(b[0]))
	if token == "" {
		s.t.Fatal("no token")
	}
	s.prints(s.typed(b[1]), "lab", "upper", "2,000")
	s.prints(s.typed(b[2]+"\n"+b[1]), "4,000")

	s.call("https://project.example/", p.URL)
	s.call("starling_…", token)
	s.env = append(s.env, "STARLING_TOKEN="+token, "STARLING_URL="+p.URL)
	s.write("a.txt", "one\n")
	s.write("b.txt", "two\n")
	s.follow("api.md", "export STARLING_TOKEN")
	s.prints(s.typed("cat results/*/out"), "ONE\nTWO\n")
	s.follow("api.md", "curl -sS")
	post := func(what, body string) string {
		return s.typed("curl -sS -H \"Authorization: Bearer $STARLING_TOKEN\" https://project.example/api/v1/" + what + " --json '" + body + "'")
	}
	chain := s.example("api.md", `"workunits"`)
	s.prints(post("batches", `{"name": "run-3", "app": "upper", `+chain+"}"), `"workunits":3`)
	s.prints(post("batches", `{"name": "run-4", "app": "uper", `+chain+"}"), strings.TrimSpace(s.example("api.md", `{"error"`)))

	sample := make(map[string]any)
	if err := json.Unmarshal([]byte(s.example("api.md", `{"workunits":1`)), &sample); err != nil {
		s.t.Fatal(err)
	}
	estimate := post("estimate", `{"name": "run-4", "app": "upper", `+chain+"}")
	delete(sample, "wait") // left out here, because no other work is ahead
	for key := range sample {
		s.prints(estimate, `"`+key+`":`)
	}
	s.typed(b[3])
	if out := post("batches", "{}"); !strings.Contains(out, "revoked") {
		s.t.Errorf("with a revoked token, the answer is %s", out)
	}
	p.python()
}

// python runs the blocks about Python for which the standard library suffices.
func (p *storyProject) python() {
	s := p.s
	source, err := filepath.Abs("../python/src")
	if err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, "PYTHONPATH="+source)
	variables := s.take("python.md", "export STARLING_URL").Text
	s.typed("starling-server app add myproject python")
	s.follow("python.md", "python3 -m starling_grid >run-python")
	token := regexp.MustCompile(`starling_[\w-]+`).FindString(s.typed("starling-server token create myproject python"))
	s.here[slices.Index(s.here, "starling_…")+1] = token
	s.write("readme.py", s.take("python/README.md", "from starling_grid import Grid").Text)
	s.write("call.py", "from starling_grid import Grid\nwith Grid().python('python') as e:\n    print(list(e.map(abs, [-1, 2])))\n")
	s.prints(s.typed(variables+"python3 readme.py\npython3 call.py"), "HELLO\nWORLD\n", "[1, 2]")
}
