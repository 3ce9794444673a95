package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

func batchCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show DIR ID",
		Aliases: []string{"status"},
		Short:   "Show the progress of a batch and when it will be done",
		Long: "Show the progress of a batch and an estimate of its end. Before ten workunits are finished, the estimate assumes\n" +
			"that the computers active in the last 7 days compute nothing else. After that, it follows the pace of the batch.",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, ok := number(args[1])
			if !ok {
				return fmt.Errorf("no batch %s", args[1])
			}
			return withProject(cmd, args[0], func(ctx context.Context, p *project.Project) error {
				s, err := store.Read(ctx, p.Store, func(tx *store.View) (view.Batch, error) {
					return view.BatchBy(tx, id, &p.Config.Rules, time.Now())
				})
				if err != nil || asJSON {
					return printJSON(s, err)
				}
				name := ""
				if s.Name != "" {
					name = fmt.Sprintf(" (%s, of token %s)", s.Name, s.Token)
				}
				fmt.Printf("batch %d%s  %s: %d unfinished, %d with a canonical result, %d given up, %d assimilated\n",
					s.Batch, name, words.Count(int(s.Total), "workunit"), s.Unfinished, s.Canonical, s.Error, s.Assimilate)
				fmt.Printf("results   %d unsent, %d in progress, %d over\n", s.Results["unsent"], s.Results["in_progress"], s.Results["over"])
				fmt.Printf("progress  %.0f %%, %s\n", 100*s.Fraction, s.Estimate.Text)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return group("batch", "Batches of workunits", listCmd(view.Batches), cmd)
}
