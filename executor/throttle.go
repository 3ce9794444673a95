package executor

import "time"

// A throttle has a run compute part of the time only: where the kernel limits its CPU time, in a
// control group, evenly, which makes less heat and noise than stop and go; elsewhere in whole polls.
type throttle struct {
	quota     float64 // CPUs that the kernel limits the run to; 0: it does not
	part      float64 // of the full speed, by that; 0: all
	credit    float64 // polls that it may still compute in
	throttled bool    // held for now
}

// throttledBy reports whether a limit on the CPU time is for the run. A GPU would idle for it,
// and a virtual machine takes longer than that to stop.
func (r *run) throttledBy(percent float64) bool {
	return percent > 0 && percent < 100 && !r.task.Unthrottled && r.task.Init.GPUUsage <= 0 && r.task.runner().Computes()
}

// limitCPU has a run compute part of the time only.
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

// limitedByKernel has the kernel limit a run, and reports whether it does so and can.
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

// computed is the time in which a run at full speed computes as much as this one in d.
func (r *run) computed(d time.Duration) time.Duration {
	if r.part == 0 {
		return d
	}
	return time.Duration(float64(d) * r.part)
}
