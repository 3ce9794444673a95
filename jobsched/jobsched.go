// Package jobsched decides which results run now, and returns the reason why every other one does
// not. It is policy: values in, values out.
//
// Results whose deadline is in danger run first, earliest deadline first. The other CPUs work for the
// projects that are owed most. A deadline is in danger if the computer would meet it with less than
// a time slice to spare when it did nothing but meet deadlines. So deadlines distort the shares as
// late and as little as possible, and debt corrects them afterwards.
//
// Results on coprocessors are chosen first, by the same rules, since a device that is idle for lack
// of a part of a CPU is the greater loss. Results that need little CPU time run in addition to all
// others, one of each project.
package jobsched

import (
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// A Snapshot is all that the decision looks at.
type Snapshot struct {
	Now      time.Time
	CPUs     int           // that may be used
	CPUBound prefs.Bound   // limits CPUs (zero: jobs may use all, or not known)
	Memory   int64         // bytes that the jobs may use (0: no limit)
	Bound    prefs.Bound   // limits Memory (zero if unknown)
	Slice    time.Duration // switch interval: how long a result runs before another project's may take its CPU
	OnFrac   float64       // part of the time that the computer computes (0 means 1)
	Habit    Habit         // when that is, if it is known (also used for coprocessors)
	Forecast Forecast
	Coprocs  []Pool            // that tasks may use
	Absent   []resource.Absent // kinds of coprocessors of which tasks may use no device, and why
	Limits   []Limit
	Projects []Project
	Jobs     []Job

	AllMemory int64 // bytes that the computer has (0 if unknown)

	Compute prefs.Permission // may anything run now?
	Network prefs.Permission // may the network be used now?
}

// A Pool is the coprocessors of one kind.
type Pool struct {
	resource.Pool
	OnFrac   float64 // part of the time that they compute (0 means 1)
	Forecast Forecast
	Compute  prefs.Permission // may tasks use them now?
}

// Processors returns the processors of each kind, the CPUs first.
func (s *Snapshot) Processors() []Processors {
	all := []Processors{{Now: s.Now, Kind: resource.CPU, Count: s.CPUs, OnFrac: s.OnFrac, Habit: s.Habit, Forecast: s.Forecast}}
	for _, p := range s.Coprocs {
		all = append(all, Processors{Now: s.Now, Kind: p.Kind, Count: len(p.Devices), OnFrac: p.OnFrac, Habit: s.Habit, Forecast: p.Forecast})
	}
	return all
}

// A Limit is the maximum number of some jobs that may run at once.
type Limit struct {
	Name words.Text `json:"name"` // for people: the setting and the tasks it applies to
	Max  int        `json:"max"`
}

// A Project is the input of the decision about one project.
type Project struct {
	URL  string
	Debt float64 // seconds of a CPU, see package debt (positive: it is owed)
	// Unreachable is set if its servers have not answered for a while. Computing for it may be in
	// vain, so it comes after all others.
	Unreachable bool
	Suspended   bool // by the volunteer
	// Overdrawn: it owes so much that its deadlines no longer count.
	Overdrawn bool
}

// A Job is a result that could run.
type Job struct {
	ID      string
	Project int // index into Projects
	resource.Usage
	Remaining time.Duration // estimated computing time left
	Deadline  time.Time
	Received  time.Time
	Under     []int // indices of the limits it is under
	Running   bool
	Ran       time.Duration // Running: for so long without a break
	Started   bool          // some of it has been computed
	Urgent    bool          // was in danger when last looked at
	// Unsaved: it has computed since its last checkpoint, which would be lost.
	Unsaved   bool
	Suspended bool       // by the volunteer
	NotBefore time.Time  // the application asked to be started no earlier
	Suspect   bool       // it ran when the agent crashed, and is tried again at NotBefore
	SetAside  bool       // it did more than once
	Network   bool       // it runs only while the network may be used
	Obstacle  words.Text // a sentence with the reason for NotBefore, unless Suspect is set (empty if unknown)
}

// A Decision is whether one job runs, and the reason.
type Decision struct {
	reason.Explanation
	Urgent bool  `json:"urgent,omitempty"` // its deadline is in danger
	On     []int `json:"on,omitempty"`     // numbers of the devices that it runs on
}

// Run reports whether the job runs.
func (d Decision) Run() bool { return d.Code == reason.RunDebt || d.Code == reason.RunDeadline }
