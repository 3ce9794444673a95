package validator

import (
	"context"
	"errors"
	"fmt"

	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/store"
)

// program lets a program of the project decide. It is asked about all results of a workunit at
// once. Results whose outputs never arrived are left out.
//
// If a program fails, takes too long or gives an invalid answer, there is no decision: no result is
// worse off for it, and the program is asked again later.
type program struct {
	cmd hook.Command
	env Env
}

// question is the program's input.
type question struct {
	Workunit  hook.Workunit `json:"workunit"`
	Canonical *hook.Result  `json:"canonical"` // null: find one
	Results   []hook.Result `json:"results"`
}

// answer is the program's output.
type answer struct {
	Canonical string            `json:"canonical"` // name of a result ("": no agreement yet)
	Results   map[string]string `json:"results"`   // by name: valid, invalid, inconclusive, suspicious or error
	Error     string            `json:"error"`     // why it cannot decide now ("": it can)
}

func (p program) Check(ctx context.Context, c Case) (Findings, error) {
	f := Findings{Canonical: -1}
	q := question{Workunit: hook.DescribeWorkunit(c.Workunit, p.env.App), Results: []hook.Result{}}
	if c.Canonical != nil {
		if err := arrived(ctx, *c.Canonical, p.env.Files); err != nil {
			return f, fmt.Errorf("canonical result %s: %w", c.Canonical.Name, err)
		}
		d, err := hook.DescribeResult(ctx, *c.Canonical, p.env.Files)
		if err != nil {
			return f, err
		}
		q.Canonical = &d
	}
	for _, r := range c.Results {
		v, err := p.describe(ctx, &q, r)
		if err != nil {
			return f, err
		}
		f.Verdicts = append(f.Verdicts, v)
	}
	if len(q.Results) == 0 || c.Canonical == nil && len(q.Results) < c.Workunit.MinQuorum {
		return f, nil // nothing to ask
	}
	a := fitting{f: &f, c: c}
	err := p.cmd.Run(ctx, q, &a)
	if err == nil && a.Error != "" {
		err = fmt.Errorf("%s: %q", p.cmd.Args[0], a.Error)
	}
	return f, err
}

// fitting is an answer to the question about a case. Another question's answer is refused, so that a
// long-running program that is out of step with its questions is replaced.
type fitting struct {
	answer
	f *Findings
	c Case
}

// Accept implements hook.Answer.
func (a *fitting) Accept() error {
	if a.Error != "" {
		return nil
	}
	return a.apply(a.f, a.c)
}

func (p program) Usable(ctx context.Context, r store.Result) error {
	return arrived(ctx, r, p.env.Files)
}

// describe adds a result to the question, unless its outputs are not there.
func (p program) describe(ctx context.Context, q *question, r store.Result) (Verdict, error) {
	if err := arrived(ctx, r, p.env.Files); errors.Is(err, ErrOutput) {
		return Verdict{broken, err}, nil
	} else if err != nil {
		return Verdict{}, err
	}
	d, err := hook.DescribeResult(ctx, r, p.env.Files)
	q.Results = append(q.Results, d)
	return Verdict{}, err
}

var errProgram = errors.New("bad output by the program's verdict")

// apply copies an answer into f. It returns an error if the answer is invalid.
func (a answer) apply(f *Findings, c Case) error {
	known := 0
	for i, r := range c.Results {
		v := &f.Verdicts[i]
		if v.verdict != undecided {
			continue
		}
		word, ok := a.Results[r.Name]
		if !ok {
			return fmt.Errorf("no verdict on result %s", r.Name)
		}
		known++
		switch word {
		case "valid":
			v.verdict = valid
		case "invalid":
			v.verdict = invalid
		case "inconclusive":
			if c.Canonical != nil || a.Canonical != "" {
				return fmt.Errorf("result %s is inconclusive though there is a canonical result", r.Name)
			}
		case "suspicious":
			if c.Canonical != nil || a.Canonical != "" {
				return fmt.Errorf("result %s is suspicious though there is a canonical result: compare it with that one", r.Name)
			}
			v.verdict = suspicious
		case "error":
			v.verdict, v.reason = broken, errProgram
		default:
			return fmt.Errorf("verdict %q on result %s, want valid, invalid, inconclusive, suspicious or error", word, r.Name)
		}
		if v.verdict == valid && c.Canonical == nil && a.Canonical == "" {
			return fmt.Errorf("result %s is valid without a canonical result", r.Name)
		}
		if r.Name == a.Canonical {
			f.Canonical = i
		}
	}
	switch {
	case known != len(a.Results):
		return fmt.Errorf("%d verdicts on %d results", len(a.Results), known)
	case c.Canonical != nil && a.Canonical != "" && a.Canonical != c.Canonical.Name:
		return fmt.Errorf("the canonical result is %s already, not %s", c.Canonical.Name, a.Canonical)
	case c.Canonical == nil && a.Canonical != "" && f.Canonical < 0:
		return fmt.Errorf("the canonical result %q was not among those to choose from", a.Canonical)
	case f.Canonical >= 0 && f.Verdicts[f.Canonical].verdict != valid:
		return fmt.Errorf("the canonical result %s is not valid", a.Canonical)
	}
	return nil
}
