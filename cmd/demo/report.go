package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// outcome has the parts of a result.json that the demo reads.
type outcome struct {
	Workunit  string
	Canonical *struct {
		Result string
		HostID int64
		Credit float64
	}
	Errors  []string
	Files   []string
	Results []struct {
		Name          string
		HostID        int64   `json:"hostid"`
		Outcome       string  `json:"outcome"`
		ValidateState string  `json:"validate_state"`
		GrantedCredit float64 `json:"granted_credit"`
		ElapsedTime   float64 `json:"elapsed_time"`
	}
}

var prime = regexp.MustCompile(`(?m)^M(\d+) is prime!`)

// report prints the results, the credit and the primes from the files that the project's
// assimilator wrote. It fails if a workunit failed or an expected prime is missing.
func report(g *grid, out io.Writer) error {
	dir := filepath.Join(g.project.Dir, "results")
	names, err := filepath.Glob(filepath.Join(dir, "*", "*", "result.json"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	var failed []string
	primes := make(map[int]bool)
	var best champion
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RESULT\tHOST\tOUTCOME\tVALIDATE STATE\tSECONDS\tCREDIT\tCANONICAL")
	total := 0.0
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var o outcome
		if err := json.Unmarshal(b, &o); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if o.Canonical == nil {
			failed = append(failed, o.Workunit+": "+strings.Join(o.Errors, ", "))
		}
		for _, r := range o.Results {
			mark := ""
			if o.Canonical != nil && r.Name == o.Canonical.Result {
				mark = "*"
			}
			total += r.GrantedCredit
			fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%.1f\t%.4f\t%s\n", r.Name, r.HostID, r.Outcome, r.ValidateState, r.ElapsedTime, r.GrantedCredit, mark)
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(name), "out"))
		if err != nil && o.Canonical != nil {
			return err
		}
		best.meet(string(text))
		for _, m := range prime.FindAllStringSubmatch(string(text), -1) {
			if p, err := strconv.Atoi(m[1]); err == nil {
				primes[p] = true
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var wrong error
	if g.gpu == "pocl" {
		wrong = best.report(out, g.total, g.span())
	} else {
		wrong = reportPrimes(out, primes, g)
	}
	fmt.Fprintf(out, "Credit granted: %.4f\n\nOutputs:  %s\n", total, dir)
	fmt.Fprintf(out, "Logs:     %s\n", filepath.Join(g.dir, "*.log"))
	fmt.Fprintf(out, "Database: %s\n", filepath.Join(g.project.Dir, "project.db"))
	return errors.Join(check(len(names), g.total, failed), wrong)
}

// reportPrimes prints the primes and compares them with those that must be found.
func reportPrimes(out io.Writer, primes map[int]bool, g *grid) error {
	found := make([]string, 0, len(primes))
	for _, p := range slices.Sorted(maps.Keys(primes)) {
		found = append(found, fmt.Sprintf("2^%d−1", p))
	}
	fmt.Fprintf(out, "\nMersenne primes found: %s\n", strings.Join(found, ", "))
	return checkPrimes(primes, g.total, g.light)
}

func check(seen, want int, failed []string) error {
	if len(failed) > 0 {
		return fmt.Errorf("workunits failed: %s", strings.Join(failed, "; "))
	}
	if seen != want {
		return fmt.Errorf("%d workunits were assimilated, want %d", seen, want)
	}
	return nil
}

// checkPrimes compares the primes with the published list, in both directions, for the exponents
// that were tested.
func checkPrimes(found map[int]bool, n int, light bool) error {
	for _, exponents := range plan(n, light) {
		for _, p := range exponents {
			if isKnown := slices.Contains(known, p); isKnown != found[p] {
				return fmt.Errorf("2^%d−1: found prime %v, the published list says %v", p, found[p], isKnown)
			}
		}
	}
	return nil
}
