package decide

import (
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// A Snapshot is all that a pass looks at. It holds no secrets and survives JSON,
// so that it can be kept, sent and decided again.
type Snapshot struct {
	Now     time.Time     `json:"now"`
	Elapsed time.Duration `json:"elapsed"` // since the pass before, by a clock that does not jump
	Version string        `json:"version,omitempty"`

	CPUs      int               `json:"cpus"`                       // that may be used
	AllCPUs   int               `json:"all_cpus,omitempty"`         // that there are
	Coprocs   []Pool            `json:"coprocs,omitempty"`          // that tasks may use
	Absent    []resource.Absent `json:"absent,omitempty"`           // kinds of coprocessors that tasks may use none of
	NoEffect  []words.Text      `json:"no_effect,omitempty"`        // preferences that are set without an effect on this computer, each with a cure
	Presence  words.Text        `json:"presence,omitzero"`          // whether people use the computer, and the source of that, or empty if unknown
	CPUBound  prefs.Bound       `json:"cpu_bound,omitzero"`         // the limit on CPUs, zero if tasks may use all or it is unknown
	Disk      prefs.Bound       `json:"disk_bound,omitzero"`        // the limit on disk space, zero if unknown
	Bound     prefs.Bound       `json:"memory_bound,omitzero"`      // the present limit on Memory, zero if unknown
	Most      prefs.Bound       `json:"most_memory_bound,omitzero"` // and when it is most
	Memory    int64             `json:"memory,omitempty"`           // bytes that tasks may use, 0 without a limit
	AllMemory int64             `json:"all_memory,omitempty"`       // bytes that the computer has, 0 if unknown
	AllDisk   int64             `json:"all_disk,omitempty"`         // likewise
	Duty      prefs.Duty        `json:"duty,omitzero"`              // the part of the time that tasks may run
	OnFrac    float64           `json:"on_frac,omitempty"`          // fraction of the time that the computer computes, with 0 for 1
	Habit     jobsched.Habit    `json:"habit,omitempty"`            // when that is, if it is known
	Forecast  jobsched.Forecast `json:"forecast,omitzero"`          // of the times in which tasks may run
	Low       time.Duration     `json:"low"`                        // low-water mark of queued work
	High      time.Duration     `json:"high"`                       // high-water mark
	Slice     time.Duration     `json:"slice"`                      // switch interval
	Eager     bool              `json:"eager,omitempty"`            // results are reported as soon as they are ready
	Compute   prefs.Permission  `json:"compute,omitzero"`           // may tasks run?
	Network   prefs.Permission  `json:"network,omitzero"`           // may servers be contacted?
	Drain     Drain             `json:"drain,omitzero"`             // a person's request that the computer finish its work
	Limits    []jobsched.Limit  `json:"limits,omitempty"`           // on tasks that run at once
	Projects  []Project         `json:"projects"`
	Results   []Result          `json:"results,omitempty"`
}

// A Pool is the coprocessors of one kind.
type Pool struct {
	resource.Pool
	OnFrac   float64           `json:"on_frac,omitempty"` // fraction of the time that they compute, with 0 for 1
	Forecast jobsched.Forecast `json:"forecast,omitzero"` // likewise for them, including times for all tasks
	Compute  prefs.Permission  `json:"compute,omitzero"`  // may tasks use them?
}

// A Project is the input of the decisions about one project.
type Project struct {
	URL   string  `json:"url"`
	Share float64 `json:"share"`
	Debt  float64 `json:"debt"`           // seconds of a CPU, at the pass before
	Used  float64 `json:"used,omitempty"` // CPU-seconds that it got since
	// UsedOn is the use of coprocessors by its tasks since then, in seconds of a CPU.
	UsedOn     map[resource.Kind]float64 `json:"used_on,omitempty"`
	Suspended  bool                      `json:"suspended,omitempty"`
	NoMoreWork bool                      `json:"no_more_work,omitempty"`
	Leaving    bool                      `json:"leaving,omitempty"`         // it is being detached or reset: nothing is done for it
	Resetting  bool                      `json:"resetting,omitempty"`       // the latter
	Missing    bool                      `json:"account_missing,omitempty"` // its account file is missing: it continues without new work

	Contact    contact.State `json:"contact"`
	Trouble    reason.Reason `json:"trouble,omitzero"`     // of the last contact
	Known      bool          `json:"known,omitempty"`      // a scheduler has answered since the attach
	Schedulers int           `json:"schedulers,omitempty"` // scheduler URLs that are known
	NextRPC    time.Time     `json:"next_rpc,omitzero"`    // time of a contact even without a reason, or zero
	// ClockUnknown is set until its server has answered since the agent's start, so that the
	// computer's clock could be compared with the server's.
	ClockUnknown bool          `json:"clock_unknown,omitempty"`
	Ahead        time.Duration `json:"ahead,omitempty"`    // how much later it is by the computer's clock
	Trickles     bool          `json:"trickles,omitempty"` // its applications have messages for it
	Asked        bool          `json:"asked,omitempty"`    // a person wants it contacted now
	Woken        bool          `json:"woken,omitempty"`    // its server has announced new work
	Talking      bool          `json:"talking,omitempty"`  // a session is under way
	// TalkingSince is the start of the session, and ForWork is set if it asks for work.
	TalkingSince time.Time `json:"talking_since,omitzero"`
	ForWork      bool      `json:"for_work,omitempty"`

	Backoff    time.Time                `json:"backoff,omitzero"`          // no request for work before
	BackoffWhy string                   `json:"backoff_why,omitempty"`     // the reason as a sentence for people, or "" if the last request brought no work
	Failures   int                      `json:"failures,omitempty"`        // tasks that failed since one was good
	Failed     reason.Reason            `json:"failed,omitzero"`           // the last of them
	NoCPUApps  bool                     `json:"no_cpu_apps,omitempty"`     // it reported that it has no applications for CPUs
	JobTime    time.Duration            `json:"job_time,omitempty"`        // stated computing time of its last tasks
	Latency    time.Duration            `json:"latency,omitempty"`         // time from sending to the deadline of its last tasks
	Estimates  jobsched.Estimator       `json:"estimates,omitzero"`        // learned corrections of stated times, of its last tasks
	Others     map[resource.Kind]Stream `json:"others,omitempty"`          // the same for its work on coprocessors (the five above are for CPUs)
	Corrects   bool                     `json:"server_corrects,omitempty"` // its server makes its estimates with our correction
	// NonCPUIntensive is set if all its tasks need so little CPU time that they run in addition to
	// others, and their measured use does not contradict that.
	NonCPUIntensive bool `json:"non_cpu_intensive,omitempty"`

	Refused []reason.Reason `json:"refused,omitempty"` // why the last request for work for the CPUs brought none, by code

	LeftOut   string    `json:"left_out,omitempty"` // what of its last answer was not taken and why, for people
	Uploading time.Time `json:"uploading,omitzero"` // start of the latest upload in progress, or zero
}

// A Stream is the state of a project's work for one kind of coprocessor.
type Stream struct {
	NoApps     bool               `json:"no_apps,omitempty"`     // it reported that it has no applications for them
	Excluded   bool               `json:"excluded,omitempty"`    // the volunteer keeps its tasks off all of them
	Refused    []reason.Reason    `json:"refused,omitempty"`     // as of a Project
	Backoff    time.Time          `json:"backoff,omitzero"`      // no request for work before
	BackoffWhy string             `json:"backoff_why,omitempty"` // as of a Project
	JobTime    time.Duration      `json:"job_time,omitempty"`    // stated computing time of its last tasks
	Latency    time.Duration      `json:"latency,omitempty"`     // time from sending to the deadline of its last tasks
	Devices    float64            `json:"devices,omitempty"`     // number that one of its tasks uses, with 0 for 1
	Estimates  jobsched.Estimator `json:"estimates,omitzero"`    // as of a Project
}

// counts reports whether the volunteer wants work from it.
func (p Project) counts() bool { return !p.Suspended && !p.NoMoreWork && !p.Leaving && !p.Missing }

// noWorkWhy returns the reason why no work of the project is wanted, if the volunteer did not ask
// for that, and a cure.
func (p Project) noWorkWhy() (why, cure words.Text) {
	switch {
	case p.Leaving:
		return words.T("The project is being {ended}.", "ended", words.T(p.going())), words.T("Keep its tasks with: starling undo {url}", "url", p.URL)
	case p.Missing:
		return words.T("Its account file is missing. No new work is fetched until the file is back."), words.T("Restore the file, or detach with: starling detach {url}", "url", p.URL)
	}
	return words.Text{}, words.Text{}
}

// going returns a participle for the end of a project: detached or reset.
func (p Project) going() string {
	if p.Resetting {
		return "reset"
	}
	return "detached"
}

// unreachableAfter is the number of failed sessions in a row after which a project counts as
// unreachable.
const unreachableAfter = 3

// unreachable reports whether its servers have not answered for a while.
func (p Project) unreachable() bool {
	return p.Contact.Failures >= unreachableAfter || p.Contact.FetchMaster && p.Known
}

// A Phase is the progress of a result, as far as it matters to scheduling.
type Phase string

// The phases.
const (
	Fetching Phase = "fetching" // it waits for its files
	Runnable Phase = "runnable" // it runs or could
	Sending  Phase = "sending"  // its outputs are being sent
	Ready    Phase = "ready"    // it can be reported
)

// A Result is the input of the decisions about one result.
type Result struct {
	ID      string `json:"id"`
	Project int    `json:"project"` // index into Projects
	Phase   Phase  `json:"phase"`
	resource.Usage
	Under []int `json:"under,omitempty"` // limits that it is under: indices into Limits

	Stated time.Duration `json:"stated,omitempty"` // computing time, by the server's word and this computer's speed
	// Estimates contains the corrections learned from results of the same app version. Before the
	// first of them, its project's corrections apply.
	Estimates jobsched.Estimator `json:"estimates,omitzero"`
	Elapsed   time.Duration      `json:"elapsed,omitempty"`
	Fraction  float64            `json:"fraction,omitempty"` // done, by its own word

	Received    time.Time `json:"received"`
	Deadline    time.Time `json:"deadline"`
	Completed   time.Time `json:"completed,omitzero"`
	Immediately bool      `json:"immediately,omitempty"` // to be reported as soon as it is ready

	Running   bool          `json:"running,omitempty"`
	Ran       time.Duration `json:"ran,omitempty"` // Running: for so long without a break
	Unsaved   bool          `json:"unsaved,omitempty"`
	Lost      time.Duration `json:"lost,omitempty"` // computing since its last checkpoint, which a shutdown now would lose
	Started   bool          `json:"started,omitempty"`
	Urgent    bool          `json:"urgent,omitempty"` // was in danger at the pass before
	Suspended bool          `json:"suspended,omitempty"`
	Finishes  bool          `json:"finishes,omitempty"` // a drain waits for it
	AbortAt   time.Time     `json:"abort_at,omitzero"`  // time at which it will be aborted, or zero
	NotBefore time.Time     `json:"not_before,omitzero"`
	Suspect   bool          `json:"suspect,omitempty"`   // it ran when the agent crashed
	SetAside  bool          `json:"set_aside,omitempty"` // more than once

	Failed reason.Reason `json:"failed,omitzero"` // Ready: the way in which it failed, or zero

	Unthrottled  bool `json:"unthrottled,omitempty"`   // the limit on the time of CPUs is not for it
	NeedsNetwork bool `json:"needs_network,omitempty"` // it runs only while the network may be used
	// Overuse is the average number of CPUs that such tasks used although their project declares
	// that they need little CPU time. It is 0 if the project does not declare that, or if it is
	// true.
	Overuse float64 `json:"belied,omitempty"`

	Obstacle reason.Reason `json:"obstacle,omitzero"` // the reason for NotBefore, zero if unknown
	Transfer Transfer      `json:"transfer,omitzero"` // the transfer of a file that it waits for, if that failed the last time
}

func (r *Result) computing() bool { return r.Phase == Fetching || r.Phase == Runnable }
