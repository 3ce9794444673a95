package jobsched

import (
	"math"
	"slices"

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
	r, known := c.reasons[w]
	if !known {
		r = reason.Explanation{Code: codes[w.bound], Text: c.inWords(w), Cure: c.cure(w)}
		c.reasons[w] = r
	}
	if c.never(w) {
		r.Cure = words.T("Abort it, so that another computer gets it: starling task abort {task}", "task", j.ID)
	}
	return r
}

// running returns the sentence for a job that runs on some devices. It names the resources of a job
// on coprocessors.
func running(u resource.Usage, on []int) words.Text {
	if u.Coproc == nil {
		return words.T("Running.")
	}
	coproc := *u.Coproc
	u.Coproc, coproc.On = &coproc, on
	return words.T("Running with {resources}.", "resources", u.Text())
}

// never reports whether a job needs more memory than the computer has.
func (c *chooser) never(w want) bool {
	return w.bound == resource.Memory && c.AllMemory > 0 && w.memory > c.AllMemory
}

// cure returns the remedy for a want of a job that can run at some time.
func (c *chooser) cure(w want) words.Text {
	switch {
	case w.bound == resource.Memory:
		return c.Bound.Cure
	case w.bound == resource.Limit:
		return words.T("Raise max_concurrent in the account file.")
	case w.bound == resource.Devices, w.unreachable:
		return words.T("Wait: its turn comes.")
	}
	return words.And(words.T("Wait: its turn comes."), c.CPUBound.Cure)
}

func (c *chooser) inWords(w want) words.Text {
	switch {
	case w.bound == resource.Limit:
		return words.T("Already running: {n}, the limit set by {setting}.", "n", c.Limits[w.limit].Max, "setting", c.Limits[w.limit].Name)
	case c.never(w):
		return words.T("It needs {need} of memory, and this computer has {all}: it can never run here.", "need", words.Bytes(w.memory), "all", words.Bytes(c.AllMemory))
	case w.bound == resource.Memory:
		return words.T("It needs {need} of memory. Tasks may use {most} ({setting}), of which {free} are free.",
			"need", words.Bytes(w.memory), "most", words.Bytes(c.Memory), "setting", words.Or(c.Bound.Text, words.Plain("ram_max_used_busy_pct, ram_max_used_idle_pct")), "free", words.Bytes(max(0, c.free.FreeMemory())))
	case w.unreachable:
		return words.T("Its project cannot be reached, so tasks of other projects run first.")
	case w.bound == resource.Devices:
		return words.Plural(len(resource.Find(c.pools, w.kind).Devices),
			"The only available {kind} is busy with tasks that have earlier deadlines or belong to projects that are owed more, or too little of its memory is free.",
			"All {n} available {kind}s are busy with tasks that have earlier deadlines or belong to projects that are owed more, or too little of their memory is free.", "kind", w.kind)
	case w.kind != resource.CPU:
		return words.T("Every CPU that tasks may use is needed by other tasks on coprocessors{bound}.", "bound", c.CPUBound.Aside())
	case w.cpus > float64(c.CPUs):
		return words.T("It needs {need} CPUs at once. Tasks may use {most}, so it waits until these are free{bound}.", "need", w.cpus, "most", c.CPUs, "bound", c.CPUBound.Aside())
	case w.cpus > 1:
		return words.T("It needs {need} CPUs at once, and {free} of {most} are free{bound}.", "need", w.cpus, "free", max(0, c.free.FreeCPUs()), "most", c.CPUs, "bound", c.CPUBound.Aside())
	}
	return words.Plural(c.CPUs,
		"The only available CPU is busy with tasks that have earlier deadlines or belong to projects that are owed more{bound}.",
		"All {n} available CPUs are busy with tasks that have earlier deadlines or belong to projects that are owed more{bound}.", "bound", c.CPUBound.Aside())
}

// missing returns the reason of a task that needs a coprocessor that the computer does not have, or
// that the volunteer keeps from it.
func missing(j Job, pool resource.Pool, absent []resource.Absent) reason.Explanation {
	u, n := j.Usage, len(pool.Devices)
	r := reason.Explanation{Code: reason.GPUMissing, Cure: words.T("If the device will not come back, abort the task: starling task abort {task}", "task", j.ID)}
	kinds := resource.Amount(max(1, math.Trunc(u.Devices())), u.Kind())
	needs := words.T("It needs {devices}.", "devices", kinds)
	if u.Coproc.Memory > 0 {
		needs = words.T("It needs {devices} with {bytes}.", "devices", kinds, "bytes", words.Bytes(u.Coproc.Memory))
	}
	excluded := 0
	for _, d := range pool.Devices {
		if slices.Contains(u.Coproc.Except, d.Number) {
			excluded++
		}
	}
	why := words.T("Its project's account file keeps it off {excluded} of the {n} here (exclude_gpu), and the rest are too few or too small.", "excluded", excluded, "n", n)
	switch {
	case n == 0:
		why = words.T("This computer has none that tasks may use.")
		for _, a := range absent {
			if a.Kind == pool.Kind {
				why = words.Plain(a.Why)
			}
		}
		excluded = 0
	case float64(n) < u.Devices():
		why, excluded = words.T("This computer has {n}.", "n", n), 0
	case excluded == 0 && n == 1:
		why = words.T("The only one here has too little memory.")
	case excluded == 0:
		why = words.T("Of the {n} here, too few have enough memory.", "n", n)
	case excluded >= n:
		why = words.T("Its project's account file keeps it off every one here (exclude_gpu).")
	}
	if excluded > 0 {
		r.Cure = words.T("Remove exclude_gpu from the account file, or abort the task: starling task abort {task}", "task", j.ID)
	}
	r.Text = words.And(needs, why)
	return r
}
