package debt

import "time"

// A Bill is what one process of a task has to pay for. Its project says how many CPUs it uses
// (the claim), and the computer measures it: it pays for what it claims as long as it runs, and
// for what it used beyond. So a claim that is too low gets a project nothing, and one that is too
// high keeps others from the CPUs and is paid for. The zero value is of a process that has just
// started. It is not safe for concurrent use.
type Bill struct {
	ran, used time.Duration
	claimed   float64 // seconds of a CPU
	beyond    float64
}

// A Charge is what a project pays for an interval, in seconds of a CPU, and what that rests on.
type Charge struct {
	Claimed float64       // by its claim
	Beyond  float64       // for what was used beyond it
	Used    time.Duration // CPU time in the interval
}

// Add takes in that the process ran for so long since the last time, by a claim of so many CPUs,
// and has used so much CPU time since it started, on a computer with so many CPUs: more than all
// of these can do is no measurement.
func (b *Bill) Add(claim float64, ran, used time.Duration, cpus int) Charge {
	ran = max(ran, 0)
	b.ran += ran
	used = max(b.used, min(used, time.Duration(max(cpus, 1))*b.ran))
	c := Charge{Claimed: max(claim, 0) * ran.Seconds(), Used: used - b.used}
	b.used = used
	b.claimed += c.Claimed
	c.Beyond = max(0, b.used.Seconds()-b.claimed-b.beyond)
	b.beyond += c.Beyond
	return c
}
