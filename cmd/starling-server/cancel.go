package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func cancelCmd() *cobra.Command {
	var names []string
	var batch int64
	cmd := &cobra.Command{
		Use:   "cancel DIR [ID …]",
		Short: "Cancel workunits",
		Long: "Cancel workunits by number, by --name or a whole --batch. Results in progress are\n" +
			"aborted when their computers next contact the project. Workunits that have an outcome keep it.",
		Example: "  starling-server work cancel demo 7 8 9\n  starling-server work cancel demo --batch 3",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := numbers(args[1:])
			if err != nil {
				return err
			}
			ways := 0
			for _, used := range []bool{len(ids) > 0, len(names) > 0, cmd.Flags().Changed("batch")} {
				if used {
					ways++
				}
			}
			if ways != 1 {
				return errors.New("say which workunits: by number, by --name or by --batch")
			}
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) (err error) {
				var c operate.Cancelled
				if cmd.Flags().Changed("batch") {
					c, err = operate.CancelBatch(ctx, p, batch, time.Now())
				} else {
					if ids, err = idsOf(ctx, p, names, ids); err != nil {
						return err
					}
					c, err = operate.Cancel(ctx, p, ids, time.Now())
				}
				fmt.Printf("%s cancelled, %d already had an outcome\n", words.Count(c.Workunits, "workunit"), c.Finished)
				return err
			})
		},
	}
	cmd.Flags().StringArrayVar(&names, "name", nil, "name of a workunit; may be repeated")
	cmd.Flags().Int64Var(&batch, "batch", 0, "number of a batch")
	return cmd
}

// idsOf adds the numbers of named workunits to ids.
func idsOf(ctx context.Context, p *project.Project, names []string, ids []int64) ([]int64, error) {
	err := p.Store.View(ctx, func(tx *store.Tx) error {
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
