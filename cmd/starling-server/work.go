package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// bulk is the number of workunits of --stdin in a transaction.
const bulk = 1000

func workCmd() *cobra.Command {
	return group("work", "Workunits", createCmd(), cancelCmd(), retryCmd(), setWorkCmd(), listCmd(view.Workunits), showCmd("workunit", func(_ project.Config, tx *store.View, id string) (any, error) { return view.WorkunitBy(tx, id) }))
}

// workFlags are the properties of a workunit from a command or a line of --stdin.
type workFlags struct {
	workgen.Params
	inputs, staged, generated, remote []string
	sticky, await, awaitHosts         bool
	predecessor                       string
	host                              int64
	user, team                        string
}

// define adds the flags to fs, with the present values as defaults.
func (w *workFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&w.Name, "name", w.Name, "name of the workunit (default: generated)")
	fs.StringArrayVar(&w.inputs, "input", w.inputs, "an input file, FILE[=LOGICAL]; may be repeated")
	fs.StringArrayVar(&w.staged, "staged", w.staged, "an input file that file stage has copied or will copy into download/, NAME[=LOGICAL]; may be repeated")
	fs.BoolVar(&w.await, "await-inputs", w.await, "wait for staged files that do not exist yet")
	fs.StringArrayVar(&w.generated, "generated", w.generated, "an input file that an earlier task created on the computer, NAME[=LOGICAL]; may be repeated")
	fs.StringArrayVar(&w.remote, "remote", w.remote, "an input file on another server, \"URL BYTES MD5 [LOGICAL]\"; may be repeated")
	fs.StringVar(&w.predecessor, "predecessor", w.predecessor, "name of the workunit that must come first; a computer that has its files is preferred")
	fs.Int64Var(&w.host, "host", w.host, "number of the only computer that may run it (default: any)")
	fs.StringVar(&w.user, "user", w.user, "e-mail address of the account whose computers may run it (default: any)")
	fs.BoolVar(&w.awaitHosts, "await-computers", w.awaitHosts, "with --user, create the work even if the account has no computers yet")
	fs.StringVar(&w.team, "team", w.team, "name or number of the team whose members' computers may run it (default: any)")
	fs.BoolVar(&w.sticky, "sticky", w.sticky, "keep input files on the computer for later tasks")
	fs.StringVar(&w.CommandLine, "cmdline", w.CommandLine, "command-line arguments of the program")
	fs.IntVar(&w.TargetNResults, "target-nresults", w.TargetNResults, "initial number of results (default: the quorum)")
	fs.IntVar(&w.MinQuorum, "min-quorum", w.MinQuorum, "number of results that must agree (default 1)")
	fs.IntVar(&w.MaxErrorResults, "max-error", w.MaxErrorResults, "errors tolerated before it is given up (default 3)")
	fs.IntVar(&w.MaxTotalResults, "max-total", w.MaxTotalResults, "maximum number of results (default 10)")
	fs.IntVar(&w.MaxSuccessResults, "max-success", w.MaxSuccessResults, "successes tolerated without agreement (default 6)")
	fs.Float64Var(&w.DelayBound, "delay-bound", w.DelayBound, "seconds until a result must be reported (default 604800)")
	fs.Float64Var(&w.RscFpopsEst, "rsc-fpops-est", w.RscFpopsEst, "floating point operations expected (default 3.6e12)")
	fs.Float64Var(&w.RscFpopsBound, "rsc-fpops-bound", w.RscFpopsBound, "floating point operations after which a task is aborted (default: 24 times the estimate)")
	fs.Float64Var(&w.RscMemoryBound, "rsc-memory-bound", w.RscMemoryBound, "bytes of memory needed (default 5e8)")
	fs.Float64Var(&w.RscDiskBound, "rsc-disk-bound", w.RscDiskBound, "bytes of disk needed (default 1e9)")
	fs.Float64Var(&w.Credit, "credit", w.Credit, "credit for each valid result (default: see app set --credit)")
	fs.Float64Var(&w.RscBandwidthBound, "rsc-bandwidth-bound", w.RscBandwidthBound, "download rate that a computer must have, in bytes per second (default: any)")
	fs.Int64Var(&w.Priority, "priority", w.Priority, "priority; higher is sent first (default 0)")
	fs.Int64Var(&w.Batch, "batch", w.Batch, "number of its batch (default: none)")
}

