package main

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// With GPU=pocl the tasks count the steps of numbers to 1 by OpenCL, on the device that
// PoCL makes of the CPUs.

// firstLongest is the correct result of the first workunit, by the number of starting values in one.
//
// Source: OEIS A006877.
var firstLongest = map[int]champion{10_000_000: {8400511, 685}, 1_000_000: {837799, 524}}

// span returns the number of starting values in a workunit.
func (g *grid) span() int {
	if g.light {
		return 1_000_000
	}
	return 10_000_000
}

// openCLClass is for application versions that need such a device, and openCLCoproc has
// an agent use it.
const (
	openCLClass  = "\n[plan_class.opencl_pocl]\ngpu_type = \"pocl\"\nopencl = true\n"
	openCLCoproc = "[[coproc]]\ntype = \"pocl\"\nopencl = \"pthread\"\n"
)

// collatzInput is the input of a workunit, and its name.
func collatzInput(i, span int) (name, text string) {
	first := 1 + i*span
	return fmt.Sprintf("collatz_%d", first), fmt.Sprintf("%d %d\n", first, span)
}

var longest = regexp.MustCompile(`(?m)^longest (\d+) with (\d+) steps$`)

// A champion is a number that takes the most steps.
type champion struct{ number, steps int }

// meet takes in an output.
func (c *champion) meet(text string) {
	if m := longest.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		if steps, _ := strconv.Atoi(m[2]); steps > c.steps {
			*c = champion{n, steps}
		}
	}
}

func (c champion) String() string {
	return fmt.Sprintf("longest %d with %d steps", c.number, c.steps)
}

// report prints the result of n workunits, and returns an error if it is wrong.
func (c champion) report(out io.Writer, n, span int) error {
	fmt.Fprintf(out, "\nOf the numbers to %d: %s\n", n*span, c)
	if first := firstLongest[span]; n == 1 && c != first || c.steps < first.steps {
		return fmt.Errorf("%s, and the published list says %s", c, first)
	}
	return nil
}
