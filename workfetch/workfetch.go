// Package workfetch decides which project is asked for work and for how much,
// and says of every other project why it is not asked. It is policy: values in,
// values out.
//
// Each project has an entitlement: its debt, plus its resource share of all the
// computer does until the high-water mark, less what it has queued. Entitlements
// add up to the room in the queue, so a project that is asked for its own never
// takes another's place. Room that is owed to a project without work just now is
// kept free for it as far as the low-water mark allows.
//
// All of this is reckoned for each kind of processor by itself, with the projects that have
// work for it; a project is then asked for all kinds at once.
package workfetch

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/resource"
)

// A Snapshot is all that work fetch looks at.
type Snapshot struct {
	Now      time.Time
	CPUs     int            // that may be used
	OnFrac   float64        // part of the time that the computer computes; 0 means 1
	Habit    jobsched.Habit // when that is, if it is known
	Low      time.Duration  // low-water mark: wall time for which each CPU is to be supplied
	High     time.Duration  // high-water mark
	Coprocs  []Pool         // that tasks may use
	Projects []Project
	Jobs     []jobsched.Job // unfinished results, of all projects

	Disk, Memory       prefs.Bound // what limits what projects may be told to have here; zero: not known
	AllDisk, AllMemory int64       // bytes that the computer has; 0: not known
}

// A Pool is the coprocessors of one kind.
type Pool struct {
	Kind    resource.Kind
	Count   int
	Factor  float64          // CPU-seconds that a second of one counts for
	OnFrac  float64          // part of the time that they compute; 0 means 1
	Stopped prefs.Permission // may tasks use them? It is denied only if a person wants it so
}

// A Stream is what is known of a project's work for one kind of processor.
type Stream struct {
	NoApps     bool      // it told that it has no applications for them
	Excluded   bool      // the volunteer keeps its tasks off all of them
	Backoff    time.Time // no request for work before, since the last brought none
	BackoffWhy string    // why, as a sentence for people; "": the last brought none, or tasks fail

	Refused []Refused // why it brought none, by code; nil: its server gives sentences only

	// What its results are like, from those it sent; zero: none yet.
	JobTime time.Duration // estimated computing time of one, corrected
	Latency time.Duration // from sending to the deadline
	Devices float64       // coprocessors that one uses; 0 means 1
	// Proved: its estimates have been compared with a result's progress.
	Proved bool
	// Waits is why the first of its tasks does not run, which has to run before the estimates
	// are proved; its code is "" if one runs, or there is none.
	Waits   jobsched.Reason
	WaitsID string
	// Correction is actual over stated computing time, where the server does not
	// know of it; 0 means 1.
	Correction float64
}

// A Project is what work fetch needs to know of one.
type Project struct {
	URL        string
	Share      float64 // resource share
	Debt       float64 // seconds of a CPU; positive: it is owed
	Counts     bool    // the volunteer wants work from it
	NoWorkWhy  string  // why it does not count, if the volunteer did not ask for that
	NoWorkCure string  // what a person can do about that
	Suspended  bool    // the volunteer suspended it
	Uploads    int     // results waiting for their files to be uploaded
	Uploading  bool    // one is being uploaded just now
	// Stuck are results that wait for their files for long or cannot start here. They
	// are not among the jobs of the Snapshot.
	Stuck int
	// Overdrawn: it owes so much that its jobs are not among those of the Snapshot.
	Overdrawn bool
	// Talking: it is being asked something just now, since TalkingSince.
	Talking      bool
	TalkingSince time.Time
	Held         int // results here, those that are to be reported included
	// NonCPUIntensive: all its tasks need so little CPU time that they run beside others. It
	// has no part in the CPUs, and gets one task at a time.
	NonCPUIntensive bool
	HasTask         bool // one of its results is not finished
	// Asked: the volunteer wants it contacted now, whatever it was waited for.
	Asked bool
	// Woken: its server has told that there is new work. That ends the wait after a request that
	// brought none, and no other.
	Woken      bool
	MinRPCTime time.Time
	Trouble    contact.Trouble // of the last contact
	Failures   int             // tasks that failed here since one was good
	Failed     Failure         // the last of them

	// Unreachable: its servers have not answered for a while; its queued results
	// run last and are no supply to count on.
	Unreachable bool
	Stream                               // for the CPUs
	Others      map[resource.Kind]Stream // for coprocessors; what is not in it is not known yet
}

