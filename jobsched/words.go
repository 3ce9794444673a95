package jobsched

import (
	"cmp"
	"fmt"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/resource"
)

// A want is what keeps a job from running: all jobs with the same want wait for
// the same reason.
type want struct {
	bound       resource.Bound
	limit       int
	memory      int64
	kind        resource.Kind
	unreachable bool
}

// codes are the reasons for what a job lacks.
var codes = map[resource.Bound]Code{
	resource.CPUs: NoCPU, resource.Memory: NoMemory, resource.Limit: Limited, resource.Devices: NoGPU, resource.Missing: GPUMissing,
}

func (c *chooser) whyNot(i int) Reason {
	j := &c.Jobs[i]
	w := want{kind: j.Kind(), unreachable: c.Projects[j.Project].Unreachable}
	if w.bound, w.limit = c.free.Lacks(j.Usage, j.Under); w.bound == resource.Memory {
		w.memory = j.Memory
	}
	text, known := c.texts[w]
	if !known {
		text = c.inWords(w)
		c.texts[w] = text
	}
	return Reason{Code: codes[w.bound], Text: text, Urgent: c.reasons[i].Urgent}
}

func (c *chooser) inWords(w want) string {
	switch {
	case w.bound == resource.Limit:
		return fmt.Sprintf("Already running: %d, the limit set by %s.", c.Limits[w.limit].Max, c.Limits[w.limit].Name)
	case w.bound == resource.Memory:
		return fmt.Sprintf(
			"It needs %s of memory. Tasks may use %s (%s), of which %s are free.",
			words.Bytes(w.memory), words.Bytes(c.Memory), cmp.Or(c.Bound.Text, "ram_max_used_busy_pct, ram_max_used_idle_pct"), words.Bytes(max(0, c.free.FreeMemory())))
	case w.unreachable:
		return "Its project cannot be reached, so tasks of other projects run first."
	case w.bound == resource.Devices:
		return busy(len(resource.Find(c.pools, w.kind).Devices), w.kind.String()) + " busy with tasks that have earlier deadlines or belong to projects that are owed more, or too little of its memory is free."
	case w.kind != resource.CPU:
		return "Every CPU that tasks may use is needed by other tasks on coprocessors (max_ncpus_pct)."
	}
	return busy(c.CPUs, "CPU") + " busy with tasks that have earlier deadlines or belong to projects that are owed more (max_ncpus_pct)."
}

// busy is the start of a sentence about all processors of a kind that may be used.
func busy(n int, kind string) string {
	if n == 1 {
		return "The only available " + kind + " is"
	}
	return fmt.Sprintf("All %d available %ss are", n, kind)
}

// missing says what a task needs that the computer does not have, and why if that is known.
func missing(u resource.Usage, pool resource.Pool, absent []resource.Absent) string {
	needs := "It needs " + words.Count(max(1, int(u.Devices())), u.Kind().String())
	if u.Coproc.Memory > 0 {
		needs += fmt.Sprintf(" with %d MB", u.Coproc.Memory>>20)
	}
	switch n := len(pool.Devices); n {
	case 0:
		for _, a := range absent {
			if a.Kind == pool.Kind {
				return needs + ". " + a.Why
			}
		}
		return needs + ". This computer has none that tasks may use."
	case 1:
		return needs + ". The only one here is not suitable, or may not be used by its project."
	default:
		return fmt.Sprintf("%s. Of the %d here, too few are suitable or may be used by its project.", needs, n)
	}
}
