package executor

import "time"

// A throttle makes a run compute only part of the time. In a control group the kernel limits the
// CPU time evenly, which causes less heat and noise than stopping and resuming. Without one, the
// run is suspended for whole polls.
type throttle struct {
	quota     float64 // CPUs that the kernel limits the run to, or 0 if it does not
	part      float64 // fraction of the full speed because of quota, or 0 for full speed
	credit    float64 // polls during which it may still compute
	throttled bool    // suspended for now
}

// throttledBy reports whether a limit on the CPU time applies to the run. It does not apply to a
// GPU, which would idle, nor to a virtual machine, which takes longer to stop than a pause lasts.
func (r *run) throttledBy(percent float64) bool {
	return percent > 0 && percent < 100 && !r.task.Unthrottled && r.task.Init.GPUUsage <= 0 && r.task.runner().Computes()
}

// limitCPU makes a run compute only part of the time.
func (r *run) limitCPU(percent float64) {
	if !r.throttledBy(percent) {
		percent = 100
	}
	if r.limitedByKernel(percent) {
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

// limitedByKernel lets the kernel limit the run, and reports whether it does.
func (r *run) limitedByKernel(percent float64) bool {
	quota := 0.0
	if percent < 100 {
		quota = percent / 100 * max(1, r.task.Init.NCPUs)
	}
	if quota != r.quota {
		if !r.group.limitCPU(quota) {
			quota = 0
		}
		r.quota, r.part = quota, 0
		if quota > 0 {
			r.part = percent / 100
		}
	}
	return r.quota > 0
}

// computed returns the time in which a run at full speed computes as much as this one in d.
func (r *run) computed(d time.Duration) time.Duration {
	if r.part == 0 {
		return d
	}
	return time.Duration(float64(d) * r.part)
}
