package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/starling-grid/starling/sim"
)

func simulateCmd() *cobra.Command {
	var seeds []int64
	var days float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "simulate SCENARIO.toml…",
		Short: "Play scheduling scenarios in virtual time",
		Long:  "Play scheduling scenarios in virtual time with the agent's own policies, and print what they are worth: how much time is idle or wasted, how far shares are missed, how long projects go without (monotony), and RPCs a job. With several seeds the figures are means.",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
			if !asJSON {
				fmt.Fprintln(t, "SCENARIO\tIDLE\tWASTED\tSHARE VIOLATION\tMONOTONY\tRPCS/JOB\tFAILED\tMISSED\tMET\tPREEMPTIONS\t")
			}
			for _, path := range args {
				s, err := sim.Load(path)
				if err != nil {
					return err
				}
				f := mean(s, seeds, days)
				if asJSON {
					e := json.NewEncoder(out)
					e.SetIndent("", "  ")
					if err := e.Encode(f); err != nil {
						return err
					}
					continue
				}
				fmt.Fprintf(t, "%s\t%.4f\t%.4f\t%.4f\t%.3f\t%.3f\t%d\t%d\t%d\t%d\t\n", s.Name, f.Idle, f.Wasted,
					f.ShareViolation, f.Monotony, f.RPCsPerJob, f.FailedRPCs, f.Missed, f.Met, f.Preemptions)
			}
			return t.Flush()
		},
	}
	cmd.Flags().Int64SliceVar(&seeds, "seed", nil, "seeds of job sizes, separated by commas (default: the scenario's)")
	cmd.Flags().Float64Var(&days, "days", 0, "days to play (default: the scenario's)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// mean plays a scenario once for each seed and averages the figures.
func mean(s sim.Scenario, seeds []int64, days float64) sim.Figures {
	if len(seeds) == 0 {
		seeds = []int64{s.Seed}
	}
	runs := make([]sim.Figures, len(seeds))
	for i, seed := range seeds {
		runs[i] = sim.Run(s, seed, days, nil)
	}
	return sim.Mean(runs)
}
