package sim

import (
	"fmt"
	"math"
	"time"
)

// A job is one result of a project, on the host.
type job struct {
	*stream
	project  int
	id       string
	size     float64 // true FLOPs
	left     float64 // of these, to be computed
	received time.Time
	deadline time.Time

	running bool
	since   time.Time // running: start of this stretch
	started bool
	urgent  bool
	on      []int // running: the devices that it is on

	finished time.Time // zero: not yet
}

// newJob returns the next job of a project.
func newJob(seed int64, i int, p *project, st *stream, now, deadline time.Time) *job {
	j := &job{stream: st, project: i, id: fmt.Sprintf("%s-%06d", p.Name, st.sent), received: now, deadline: deadline}
	if st.index > 0 {
		j.id = fmt.Sprintf("%s-%s-%06d", p.Name, st.usage.Kind(), st.sent)
	}
	j.size = size(seed, i+1000*st.index, st.sent, st.Jobs)
	j.left = j.size
	return j
}

// exists reports whether the project has such jobs at all.
func (st *stream) exists() bool { return st.FlopsEst > 0 }

// size returns the true FLOPs of a project's n-th job. The same seed gives the
// same jobs in every simulator that follows the scenario format.
func size(seed int64, project, n int, j Jobs) float64 {
	s := uint64(seed)*1000003 + uint64(project)*1000000007 + uint64(n)*7919 //nolint:gosec // wraps, as the format says
	u1, u2 := splitmix(&s), splitmix(&s)
	z := math.Sqrt(-2*math.Log(u1)) * math.Cos(2*math.Pi*u2)
	return math.Max(0.1*j.FlopsActualMean, j.FlopsActualMean+j.FlopsActualStdev*z)
}

// splitmix draws a number from (0, 1).
//
// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// OOPSLA 2014.
func splitmix(s *uint64) float64 {
	*s += 0x9e3779b97f4a7c15
	z := *s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return (float64(z>>11) + 0.5) / (1 << 53)
}

// fractionDone returns the progress that an application reports. It is exact.
func (j *job) fractionDone() float64 { return 1 - j.left/j.size }
