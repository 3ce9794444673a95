package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/internal/testhost"
)

// hosts is the number of agents. It equals the quorum, since no host gets two results of a
// workunit.
const hosts = 2

// planClass is for application versions that need half of a coprocessor, and coprocs are two of
// these.
const (
	planClass = "\n[plan_class.faked]\ngpu_type = \"fake\"\nngpus = 0.5\n"
	coprocs   = "[[coproc]]\ntype = \"fake\"\ncount = 2\npeak_flops = 1e10\n"
)

// A grid is a project with its server and its hosts.
type grid struct {
	bin     testhost.Bin
	dir     string
	wasm    bool   // the application is a WebAssembly module
	light   bool   // the workunits are small
	gpu     string // "fake" computes on declared coprocessors, "pocl" by OpenCL on the CPUs
	project *testhost.Project
	agents  []*testhost.Agent
	revived int
	total   int
}

// maxRevivals bounds how often agents that ended are started again.
const maxRevivals = 20

// start takes the steps of an operator and two volunteers.
func (g *grid) start(ctx context.Context, n int) (err error) {
	say := func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	g.total = n
	platform, _ := hostinfo.Platform()
	program := g.bin.Path(testhost.Mersenne)
	if g.wasm {
		platform, program = wasmhost.Platform, g.bin.Path("mersenne.wasm")
	}

	app := testhost.Mersenne
	if g.gpu == "pocl" {
		app, program = testhost.Collatz, g.bin.Path(testhost.Collatz)
	}
	say("Creating a project in %s", filepath.Join(g.dir, "project"))
	g.project, err = testhost.NewProject(ctx, g.bin, filepath.Join(g.dir, "project"), "demo")
	if err != nil {
		return err
	}
	p := g.project
	if _, err := p.Run(ctx, "app", "add", p.Dir, app); err != nil {
		return err
	}
	version := []string{"version", "add", p.Dir, app, "--platform", platform, "--version", "1.00", "--main", program}
	settings, class := "", ""
	switch g.gpu {
	case "fake":
		version, settings, class = append(version, "--plan-class", "faked"), coprocs, planClass
	case "pocl":
		version, settings, class = append(version, "--plan-class", "opencl_pocl"), openCLCoproc, openCLClass
	}
	if class != "" {
		if err := p.Append(class); err != nil {
			return err
		}
	}
	if _, err := p.Run(ctx, version...); err != nil {
		return err
	}
	say("Creating %d workunits, each computed on %d hosts", n, hosts)
	if err := g.makeWork(ctx, app, n); err != nil {
		return err
	}
	say("Starting the server at %s", p.URL)
	if err := p.Serve(ctx); err != nil {
		return err
	}
	for i := range hosts {
		a, err := testhost.NewAgent(g.bin, filepath.Join(g.dir, fmt.Sprintf("agent%d", i+1)),
			fmt.Sprintf("max_ncpus_pct = %d\ndisk_interval = 1\n", 100/hosts), fmt.Sprintf("device_name = \"demo host %d\"\n", i+1)+settings)
		if err != nil {
			return err
		}
		g.agents = append(g.agents, a)
		if err := a.Start(); err != nil {
			return err
		}
		if err := a.Attach(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// makeWork writes the input files and creates the workunits, all in one go.
func (g *grid) makeWork(ctx context.Context, app string, n int) error {
	inputs := filepath.Join(g.dir, "inputs")
	if err := os.MkdirAll(inputs, 0o700); err != nil {
		return err
	}
	var lines strings.Builder
	units := plan(n, g.light)
	for i := range n {
		name, text := collatzInput(i, g.span())
		if app != testhost.Collatz {
			name, text = lucasLehmerInput(units[i])
		}
		file := filepath.Join(inputs, "in_"+name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		fmt.Fprintf(&lines, "--name %s --input '%s=in' --priority %d\n", name, file, n-i)
	}
	_, err := g.bin.Run(ctx, strings.NewReader(lines.String()), testhost.Server,
		"work", "create", g.project.Dir, app, "--stdin",
		"--target-nresults", fmt.Sprint(hosts), "--min-quorum", fmt.Sprint(hosts), "--max-error", "3", "--max-total", "8", "--max-success", "6",
		"--rsc-fpops-est", "1.5e10", "--rsc-fpops-bound", "1e14", "--rsc-memory-bound", "5e7", "--rsc-disk-bound", "5e7", "--delay-bound", "86400")
	return err
}

// lucasLehmerInput is the input of a workunit with these exponents, and its name.
func lucasLehmerInput(exponents []int) (name, text string) {
	text = "# exponents of Mersenne numbers to be tested\n"
	for _, p := range exponents {
		text += fmt.Sprintln(p)
	}
	return fmt.Sprintf("lucas_lehmer_%d", exponents[0]), text
}

// revive restarts an agent that has ended, because someone killed it to see whether its work is
// saved.
func (g *grid) revive(i int) error {
	a := g.agents[i]
	select {
	case <-a.Process().Done():
	default:
		return nil // it lives, and has not answered yet
	}
	if g.revived++; g.revived > maxRevivals {
		return fmt.Errorf("agent %d keeps exiting; see its log, %s", i+1, a.Log())
	}
	return a.Start()
}

// stop ends what runs, agents first so that they can still report.
func (g *grid) stop() error {
	var errs []error
	for _, a := range g.agents {
		errs = append(errs, a.Stop())
	}
	if g.project != nil {
		errs = append(errs, g.project.Stop())
	}
	return errors.Join(errs...)
}
