package jobsched

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// A want is what keeps a job from running: all jobs with the same want wait for
// the same reason.
type want struct {
	bound       resource.Bound
	limit       int
	memory      int64
	cpus        float64 // more than one, at once
	kind        resource.Kind
	unreachable bool
}

// codes are the reasons for each missing resource.
var codes = map[resource.Bound]reason.Code{
	resource.CPUs: reason.NoCPU, resource.Memory: reason.NoMemory, resource.Limit: reason.Limited, resource.Devices: reason.NoGPU, resource.Missing: reason.GPUMissing,
}

func (c *chooser) whyNot(i int) reason.Explanation {
	j := &c.Jobs[i]
	w := want{kind: j.Kind(), unreachable: c.Projects[j.Project].Unreachable}
	if w.bound, w.limit = c.free.Lacks(j.Usage, j.Under); w.bound == resource.Memory {
		w.memory = j.Memory
	}
	if w.bound == resource.CPUs && j.CPUs > 1 {
		w.cpus = j.CPUs
	}
	text, known := c.texts[w]
	if !known {
		text = c.inWords(w)
		c.texts[w] = text
	}
	return reason.Explanation{Code: codes[w.bound], Text: text, Cure: c.cure(w, j.ID)}
}

// running returns the sentence for a job that runs on some devices. It names the resources of a job
// on coprocessors.
func running(u resource.Usage, on []int) string {
	if u.Coproc == nil {
		return "Running."
	}
	coproc := *u.Coproc
	u.Coproc, coproc.On = &coproc, on
	return "Running with " + u.String() + "."
}

// never reports whether a job needs more memory than the computer has.
func (c *chooser) never(w want) bool {
	return w.bound == resource.Memory && c.AllMemory > 0 && w.memory > c.AllMemory
}

// cure returns the remedy for a want.
func (c *chooser) cure(w want, id string) string {
	switch {
	case c.never(w):
		return "Abort it, so that another computer gets it: starling task abort " + id
	case w.bound == resource.Memory:
		return c.Bound.Cure
	case w.bound == resource.Limit:
		return "Raise max_concurrent in the account file."
	case w.bound == resource.Devices, w.unreachable:
		return "Wait: its turn comes."
	}
	return strings.TrimSpace("Wait: its turn comes. " + c.CPUBound.Cure)
}

func (c *chooser) inWords(w want) string {
	switch {
	case w.bound == resource.Limit:
		return fmt.Sprintf("Already running: %d, the limit set by %s.", c.Limits[w.limit].Max, c.Limits[w.limit].Name)
	case c.never(w):
		return fmt.Sprintf("It needs %s of memory, and this computer has %s: it can never run here.", words.Bytes(w.memory), words.Bytes(c.AllMemory))
	case w.bound == resource.Memory:
		return fmt.Sprintf(
			"It needs %s of memory. Tasks may use %s (%s), of which %s are free.",
			words.Bytes(w.memory), words.Bytes(c.Memory), cmp.Or(c.Bound.Text, "ram_max_used_busy_pct, ram_max_used_idle_pct"), words.Bytes(max(0, c.free.FreeMemory())))
	case w.unreachable:
		return "Its project cannot be reached, so tasks of other projects run first."
	case w.bound == resource.Devices:
		return busy(len(resource.Find(c.pools, w.kind).Devices), w.kind.String()) + " busy with tasks that have earlier deadlines or belong to projects that are owed more, or too little of its memory is free."
	case w.kind != resource.CPU:
		return "Every CPU that tasks may use is needed by other tasks on coprocessors" + c.CPUBound.Aside() + "."
	case w.cpus > float64(c.CPUs):
		return fmt.Sprintf("It needs %v CPUs at once. Tasks may use %d, so it waits until these are free%s.", w.cpus, c.CPUs, c.CPUBound.Aside())
	case w.cpus > 1:
		return fmt.Sprintf("It needs %v CPUs at once, and %v of %d are free%s.", w.cpus, max(0, c.free.FreeCPUs()), c.CPUs, c.CPUBound.Aside())
	}
	return busy(c.CPUs, "CPU") + " busy with tasks that have earlier deadlines or belong to projects that are owed more" + c.CPUBound.Aside() + "."
}

// busy returns the start of a sentence about all processors of a kind that may be used.
func busy(n int, kind string) string {
	if n == 1 {
		return "The only available " + kind + " is"
	}
	return fmt.Sprintf("All %d available %ss are", n, kind)
}

// missing returns the reason of a task that needs a coprocessor that the computer does not have, or
// that the volunteer keeps from it.
func missing(j Job, pool resource.Pool, absent []resource.Absent) reason.Explanation {
	u, n := j.Usage, len(pool.Devices)
	r := reason.Explanation{Code: reason.GPUMissing, Cure: "If the device will not come back, abort the task: starling task abort " + j.ID}
	needs := "It needs " + words.Count(max(1, int(u.Devices())), u.Kind().String())
	if u.Coproc.Memory > 0 {
		needs += " with " + words.Bytes(u.Coproc.Memory)
	}
	excluded := 0
	for _, d := range pool.Devices {
		if slices.Contains(u.Coproc.Except, d.Number) {
			excluded++
		}
	}
	switch {
	case n == 0:
		r.Text = needs + ". This computer has none that tasks may use."
		for _, a := range absent {
			if a.Kind == pool.Kind {
				r.Text = needs + ". " + a.Why
			}
		}
		return r
	case float64(n) < u.Devices():
		r.Text = fmt.Sprintf("%s. This computer has %d.", needs, n)
		return r
	case excluded == 0 && n == 1:
		r.Text = needs + ". The only one here has too little memory."
	case excluded == 0:
		r.Text = fmt.Sprintf("%s. Of the %d here, too few have enough memory.", needs, n)
	case excluded >= n:
		r.Text = needs + ". Its project's account file keeps it off every one here (exclude_gpu)."
	default:
		r.Text = fmt.Sprintf("%s. Its project's account file keeps it off %d of the %d here (exclude_gpu), and the rest are too few or too small.", needs, excluded, n)
	}
	if excluded > 0 {
		r.Cure = "Remove exclude_gpu from the account file, or abort the task: starling task abort " + j.ID
	}
	return r
}
