package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/workgen"
)

func setWorkCmd() *cobra.Command {
	var names []string
	var batch int64
	var to workgen.Params
	cmd := &cobra.Command{
		Use:   "set DIR [ID …]",
		Short: "Change settings of unfinished workunits",
		Long: "Change settings of unfinished workunits: by number, by --name or a whole --batch. Settings without a flag stay.\n" +
			"Results that computers already have keep their deadline. Workunits that have an outcome are left as they are.",
		Example: "  starling-server work set demo --batch 3 --priority 10\n  starling-server work set demo 7 --max-total 20 --max-error 10",
		Args:    cobra.MinimumNArgs(1),
	}
	settings := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	settings.Int64Var(&to.Priority, "priority", 0, "priority; higher is sent first")
	settings.IntVar(&to.MaxErrorResults, "max-error", 0, "errors tolerated before it is given up")
	settings.IntVar(&to.MaxTotalResults, "max-total", 0, "maximum number of results")
	settings.IntVar(&to.MaxSuccessResults, "max-success", 0, "successes tolerated without agreement")
	settings.Float64Var(&to.DelayBound, "delay-bound", 0, "seconds until a result must be reported")
	settings.Float64Var(&to.Credit, "credit", 0, "credit for each valid result; 0: as the application does")
	f := cmd.Flags()
	f.AddFlagSet(settings)
	f.StringArrayVar(&names, "name", nil, "name of a workunit; may be repeated")
	f.Int64Var(&batch, "batch", 0, "number of a batch")
	change := func(p *workgen.Params) {
		for name, set := range map[string]func(){
			"priority":    func() { p.Priority = to.Priority },
			"max-error":   func() { p.MaxErrorResults = to.MaxErrorResults },
			"max-total":   func() { p.MaxTotalResults = to.MaxTotalResults },
			"max-success": func() { p.MaxSuccessResults = to.MaxSuccessResults },
			"delay-bound": func() { p.DelayBound = to.DelayBound },
			"credit":      func() { p.Credit = to.Credit },
		} {
			if f.Changed(name) {
				set()
			}
		}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ids, err := numbers(args[1:])
		if err != nil {
			return err
		}
		some := false
		settings.VisitAll(func(s *pflag.Flag) { some = some || f.Changed(s.Name) })
		switch {
		case !some:
			return errors.New("say what to change: see work set --help")
		case f.Changed("batch") == (len(ids)+len(names) > 0):
			return errors.New("say which workunits: by number or --name, or by --batch")
		}
		for _, name := range limits {
			if s := f.Lookup(name); s != nil && s.Changed && s.Value.String() == "0" {
				return fmt.Errorf("--%s is 0, want a number above 0", name)
			}
		}
		return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
			if f.Changed("batch") {
				ids, err = operate.Batch(ctx, p, batch)
			} else {
				ids, err = idsOf(ctx, p, names, ids)
			}
			if err != nil {
				return err
			}
			done, err := operate.SetWorkunits(ctx, p, ids, change, time.Now())
			if err == nil || done.Changed > 0 {
				fmt.Printf("%s changed, %d had these settings already, %d already had an outcome\n",
					words.Count(done.Changed, "workunit"), done.Unchanged, done.Finished)
			}
			return err
		})
	}
	return cmd
}
