// Mersenne is a BOINC application that looks for Mersenne primes: it reads
// exponents from the file in, runs the Lucas–Lehmer test of 2^p−1 for each, and
// writes one line for each to the file out.
//
// It is an example of a real application in pure Go, see README.md. It does not
// look for factors first and multiplies with math/big, so it is no rival of
// Prime95.
//
// With -pause it pauses at each step, for tests of a client, which need a task that
// runs for a while without heating the processor.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/boincapi"
)

func main() {
	boincapi.Run(func(app *boincapi.App) error {
		in, err := app.Resolve("in")
		if err != nil {
			return err
		}
		text, err := os.ReadFile(in)
		if err != nil {
			return err
		}
		pause, err := pauseIn(os.Args)
		if err != nil {
			return err
		}
		results, err := search(text, unhurried{app, pause})
		if err != nil {
			return err
		}
		out, err := app.Resolve("out")
		if err != nil {
			return err
		}
		return os.WriteFile(out, []byte(strings.Join(results, "")), 0o644) //nolint:gosec // the client may be another user
	})
}

// runtime has the methods of boincapi.App that the search needs.
type runtime interface {
	Yield() error
	FractionDone(float64)
	TimeToCheckpoint() bool
	CheckpointCompleted()
}

// pauseIn returns the duration that follows -pause. Other arguments, which workunits and clients add, are
// ignored.
func pauseIn(args []string) (time.Duration, error) {
	i := slices.Index(args, "-pause") + 1
	if i == 0 {
		return 0, nil
	}
	if i == len(args) {
		return 0, errors.New("-pause needs a duration, for example 1s")
	}
	d, err := time.ParseDuration(args[i])
	if err != nil {
		return 0, fmt.Errorf("-pause needs a duration, for example 1s: %w", err)
	}
	return d, nil
}

// unhurried is a runtime at which each step pauses.
type unhurried struct {
	runtime
	pause time.Duration
}

func (u unhurried) Yield() error {
	time.Sleep(u.pause)
	return u.runtime.Yield()
}

// search tests all exponents of the input, going on from the checkpoint if
// there is one, and returns the lines of the output.
func search(input []byte, app runtime) ([]string, error) {
	exponents, err := parseExponents(input)
	if err != nil {
		return nil, err
	}
	var all float64
	for _, p := range exponents {
		all += cost(p)
	}
	state := loadCheckpoint(input, exponents)
	var done float64
	for _, p := range exponents[:len(state.Results)] {
		done += cost(p)
	}
	for _, p := range exponents[len(state.Results):] {
		if f := knownFactor(p); f != nil {
			state.finish(fmt.Sprintf("M%d has a factor: %v\n", p, f))
			continue
		}
		t := newTest(p, state.Iteration, state.residue)
		for ; !t.done(); t.step() {
			if err := app.Yield(); err != nil {
				return nil, err
			}
			app.FractionDone((done + cost(p)*t.fraction()) / all)
			if app.TimeToCheckpoint() {
				state.Iteration, state.residue = t.iteration, &t.s
				if err := state.save(); err != nil {
					return nil, fmt.Errorf("write checkpoint: %w", err)
				}
				app.CheckpointCompleted()
			}
		}
		state.finish(t.verdict())
		done += cost(p)
	}
	app.FractionDone(1)
	return state.Results, nil
}
