// Package workfetch decides which project is asked for work and for how much. For every other
// project it returns the reason why it is not asked. It is policy: values in, values out.
//
// Each project has an entitlement: its debt, plus its resource share of all the computing until the
// high-water mark, minus its queued work. Entitlements add up to the room in the queue, so a
// project that is asked for its entitlement never takes another's place. A project with near
// deadlines has a smaller one, for half of the time until these (horizon). Room that is owed to a
// project without work just now is kept free for it as far as the low-water mark allows.
//
// All of this is computed separately for each kind of processor, with the projects that have work
// for it. A project is then asked for all kinds at once.
package workfetch

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// A Snapshot is all that work fetch looks at.
type Snapshot struct {
	Now      time.Time
	CPUs     int            // that may be used
	OnFrac   float64        // part of the time that the computer computes (0 means 1)
	Habit    jobsched.Habit // when that is, if it is known
	Forecast jobsched.Forecast
	Low      time.Duration // low-water mark: wall time for which each CPU is to be supplied
	High     time.Duration // high-water mark
	Coprocs  []Pool        // that tasks may use
	Projects []Project
	Jobs     []jobsched.Job // unfinished results, of all projects

	Disk, Memory       prefs.Bound // limits on the space that may be reported to projects (zero if unknown)
	AllDisk, AllMemory int64       // bytes that the computer has (0 if unknown)
}

// A Pool is the coprocessors of one kind.
type Pool struct {
	Kind     resource.Kind
	Count    int
	Factor   float64 // CPU-seconds that a second of one counts for
	OnFrac   float64 // part of the time that they compute (0 means 1)
	Forecast jobsched.Forecast
	Stopped  prefs.Permission // may tasks use them? It is denied only if a person wants it so
}

// A Stream describes a project's work for one kind of processor.
type Stream struct {
	NoApps     bool      // its server reported that it has no applications for them
	Excluded   bool      // the volunteer keeps its tasks off all of them
	Backoff    time.Time // no request for work before, since the last brought none
	BackoffWhy string    // why, as a sentence for people ("": the last brought none, or tasks fail)

	Refused []reason.Reason // why it brought none, by code (nil: its server gives sentences only)

	// Properties of its results, from those it sent. Zero if it sent none yet.
	JobTime time.Duration // estimated computing time of one, corrected
	Latency time.Duration // from sending to the deadline
	Devices float64       // coprocessors that one uses (0 means 1)
	// Proved: its estimates have been compared with a result's progress.
	Proved bool
	// Waits is why the first of its tasks does not run. That task has to run before the estimates
	// are proved. The code is "" if a task runs or the project has none.
	Waits   reason.Explanation
	WaitsID string
	// Correction is actual over stated computing time, if the server does not apply it. 0 means 1.
	Correction float64
}

// A Project is the input of work fetch about one project.
type Project struct {
	URL        string
	Share      float64    // resource share
	Debt       float64    // seconds of a CPU (positive: it is owed)
	Counts     bool       // the volunteer wants work from it
	NoWorkWhy  words.Text // why it does not count, if the volunteer did not ask for that
	NoWorkCure words.Text // the remedy for that
	Suspended  bool       // the volunteer suspended it
	Uploads    int        // results waiting for their files to be uploaded
	Uploading  bool       // one is being uploaded just now
	// Stuck are results that wait for their files for long or cannot start here. They
	// are not among the jobs of the Snapshot.
	Stuck int
	// Overdrawn is set if the project owes so much that the Snapshot does not include its jobs.
	Overdrawn bool
	// Talking: it is being asked something just now, since TalkingSince.
	Talking      bool
	TalkingSince time.Time
	Held         int // results here, those that are to be reported included
	// NonCPUIntensive is set if all its tasks need so little CPU time that they run in addition to
	// others. The project does not share the CPUs, and gets one task at a time.
	NonCPUIntensive bool
	HasTask         bool // one of its results is not finished
	// Asked: the volunteer wants it contacted now, whatever it was waited for.
	Asked bool
	// Woken is set if its server has announced new work. That ends the wait after a request that
	// brought none, and no other wait.
	Woken      bool
	MinRPCTime time.Time
	Trouble    reason.Reason // of the last contact
	Failures   int           // tasks that failed here since one was good
	Failed     reason.Reason // the last of them

	// Unreachable is set if its servers have not answered for a while. Its queued results run last
	// and do not count as supply.
	Unreachable bool
	Stream                               // for the CPUs
	Others      map[resource.Kind]Stream // for coprocessors, as far as they are known
}

// competes reports whether it is to have a part of the processors.
func (p *Project) competes() bool { return p.Counts && !p.NoApps && !p.Excluded && !p.NonCPUIntensive }

// A Decision is whether one project is asked for work, and the reason.
type Decision struct {
	reason.Explanation
	Seconds   float64 `json:"seconds,omitempty"`   // Ask: CPU seconds wanted
	Instances float64 `json:"instances,omitempty"` // idle CPUs to fill
	Could     float64 `json:"could,omitempty"`     // CPU-seconds to request in a session that takes place for another reason
	// Along is set if the wait after a request without work continues, but a session that takes
	// place for another reason asks for Could all the same. An answer without work then changes
	// nothing.
	Along   bool     `json:"along,omitempty"`
	Coprocs []Coproc `json:"coprocs,omitempty"` // for each kind of coprocessor
}

// because returns the decision to request nothing.
func because(e reason.Explanation) Decision { return Decision{Explanation: e} }

// ask returns the decision to request some seconds of processors.
func ask(text words.Text, seconds float64) Decision {
	return Decision{Explanation: reason.Explanation{Code: reason.Ask, Text: text}, Seconds: seconds}
}

// A Coproc is the decision about a project and one kind of coprocessor, in seconds and instances of
// it.
type Coproc struct {
	Kind resource.Kind `json:"kind"`
	Decision
}

// firstRequest is the amount to request from an unknown project: one result, to learn the
// properties of its results.
const firstRequest = 1

// Wanted returns the amount that a session requests because of d: seconds of processors, and idle
// ones to fill. A session that takes place for another reason requests the amount that could be
// used.
func (d Decision) Wanted() (seconds, instances float64) { return max(d.Seconds, d.Could), d.Instances }

// Waits reports whether work of any kind is requested as soon as the wait after a request without
// work ends.
func (d Decision) Waits() bool {
	return d.Along || slices.ContainsFunc(d.Coprocs, func(c Coproc) bool { return c.Along })
}

// Of returns the decision for a kind of coprocessor. It requests nothing if the project has none for
// that kind.
func (d Decision) Of(k resource.Kind) Decision {
	for _, c := range d.Coprocs {
		if c.Kind == k {
			return c.Decision
		}
	}
	return Decision{}
}
