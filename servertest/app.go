package servertest

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/server/operate"
)

// A Func is an application: it reads the inputs of a task and writes its outputs. If it returns an
// error, the task fails as if a program had failed: the error is its stderr, and its exit status 1.
// It may be called by several volunteers at a time.
type Func func(ctx context.Context, task *Task) error

// A Task is a result as a volunteer computes it.
type Task struct {
	Result      string // name
	Workunit    string // likewise
	CommandLine string

	inputs, outputs map[string][]byte
}

// Input returns an input file by the name under which a program would open it, or nil if it does
// not exist.
func (t *Task) Input(name string) []byte { return t.inputs[name] }

// Output sets an output file, likewise.
func (t *Task) Output(name string, content []byte) { t.outputs[name] = content }

// App adds an application that volunteers compute by a Go function. Without options its
// results are compared byte by byte, its outcomes copied, and it has one output file, "out".
func (p *Project) App(name string, compute Func, change ...func(*operate.NewApp)) {
	p.tb.Helper()
	p.add(name, change)
	main := filepath.Join(p.tb.TempDir(), name)
	p.check(os.WriteFile(main, []byte("#!/bin/sh\n# A Go function of a test.\n"), 0o600))
	p.check(operate.AddVersion(p.tb.Context(), p.p, operate.NewVersion{App: name, Platform: platform, Number: "1.00", Main: main}, time.Now()))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apps[name] = compute
}

// Program adds an application that is a program for this computer, for agents and other
// real clients. It speaks BOINC's application interface, by package boincapi or BOINC's own
// library.
func (p *Project) Program(name, path string, change ...func(*operate.NewApp)) {
	p.tb.Helper()
	p.add(name, change)
	here, _ := hostinfo.Platform()
	p.check(operate.AddVersion(p.tb.Context(), p.p, operate.NewVersion{App: name, Platform: here, Number: "1.00", Main: path}, time.Now()))
}

// Plain is like Program for a program that does not use BOINC's API: it reads and writes files in
// the folder in which it is started. wrapper is the path of starling-wrap for this computer.
func (p *Project) Plain(name, path, wrapper string, change ...func(*operate.NewApp)) {
	p.tb.Helper()
	p.add(name, change)
	here, _ := hostinfo.Platform()
	p.check(operate.AddVersion(p.tb.Context(), p.p, operate.NewVersion{
		App: name, Platform: here, Number: "1.00", Main: path, Plain: true, Wrapper: wrapper,
	}, time.Now()))
}

// platform is the platform of test volunteers, which no real client has.
const platform = "x86_64-pc-linux-gnu__go_test"

func (p *Project) add(name string, change []func(*operate.NewApp)) {
	p.tb.Helper()
	a := operate.NewApp{Name: name, Validator: "bitwise", Assimilator: "copy"}
	for _, f := range change {
		f(&a)
	}
	p.check(operate.AddApp(p.tb.Context(), p.p, a, time.Now()))
}