// competes reports whether it is to have a part of the processors.
func (p *Project) competes() bool { return p.Counts && !p.NoApps && !p.Excluded && !p.NonCPUIntensive }

// A Code tells one reason from another.
type Code string

// The reasons.
const (
	Ask           Code = "ask"
	BufferFull    Code = "buffer_full"
	OtherFirst    Code = "other_project_first"
	Overserved    Code = "got_more_than_its_share"
	Deadlines     Code = "deadlines_in_danger"
	Unproved      Code = "estimates_unproved"
	FirstWaits    Code = "first_task_waits"
	Stuck         Code = "tasks_cannot_begin"
	TooMany       Code = "too_many_tasks"
	HasTask       Code = "has_its_task"
	NoMoreWork    Code = "no_more_work"
	Suspended     Code = "project_suspended"
	NoCPUApps     Code = "no_cpu_apps"
	NoGPUApps     Code = "no_gpu_apps"
	GPUExcluded   Code = "gpu_excluded"
	GPUStopped    Code = "gpu_suspended"
	TooManyUpload Code = "upload_backlog"
	UploadFirst   Code = "upload_under_way"
	RequestDelay  Code = "request_delay"
	NoWorkBackoff Code = "no_work_backoff"
	TasksFail     Code = "tasks_fail"

	// What holds for all projects alike.
	Network    Code = "network_suspended"
	Computing  Code = "computing_suspended"
	Draining   Code = "draining"
	Conversing Code = "session_under_way"
)

// A Reason is what was decided for one project, and why.
type Reason struct {
	Code      Code      `json:"code"`
	Text      string    `json:"text"`                // one sentence for people
	Cure      string    `json:"cure,omitempty"`      // what a person can do about it; "": nothing is wrong
	Until     time.Time `json:"until,omitzero"`      // when it changes; zero: not known
	Seconds   float64   `json:"seconds,omitempty"`   // Ask: CPU seconds wanted
	Instances float64   `json:"instances,omitempty"` // idle CPUs to fill
	Could     float64   `json:"could,omitempty"`     // CPU seconds that a session asks for that is held for something else
	// Along: the wait after a request without work lasts, and Could is asked for all the same by a
	// session that is held for something else. An answer without work then changes nothing.
	Along   bool     `json:"along,omitempty"`
	Coprocs []Coproc `json:"coprocs,omitempty"` // for each kind of coprocessor
}

// A Coproc is what was decided for a project and one kind of coprocessor, with seconds and
// instances of these.
type Coproc struct {
	Kind resource.Kind `json:"kind"`
	Reason
}

// firstRequest is what an unknown project is asked for: one result, to see what
// its results are like.
const firstRequest = 1

// Wanted is what a session asks for by r: seconds of processors, and idle ones to fill. A
// session that is held for something else asks for what could be used.
func (r Reason) Wanted() (seconds, instances float64) { return max(r.Seconds, r.Could), r.Instances }

// Waits reports whether work of any kind is asked for as soon as a wait ends that follows a request
// which brought none.
func (r Reason) Waits() bool {
	return r.Along || slices.ContainsFunc(r.Coprocs, func(c Coproc) bool { return c.Along })
}

// Of is the reason for a kind of coprocessor; nothing is asked for if there is none.
func (r Reason) Of(k resource.Kind) Reason {
	for _, c := range r.Coprocs {
		if c.Kind == k {
			return c.Reason
		}
	}
	return Reason{}
}
