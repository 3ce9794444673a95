package jobsched

import "time"

// certain is by how much a job must be late to be called so: estimates are wrong by a
// tenth or so.
func certain(remaining time.Duration) time.Duration { return time.Minute + remaining/10 }

// InVain reports whether a job would miss its deadline even if it were begun now and nothing else
// were to be done, by the habit of the computer. Without one it would be rash to say.
func (on Processors) InVain(j Job) bool {
	clock := newClock(on.Now, on.Habit, on.OnFrac)
	return clock.done != nil && clock.until(min(j.Remaining, forever)) > j.Deadline.Sub(on.Now)
}

// Late returns, for each job, by how much it will miss its deadline at the least, whatever
// is run first; 0: it can be in time, it would be rash to say, or it computes on something
// else.
//
// Jobs that cannot be in time even by themselves are computed when nothing else is left to
// do, so they make no other late.
func (on Processors) Late(jobs []Job) []time.Duration {
	clock := newClock(on.Now, on.Habit, on.OnFrac)
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
