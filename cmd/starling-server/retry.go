package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
)

func retryCmd() *cobra.Command {
	var names []string
	var errs string
	var yes bool
	var r operate.RetrySpec
	cmd := &cobra.Command{
		Use:   "retry DIR [ID …]",
		Short: "Retry workunits that were given up",
		Long: "Retry workunits that were given up: by number, by --name, a whole --batch or all of an --app. Earlier\n" +
			"failures no longer count, and new results are created. Successes that were never compared still count,\n" +
			"unless the workunit was given up because too many of them disagreed. If server.toml allows one result\n" +
			"per volunteer or computer, those that already had one do not get another.\n\n" +
			"With --batch and --app, the command only counts, unless you pass --yes. Cancelled workunits and those\n" +
			"whose files are deleted are refused (files stay for delete_delay_hours). So are those whose failure\n" +
			"was already passed on to the project, unless you pass --again.",
		Example: "  starling-server work retry demo --app upper --errors couldnt_send --again\n" +
			"  starling-server work retry demo --name wu_7 --reason 'version 1.02 was withdrawn'",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if r.IDs, err = numbers(args[1:]); err != nil {
				return err
			}
			if errs != "" {
				if r.Errors, err = operate.ParseErrors(errs); err != nil {
					return err
				}
			}
			batch := cmd.Flags().Changed("batch")
			switch several := batch || r.App != ""; {
			case several == (len(r.IDs)+len(names) > 0):
				return errors.New("say which workunits: by number or --name, or by --batch or --app")
			case batch && r.Batch == 0:
				return errors.New("--batch is 0: batches are numbered from 1")
			case errs != "" && !several:
				return errors.New("--errors needs --batch or --app")
			default:
				r.DryRun = several && !yes
			}
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				if r.IDs, err = idsOf(ctx, p, names, r.IDs); err != nil {
					return err
				}
				done, err := operate.Retry(ctx, p, r, time.Now())
				if err == nil || done.Workunits > 0 {
					printRetried(done, r.DryRun)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&names, "name", nil, "name of a workunit; may be repeated")
	f.Int64Var(&r.Batch, "batch", 0, "number of a batch")
	f.StringVar(&r.App, "app", "", "name of an application")
	f.StringVar(&errs, "errors", "", "only those given up for one of these reasons: "+operate.ErrorNames)
	f.BoolVar(&r.Again, "again", false, "also retry those whose failure was already passed on to the project; it will receive their outcome a second time")
	f.StringVar(&r.Reason, "reason", "", "reason to record in the history that work show prints")
	f.BoolVar(&yes, "yes", false, "retry the workunits instead of only counting them")
	return cmd
}

func printRetried(done operate.Retried, dry bool) {
	what := "workunits"
	if done.Workunits == 1 {
		what = "workunit"
	}
	switch {
	case dry && done.Workunits == 0:
		fmt.Println("no workunit would be retried")
	case dry:
		fmt.Printf("%d %s would be retried. To do it, add --yes.\n", done.Workunits, what)
	default:
		fmt.Printf("%d %s retried\n", done.Workunits, what)
	}
	for _, why := range slices.Sorted(maps.Keys(done.Refused)) {
		fmt.Printf("%d refused: %s\n", done.Refused[why], why)
	}
}

// numbers reads the numbers of workunits.
func numbers(args []string) (ids []int64, err error) {
	for _, a := range args {
		n, ok := number(a)
		if !ok {
			return nil, fmt.Errorf("%q is not a workunit's number; for names use --name", a)
		}
		ids = append(ids, n)
	}
	return ids, nil
}
