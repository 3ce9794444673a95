package assimilator

import (
	"context"
	"fmt"
	"strings"

	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

// Env has the parts of the project that assimilators need.
type Env struct {
	Dir     string // the project's directory, in which programs run
	Results string // the folder that Copy fills
	Divided string // see Divisions ("": Flat)
	App     string // name of the application
	Files   TreeFiles
}

// TreeFiles is a tree of output files.
type TreeFiles interface {
	Files
	hook.Files
}

// New returns the assimilator called name: "copy" or "exec:CMD".
func New(name string, env Env) (Handler, error) {
	if name == "copy" {
		return &Copy{Dir: env.Results, Divided: env.Divided, Files: env.Files, App: env.App}, nil
	}
	text, ok := strings.CutPrefix(name, hook.Prefix)
	if !ok {
		return nil, fmt.Errorf("assimilator %q: want copy or exec:CMD", name)
	}
	cmd, err := hook.Parse(text, env.Dir)
	if err != nil {
		return nil, fmt.Errorf("assimilator: %w", err)
	}
	return Program{Command: cmd, App: env.App, Files: env.Files}, nil
}

// Program hands outcomes to a program of the project, as JSON on its standard input. Status 0 means
// that the program has taken the outcome. After any other status it gets the same outcome again
// later.
//
// Each outcome is taken exactly once only if the program does its part. That the program was done
// is recorded after it has ended, and neither order of the two would survive every power cut:
// recording first would lose outcomes. So a crash in between makes the program run again for the
// same workunit, and the program must notice. It should store under the workunit's name or ID,
// which are unique, and store all or nothing, for example by renaming a finished file or in one
// transaction with a unique key. Then at least once is exactly once. Two runs for one workunit
// never overlap.
type Program struct {
	Command hook.Command
	App     string     // the application's name
	Files   hook.Files // output files
}

// handed is the program's input.
type handed struct {
	Workunit  hook.Workunit `json:"workunit"`
	Canonical *hook.Result  `json:"canonical"` // null: the workunit was given up, see its errors
	Results   []hook.Result `json:"results"`   // all of them, without files
}

// Assimilate implements Handler.
func (p Program) Assimilate(ctx context.Context, wu store.Workunit, results []store.Result, canon *store.Result) error {
	h := handed{Workunit: hook.DescribeWorkunit(wu, p.App), Results: []hook.Result{}}
	if canon != nil {
		d, err := hook.DescribeResult(ctx, *canon, p.Files)
		if err != nil {
			return err
		}
		h.Canonical = &d
	}
	for _, r := range results {
		d, err := hook.DescribeResult(ctx, r, nil)
		if err != nil {
			return err
		}
		h.Results = append(h.Results, d)
	}
	return p.Command.Run(ctx, h, nil)
}
