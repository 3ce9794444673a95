package executor

// A throttle has a run compute part of the time only.
type throttle struct {
	credit    float64 // polls that it may still compute in
	throttled bool    // held for now
}

// throttledBy reports whether a limit on the CPU time is for the run. A GPU would idle for it,
// and a virtual machine takes longer than that to stop.
func (r *run) throttledBy(percent float64) bool {
	return percent > 0 && percent < 100 && !r.task.Unthrottled && r.task.Init.GPUUsage <= 0 && r.task.runner().Computes()
}

// limitCPU has a run compute part of the time only, in whole polls.
func (r *run) limitCPU(percent float64) {
	if !r.throttledBy(percent) {
		percent = 100
	}
	r.credit += percent / 100
	run := r.credit >= 1-1e-9
	if run {
		r.credit--
	}
	r.credit = max(0, min(r.credit, 1))
	r.hold(func() { r.throttled = !run })
}
