package debt

import "time"

// A Bill is the amount that one process of a task has to pay. Its project states the number of CPUs
// that it uses (the claim), and the computer measures it. It pays for its claim as long as it runs,
// and for any use beyond. So a claim that is too low gains a project nothing. A claim that is too
// high keeps others from the CPUs and is paid for. The zero value is for a process that has just
// started. It is not safe for concurrent use.
type Bill struct {
	ran, used time.Duration
	claimed   float64 // seconds of a CPU
	beyond    float64
}

// A Charge is the amount that a project pays for an interval, in seconds of a CPU, and its basis.
type Charge struct {
	Claimed float64       // by its claim
	Beyond  float64       // for the use beyond it
	Used    time.Duration // CPU time in the interval
}

// Add adds that the process ran for so long since the last call, with a claim of so many CPUs, and
// has used so much CPU time since it started, on a computer with so many CPUs. More CPU time than
// all of these can deliver is not accepted as a measurement.
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
