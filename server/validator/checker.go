package validator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

// A Case has the data for a Checker's decision.
type Case struct {
	Workunit  store.Workunit
	Canonical *store.Result // nil if not found yet
	// Results are the results to judge. With a canonical result these are the results that are not
	// compared with it yet, otherwise all that may be part of a quorum.
	Results []store.Result
}

// Findings are the outcome of a Checker's check.
type Findings struct {
	Verdicts  []Verdict // one a result of the case
	Canonical int       // index of the result that becomes the canonical one, or -1
}

// A Verdict is the outcome for one result.
type Verdict struct {
	verdict verdict
	reason  error // why it is broken or to be tried again
}

// A Checker decides which results of a workunit are right. An error means that it could not decide
// this time: nothing changes, and it is asked again later.
type Checker interface {
	Check(ctx context.Context, c Case) (Findings, error)
	// Usable returns ErrOutput if the output of a result cannot be valid, such as a missing file.
	// After any other error it is asked again later.
	Usable(ctx context.Context, r store.Result) error
}

// Env has the parts of the project that validators need.
type Env struct {
	Dir   string     // the project's directory, in which programs run
	App   string     // name of the application
	Files Files      // output files
	Pool  *hook.Pool // of long-running programs (nil: lines:CMD is checked only)
}

// Files is a tree of files.
type Files interface {
	hook.Files
	Open(ctx context.Context, name string) (*blob.File, error)
}

// New returns the validator called name: "bitwise", "trivial",
// "numeric:ABS[,REL]", "exec:CMD" or "lines:CMD".
func New(name string, env Env) (Checker, error) {
	switch kind, arg, _ := strings.Cut(name, ":"); {
	case name == "bitwise":
		return Comparing(bitwise{env.Files}), nil
	case name == "trivial":
		return Comparing(trivial{env.Files}), nil
	case kind == "numeric":
		n, err := parseNumeric(arg)
		if err != nil {
			return nil, fmt.Errorf("validator %q: %w", name, err)
		}
		n.files = env.Files
		return Comparing(n), nil
	case kind+":" == hook.Prefix, kind+":" == hook.LinesPrefix:
		cmd, err := hook.Parse(arg, env.Dir)
		if err != nil {
			return nil, fmt.Errorf("validator: %w", err)
		}
		if kind+":" == hook.LinesPrefix {
			cmd.Pool = env.Pool
		}
		return program{cmd, env}, nil
	}
	return nil, fmt.Errorf("validator %q: want bitwise, trivial, numeric:ABS[,REL], exec:CMD or lines:CMD", name)
}

// Comparing returns the checker that decides by comparing outputs in pairs.
func Comparing(c Comparator) Checker { return comparing{c} }

type comparing struct{ Comparator }

func (c comparing) Usable(ctx context.Context, r store.Result) error {
	_, err := c.Load(ctx, r)
	if errors.Is(err, ErrSuspicious) {
		return nil
	}
	return err
}

func (c comparing) Check(ctx context.Context, cs Case) (Findings, error) {
	f := Findings{Canonical: -1}
	load := func(r store.Result) sample {
		s := sample{result: r}
		s.output, s.err = c.Load(ctx, r)
		switch {
		case errors.Is(s.err, ErrOutput):
			s.verdict = broken
		case errors.Is(s.err, ErrSuspicious):
			s.verdict, s.err = suspicious, nil
		case s.err != nil:
			s.verdict = retry
		}
		return s
	}
	var canonical sample
	if cs.Canonical != nil {
		if canonical = load(*cs.Canonical); canonical.err != nil {
			return f, fmt.Errorf("canonical result %s: %w", cs.Canonical.Name, canonical.err)
		}
	}
	var samples []sample
	doubted := false
	for _, r := range cs.Results {
		s := load(r)
		doubted = doubted || s.verdict == suspicious
		if cs.Canonical != nil && (s.verdict == undecided || s.verdict == suspicious) {
			if s.verdict = invalid; c.Match(canonical.output, s.output) {
				s.verdict = valid
			}
		}
		samples = append(samples, s)
	}
	if cs.Canonical == nil && !doubted {
		f.Canonical = checkSet(samples, cs.Workunit.MinQuorum, c.Match)
	}
	for _, s := range samples {
		f.Verdicts = append(f.Verdicts, Verdict{s.verdict, s.err})
	}
	return f, nil
}