// limits are the flags for which an explicit 0 makes no sense.
var limits = []string{
	"target-nresults", "min-quorum", "max-error", "max-total", "max-success", "delay-bound",
	"rsc-fpops-est", "rsc-fpops-bound", "rsc-memory-bound", "rsc-disk-bound",
}

// spec returns the workunit that the flags describe.
func (w *workFlags) spec(fs *pflag.FlagSet) (workgen.Spec, error) {
	for _, name := range limits {
		if f := fs.Lookup(name); f.Changed && f.Value.String() == "0" {
			return workgen.Spec{}, fmt.Errorf("--%s is 0, want a number above 0", name)
		}
	}
	s := workgen.Spec{Params: w.Params, Sticky: w.sticky, Await: w.await, Predecessor: w.predecessor, Host: w.host, User: w.user, AwaitHosts: w.awaitHosts, Team: w.team}
	for _, in := range w.inputs {
		s.Inputs = append(s.Inputs, given(in))
	}
	for _, in := range w.staged {
		s.Inputs = append(s.Inputs, ofKind(workgen.Staged, in))
	}
	for _, in := range w.generated {
		s.Inputs = append(s.Inputs, ofKind(workgen.Generated, in))
	}
	for _, in := range w.remote {
		g, err := workgen.ParseRemote(in)
		if err != nil {
			return s, fmt.Errorf("--remote %w", err)
		}
		s.Inputs = append(s.Inputs, g)
	}
	return s, nil
}

func ofKind(k workgen.Kind, name string) workgen.Given {
	g := given(name)
	g.Kind = k
	return g
}

func createCmd() *cobra.Command {
	var w workFlags
	var stdin bool
	cmd := &cobra.Command{
		Use:   "create DIR APP",
		Short: "Create workunits and print their names",
		Long: "Create a workunit, or with --stdin one for each line of the standard input. A line holds flags\n" +
			"that override those of the command; templates/APP_in overrides both.",
		Example: "  starling-server work create demo upper --input text.txt=in --min-quorum 2",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				g, err := operate.Generator(ctx, p, args[1], time.Now())
				if err != nil {
					return err
				}
				base, err := w.spec(cmd.Flags())
				if err != nil {
					return err
				}
				out := bufio.NewWriter(os.Stdout)
				if stdin {
					err = createFrom(ctx, g, w, os.Stdin, out)
				} else {
					err = create(ctx, g, []workgen.Spec{base}, out)
				}
				return errors.Join(err, out.Flush())
			})
		},
	}
	w.define(cmd.Flags())
	cmd.Flags().BoolVar(&stdin, "stdin", false, "read one workunit's flags from each line of the standard input")
	return cmd
}

func create(ctx context.Context, g *workgen.Generator, specs []workgen.Spec, out io.Writer) error {
	names, err := g.Create(ctx, specs, time.Now())
	for _, n := range names {
		fmt.Fprintln(out, n)
	}
	return err
}

// createFrom makes a workunit for each line of in.
func createFrom(ctx context.Context, g *workgen.Generator, base workFlags, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var specs []workgen.Spec
	var numbers []int
	made := 0
	fail := func(line int, err error) error {
		if made == 0 {
			return fmt.Errorf("line %d: %w; no workunit was made", line, err)
		}
		next := append(numbers, line)[0]
		return fmt.Errorf("line %d: %w; the %d workunits of the lines before line %d were made: to make the others, repeat this with the lines from %[4]d on", line, err, made, next)
	}
	flush := func() error {
		if len(specs) == 0 {
			return nil
		}
		err := create(ctx, g, specs, out)
		if bad := (*workgen.SpecError)(nil); errors.As(err, &bad) {
			return fail(numbers[bad.Index], bad.Err)
		}
		if err == nil {
			made += len(specs)
			specs, numbers = specs[:0], numbers[:0]
		}
		return err
	}
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		spec, err := parseLine(base, text)
		if err != nil {
			return fail(n, err)
		}
		specs, numbers = append(specs, spec), append(numbers, n)
		if len(specs) == bulk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return flush()
}

func parseLine(base workFlags, text string) (workgen.Spec, error) {
	words, err := hook.Split(text)
	if err != nil {
		return workgen.Spec{}, err
	}
	w := base
	fs := pflag.NewFlagSet("line", pflag.ContinueOnError)
	fs.Usage = func() {}
	w.define(fs)
	if err := fs.Parse(words); err != nil {
		return workgen.Spec{}, err
	}
	if fs.NArg() > 0 {
		return workgen.Spec{}, fmt.Errorf("%q is not a flag", fs.Arg(0))
	}
	return w.spec(fs)
}
