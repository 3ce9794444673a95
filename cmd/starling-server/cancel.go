package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func cancelCmd() *cobra.Command {
	var names []string
	var yes bool
	var c operate.CancelSpec
	cmd := &cobra.Command{
		Use:   "cancel DIR [ID …]",
		Short: "Cancel workunits, or undo that",
		Long: "Cancel workunits by number, by --name or a whole --batch. Results in progress are\n" +
			"aborted when their computers next contact the project. Workunits that have an outcome keep it.\n" +
			"With --batch, the command only counts, unless you pass --yes.\n\n" +
			"--undo revives workunits that were cancelled, as long as their files are not deleted (they stay for\n" +
			"delete_delay_hours). Results that computers have and have not aborted yet still count, and new\n" +
			"ones are created as needed. If the cancellation was already reported to the project, it also\n" +
			"receives the outcome.",
		Example: "  starling-server work cancel demo 7 8 9\n  starling-server work cancel demo --batch 3 --reason 'wrong input' --yes\n" +
			"  starling-server work cancel demo --batch 3 --undo --yes",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if c.IDs, err = numbers(args[1:]); err != nil {
				return err
			}
			batch := cmd.Flags().Changed("batch")
			ways := 0
			for _, used := range []bool{len(c.IDs) > 0, len(names) > 0, batch} {
				if used {
					ways++
				}
			}
			if ways != 1 {
				return errors.New("say which workunits: by number, by --name or by --batch")
			}
			c.DryRun = batch && !yes
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) (err error) {
				if c.IDs, err = idsOf(ctx, p, names, c.IDs); err != nil {
					return err
				}
				done, err := operate.CancelWork(ctx, p, c, time.Now())
				if err == nil || done.Workunits > 0 {
					printCancelled(done, c)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&names, "name", nil, "name of a workunit; may be repeated")
	f.Int64Var(&c.Batch, "batch", 0, "number of a batch")
	f.StringVar(&c.Reason, "reason", "", "reason to record in the history that work show prints")
	f.BoolVar(&c.Undo, "undo", false, "revive workunits that were cancelled")
	f.BoolVar(&yes, "yes", false, "cancel the batch, or undo that, instead of only counting")
	return cmd
}

func printCancelled(done operate.Cancelled, c operate.CancelSpec) {
	verb := "cancelled"
	if c.Undo {
		verb = "revived"
	}
	what := words.Count(done.Workunits, "workunit")
	if c.DryRun {
		fmt.Printf("%s would be %s", what, verb)
	} else {
		fmt.Printf("%s %s", what, verb)
	}
	switch {
	case c.Undo:
		fmt.Println()
	case done.InProgress > 0:
		fmt.Printf(", %d already had an outcome; computers are told to abort %s\n", done.Finished, words.Count(done.InProgress, "task"))
	default:
		fmt.Printf(", %d already had an outcome\n", done.Finished)
	}
	for _, why := range slices.Sorted(maps.Keys(done.Refused)) {
		fmt.Printf("%d refused: %s\n", done.Refused[why], why)
	}
	if c.DryRun && done.Workunits > 0 {
		fmt.Println(unchanged)
	}
}

// idsOf adds the numbers of named workunits to ids.
func idsOf(ctx context.Context, p *project.Project, names []string, ids []int64) ([]int64, error) {
	err := p.Store.View(ctx, func(tx *store.View) error {
		for _, n := range names {
			wu, err := tx.WorkunitByName(n)
			if err != nil {
				return err
			}
			ids = append(ids, wu.ID)
		}
		return nil
	})
	return ids, err
}

// unchanged ends the output of a command that only counts.
const unchanged = "Nothing has changed. Add --yes to do it."
