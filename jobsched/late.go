package jobsched

import "time"

// certain returns the minimum time by which a job must be late to count as late: estimates are
// wrong by a tenth or so.
func certain(remaining time.Duration) time.Duration { return time.Minute + remaining/10 }

// InVain reports whether a job would miss its deadline even if it were started now and the computer
// did nothing else, by the habit of the computer. Without a habit it returns false, since that
// would be a rash conclusion.
func (on Processors) InVain(j Job) bool {
	clock := on.newClock()
	return clock.done != nil && clock.until(min(j.Remaining, forever)) > j.Deadline.Sub(on.Now)
}

// Late returns, for each job, the minimum time by which it will miss its deadline, no matter which
// jobs run first. It is 0 if the job can be in time, if a statement would be rash, or if the job
// computes on something else.
//
// Jobs that could not be in time even alone are computed when nothing else is left to do, so they
// do not make others late.
func (on Processors) Late(jobs []Job) []time.Duration {
	clock := on.newClock()
	late := make([]time.Duration, len(jobs))
	var hopeful []int
	for _, i := range on.of(jobs) {
		j := &jobs[i]
		if j.Deadline.IsZero() {
			continue
		}
		alone := clock.until(min(j.Remaining, forever))
		by := alone - j.Deadline.Sub(on.Now)
		switch {
		case by > certain(j.Remaining):
			late[i] = by
		case by <= 0 && !j.Suspended && !j.SetAside:
			hopeful = append(hopeful, i)
		}
	}
	for k, l := range on.Laxities(jobs, hopeful) {
		j := &jobs[hopeful[k]]
		if by := -(l.Slack + Margin(j.Remaining)); by > certain(j.Remaining) {
			late[hopeful[k]] = by
		}
	}
	return late
}
