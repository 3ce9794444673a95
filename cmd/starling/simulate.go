package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/sim"
)

func simulateCmd() *cobra.Command {
	var seeds []int64
	var days float64
	var asJSON bool
	var replay, html, from string
	cmd := &cobra.Command{
		Use:   "simulate SCENARIO.toml…",
		Short: "Simulate scheduling scenarios in virtual time",
		Long:  "Simulate scheduling scenarios in virtual time with the agent's own policies, and print figures of merit: idle and wasted time, share violation, monotony (how long projects go without computing), and RPCs per job. With several seeds, the figures are means.",
		RunE: func(cmd *cobra.Command, args []string) error {
			out := cmd.OutOrStdout()
			if replay != "" {
				return replayFile(out, replay)
			}
			if from != "" {
				return importScenario(cmd.Context(), out, from)
			}
			if len(args) == 0 {
				return errors.New("a scenario file is required, or --replay FILE")
			}
			t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
			if !asJSON {
				fmt.Fprintln(t, "SCENARIO\tIDLE\tWASTED\tSHARE VIOLATION\tMONOTONY\tRPCS/JOB\tFAILED\tMISSED\tMET\tPREEMPTIONS\t")
			}
			for _, path := range args {
				s, err := sim.Load(path)
				if err != nil {
					return err
				}
				if html != "" {
					if err := writePage(html, s, seeds, days); err != nil {
						return err
					}
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
	cmd.Flags().Float64Var(&days, "days", 0, "days to simulate (default: the scenario's)")
	cmd.Flags().StringVar(&html, "html", "", "write a page to this file, with a timeline of CPUs, debts and queue")
	cmd.Flags().StringVar(&from, "import", "", "print a scenario made from this data directory, of a BOINC client or of Starling")
	cmd.Flags().StringVar(&replay, "replay", "", "repeat recorded decisions (from why --save FILE, or decisions.jsonl) and compare the results")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// writePage plays a scenario with its first seed and writes a page about it.
func writePage(path string, s sim.Scenario, seeds []int64, days float64) error {
	seed := s.Seed
	if len(seeds) > 0 {
		seed = seeds[0]
	}
	length := cmp.Or(days, s.DurationDays)
	h := &sim.History{Sample: time.Duration(length * 24 * float64(time.Hour) / 1500)}
	f := sim.Run(s, seed, days, h)
	var b bytes.Buffer
	if err := h.Page(&b, s, seed, f); err != nil {
		return err
	}
	return atomicfile.Write(path, b.Bytes(), 0o644)
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

// replayFile decides recorded passes again. It explains a single one. Of many it prints the number.
func replayFile(out io.Writer, path string) error {
	count, last := 0, decide.Record{}
	err := loadRecords(path, func(n int, r decide.Record) error {
		plan, err := decide.Replay(r)
		if err != nil {
			return fmt.Errorf("%s: decision %d of %s: %w", path, n, r.Snapshot.Now.Format("2006-01-02 15:04:05"), err)
		}
		count, last = n, decide.Record{Snapshot: r.Snapshot, Plan: plan}
		return nil
	})
	if err != nil {
		return err
	}
	if count == 1 {
		if err := explain(out, last, ""); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s repeated, with the same results as recorded.\n", words.Count(count, "decision"))
	return nil
}
