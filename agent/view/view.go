// Package view is what others see of an agent: the policies, people, the dashboard
// and BOINC's tools. Each view is a pure function of the same Facts: it reads no
// clock, no files and no network, and changes nothing.
package view

import (
	"cmp"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/power"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// Facts are all visible facts about an agent at one instant. They refer to the agent's own data:
// views read it while the agent waits, and keep none of it.
type Facts struct {
	Now       time.Time
	Language  words.Language // of texts for people
	Version   string         // of the program
	DataDir   string
	Since     time.Time // the agent's start
	PID       int       // 0: no agent runs, its files are looked at
	Platforms []string  // whose programs can be run here, the computer's own first
	Bounded   string    // limits that the system enforces for each task
	Newer     *control.Release

	// What people wrote.
	Settings settings.Settings
	Layers   []prefs.Layer // of the preference files
	Prefs    prefs.Effective
	Accounts map[string]settings.Account // by master URL
	Faults   error                       // of those files

	// Properties of the computer.
	Host       protocol.HostInfo
	Coprocs    gpus.Set             // that tasks may use
	Measured   []gpus.Measured      // of these
	Unusable   []string             // why installed programs for virtual machines and containers cannot be used
	Images     bool                 // tasks can run in container images
	NoImages   executor.ImagesError // why they cannot
	Wakeups    map[string]int64     // of the agent's process, by cause
	NoCPUs     string               // the fault of the setting cpus
	Conditions prefs.Conditions
	Times      protocol.TimeStats
	Habit      jobsched.Habit // at which hours the computer computes (nil: not known)
	Disk       Disk
	Powers     []power.Signal // numbers from outside on which computing depends

	NotSaved, NotSavedCure words.Text // why the agent cannot save its state, and the remedy

	DB      *state.DB                            // the durable state
	Debts   map[string]float64                   // by project, CPU-seconds, as of the last pass
	Used    map[string]map[resource.Kind]float64 // what each project got since of each kind of processor, in seconds of a CPU
	Drawn   func(key string) state.Energy        // energy of a task that is not in DB yet (nil: none)
	Elapsed time.Duration                        // since the last pass, by a clock that does not jump
	Last    decide.Decision                      // the last pass

	// Current activities.
	Sessions         map[string]Conversation  // by project, those in progress
	Transfers        map[string]Transfer      // by file key, those in progress
	Processes        map[string]Process       // by result key
	TrickleUps       map[string]bool          // project → applications have messages for it
	Asked            map[string]bool          // project → the user wants it contacted now
	Woken            map[string]bool          // project → its server has announced new work
	Ahead            map[string]time.Duration // project → how much later it is by this computer's clock than by its server's, if known
	Drain            decide.Drain             // that a person asked for
	Finishes         map[string]bool          // by result key, those that it waits for
	RecentlyReported []OldResult              // reported recently
}

// Disk is the free space of the disk and the used space, in bytes.
type Disk struct {
	Free int64 // negative: not known
	Used int64 // by the agent and its projects (negative: not measured yet)
}

// A Conversation is one with a project's servers.
type Conversation struct {
	About   words.Text // why it is held
	Since   time.Time
	ForWork bool // work is asked for
}

// A Transfer is a file on its way.
type Transfer struct {
	File  state.File
	Since time.Time
	Bytes int64     // moved so far
	Moved time.Time // when data last moved, or the attempt started (zero if unknown)
}

// A Process is a result's application that was started.
type Process struct {
	Since    time.Time // it started or was resumed
	Paused   bool      // it stays in memory and does nothing
	On       []int     // numbers of the coprocessors that it was given
	Progress *executor.Progress
}

// in returns a text in the language of the view.
func (f *Facts) in(t words.Text) string { return t.In(f.Language) }

func (f *Facts) host() state.Host {
	h, _ := f.DB.Hosts.Get(state.Self)
	return h
}

func (f *Facts) unit(r state.Result) state.Workunit {
	u, _ := f.DB.Units.Get(state.Key(r.Project, r.WorkunitName))
	return u
}

// stated returns the computing time of a result of so many operations, by the server's statement
// and the speed of this computer.
func (f *Facts) stated(version string, fpops float64) time.Duration {
	v, _ := f.DB.Versions.Get(version)
	return v.Stated(fpops, f.Host.Fpops)
}

// Usage returns the processors that a task of a version uses, by the project's statement and the
// volunteer's settings.
func Usage(v state.AppVersion, acc settings.Account) resource.Usage {
	u, app := v.Usage(), acc.App(v.AppName)
	if u.Coproc == nil {
		u.CPUs = cmp.Or(app.AvgNCPUs, u.CPUs)
		return u
	}
	u.CPUs, u.Coproc.Count = cmp.Or(app.CPUUsage, u.CPUs), cmp.Or(app.GPUUsage, u.Coproc.Count)
	return u
}

// overuse returns the number of CPUs used on average by tasks of a version, if its project falsely
// claims that they need little CPU time. It returns 0 if the project makes no such claim, or the
// claim is true.
func (f *Facts) overuse(v state.AppVersion) float64 {
	if said, light := f.DB.SaidToBeLight(v); said && light.Overused {
		return light.CPUs
	}
	return 0
}

// usage returns the resources that a result uses, and the devices that it runs on.
func (f *Facts) usage(key string, r state.Result) resource.Usage {
	v, _ := f.DB.Versions.Get(r.Version)
	acc := f.Accounts[r.Project]
	u := Usage(v, acc)
	u.Memory = int64(f.unit(r).RscMemoryBound)
	if said, light := f.DB.SaidToBeLight(v); said {
		if u.NonCPUIntensive = !light.Overused; light.Overused {
			u.CPUs = max(u.CPUs, 1) // its project's number of CPUs is no more reliable than its claim
		}
	}
	if u.Coproc != nil {
		u.Coproc.On = f.Processes[key].On
		u.Coproc.Except = acc.Excluded(v.AppName, resource.Find(f.Coprocs.Pools(f.Host.Fpops), u.Coproc.Kind))
	}
	return u
}
