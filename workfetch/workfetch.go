// Package workfetch decides which project is asked for work and for how much,
// and says of every other project why it is not asked. It is policy: values in,
// values out.
package workfetch

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A Snapshot is all that work fetch looks at.
type Snapshot struct {
	Now      time.Time
	CPUs     int           // that may be used
	IdleCPUs float64       // of these, with nothing to run
	Queued   time.Duration // CPU time estimated to be left in all results held
	Low      time.Duration // low-water mark of queued work, for each CPU
	High     time.Duration // high-water mark
	Projects []Project
}

// A Project is what work fetch needs to know of one.
type Project struct {
	URL         string
	Share       float64       // resource share
	Queued      time.Duration // CPU time estimated to be left in its results
	Initialized bool          // a scheduler has answered once
	NoMoreWork  bool          // by the volunteer's wish
	NoCPUApps   bool          // it told that it has no applications for the CPU
	Uploads     int           // results waiting for their files to be uploaded
	MinRPCTime  time.Time     // no contact before
	Backoff     time.Time     // no request for work before, since the last brought none
	BackoffWhy  string        // the server's words then
}

// A Code tells one reason from another.
type Code string

// The reasons.
const (
	Ask           Code = "ask"
	BufferFull    Code = "buffer_full"
	OtherFirst    Code = "other_project_first"
	NoMoreWork    Code = "no_more_work"
	NoCPUApps     Code = "no_cpu_apps"
	TooManyUpload Code = "upload_backlog"
	RequestDelay  Code = "request_delay"
	NoWorkBackoff Code = "no_work_backoff"
)

// A Reason is what was decided for one project, and why.
type Reason struct {
	Code      Code
	Text      string    // one sentence for people
	Until     time.Time // when it changes; zero: not known
	Seconds   float64   // Ask: CPU seconds wanted
	Instances float64   // Ask: idle CPUs to fill
}

// Choose returns a reason for each of s.Projects, in their order; at most one
// is Ask. A project is asked when less than the low-water mark is queued, and
// then for everything up to the high-water mark; the one with the least queued
// work for its share comes first.
func Choose(s Snapshot) []Reason {
	cpus := time.Duration(max(s.CPUs, 1))
	low := s.Queued < s.Low*cpus || s.IdleCPUs > 0
	missing := s.High*cpus - s.Queued
	reasons := make([]Reason, len(s.Projects))
	candidates := make([]int, 0, len(s.Projects))
	for i, p := range s.Projects {
		r, ok := p.barred(s)
		switch {
		case !ok:
			reasons[i] = r
		case !low || missing <= 0:
			reasons[i] = Reason{Code: BufferFull, Text: fmt.Sprintf(
				"Enough work is queued: %v of CPU time for %d CPUs, and more is fetched below %v each (work_buf_min_days).",
				s.Queued.Round(time.Second), s.CPUs, s.Low.Round(time.Second))}
		default:
			candidates = append(candidates, i)
		}
	}
	if len(candidates) == 0 {
		return reasons
	}
	claim := func(i int) float64 { return s.Projects[i].Queued.Seconds() / max(s.Projects[i].Share, 1e-9) }
	first := slices.MinFunc(candidates, func(a, b int) int { return cmp.Compare(claim(a), claim(b)) })
	for _, i := range candidates {
		reasons[i] = Reason{Code: OtherFirst, Text: s.Projects[first].URL + " has less queued for its resource share and is asked first."}
	}
	reasons[first] = Reason{
		Code: Ask, Text: fmt.Sprintf("Asking for %v of CPU time.", missing.Round(time.Second)),
		Seconds: max(missing.Seconds(), 1), Instances: s.IdleCPUs,
	}
	return reasons
}

// barred tells why a project cannot be asked, whatever is queued.
func (p Project) barred(s Snapshot) (Reason, bool) {
	switch {
	case p.NoMoreWork:
		return Reason{Code: NoMoreWork, Text: "You asked for no more work from this project."}, false
	case p.NoCPUApps:
		return Reason{Code: NoCPUApps, Text: "The project says that it has no applications for this computer's CPU."}, false
	case p.Uploads > 2*max(s.CPUs, 1):
		return Reason{Code: TooManyUpload, Text: fmt.Sprintf("%d results wait for their files to be uploaded.", p.Uploads)}, false
	case s.Now.Before(p.MinRPCTime):
		return Reason{
			Code: RequestDelay, Until: p.MinRPCTime,
			Text: "The project asked not to be contacted before " + clock(p.MinRPCTime) + ", or could not be reached before.",
		}, false
	case s.Now.Before(p.Backoff):
		text := "The last request brought no work"
		if p.BackoffWhy != "" {
			text += " (" + p.BackoffWhy + ")"
		}
		return Reason{Code: NoWorkBackoff, Until: p.Backoff, Text: text + "; asking again at " + clock(p.Backoff) + "."}, false
	}
	return Reason{}, true
}

func clock(t time.Time) string { return t.Format("15:04:05") }
