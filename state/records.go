package state

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// Key is the key of a record that belongs to a project: the master URL and the
// record's name within the project.
func Key(project string, name ...string) string {
	return project + "\x00" + strings.Join(name, "\x00")
}

// A Host is what the agent remembers of its own computer.
type Host struct {
	CPID         string    // random, 32 hex digits; tells this installation from others
	Machine      string    // tells the computer from others, as of the last start; "" not known
	Fpops        float64   // measured, operations a second and CPU; 0 not yet
	Iops         float64   // likewise
	Measured     time.Time // when
	InstalledAt  time.Time // first start with this data directory
	LastSeen     time.Time // the agent was alive then; kept to know how long it was not
	CrossProject string    // the user's cross-project id, if a project told one
	Product      string    // what the computer is, if a tool told
	Language     string    // in which projects are asked to answer, as de or pt-BR; "" none

	Prefs   AccountPrefs
	Times   Times
	RunMode prefs.Mode // what a person wants for now
	NetMode prefs.Mode
	GPUMode prefs.Mode // only told back
	Traffic []Traffic  // of the last days
}

// AccountPrefs are computing preferences from a project's web site.
type AccountPrefs struct {
	Project string    // that sent them
	Changed time.Time // last, there
	XML     string    // content of <global_preferences>
}

// Times are parts of the time, from 0 to 1, averaged over some ten days.
type Times struct {
	On        float64 // the agent ran
	Active    float64 // of that, computing was allowed
	Connected float64 // of that, the network could be used
}

// A Project is what the agent knows of a project it is attached to. What the
// volunteer chose for it stands in the account file, not here.
type Project struct {
	MasterURL     string
	Name          string // as the project calls itself; "" until the first reply
	AttachedAt    time.Time
	SchedulerURLs []string
	CodeSignKey   string

	HostID   int64
	RPCSeqno int64 // of the next request

	UserID           int64
	UserName         string
	TeamName         string
	UserTotalCredit  float64
	UserExpavgCredit float64
	HostTotalCredit  float64
	HostExpavgCredit float64
	EmailHash        string
	Venue            string
	ProjectPrefs     string   // raw XML from the server
	NoRscApps        []string // resources for which it has no applications

	// Debt is the CPU time that the project is owed, in seconds; below 0 it owes.
	Debt float64
	// JobFpops and Latency are those of the results it sent last; zero: none yet.
	JobFpops   float64 // as stated by the server
	JobVersion string  // key of their app version
	Latency    time.Duration
	Estimates  Estimates

	CPUTime time.Duration // that its reported results took here

	Ending Ending `json:",omitzero"`

	Contact Contact
	Fetch   WorkFetch
	Notices []Notice // messages of the last reply, for people
	LeftOut string   // what of the last reply was not taken and why, for people; "" nothing

	Statistics []DailyCredit // of the last days
}

// Estimates are what has been learnt of how long results really take.
type Estimates struct {
	Results int     // finished results it was learnt from
	Ratio   float64 // actual over stated computing time
}

// Contact is the state of the conversation with a project's servers. All of it
// survives a restart: a server that asked to be left alone is.
type Contact struct {
	NRPCFailures   int
	MasterFailures int
	FetchMaster    bool
	MinRPCTime     time.Time // no contact before, unless the user asks
	NextRPCTime    time.Time // contact then even with nothing to do; zero: none
	LastRPC        time.Time // last answer
	LastError      string    // why the last contact failed; "" if it did not
	Initialized    bool      // a scheduler has answered since the attach
}

// Retry is a failure count and the time before which nothing is tried again.
type Retry struct {
	Failures int
	NextTry  time.Time
}

// WorkFetch is what the last work requests brought.
type WorkFetch struct {
	Retry
	AskedAt time.Time // last answered request for work
	Got     int       // results it brought
	Why     string    // the server's words when it brought none, or what else is wrong
	Errors  int       // results that failed since one was good
}

// A Notice is a message from a project to a person.
type Notice struct {
	Time     time.Time
	Priority string
	Text     string
}

// FileStatus is where a file stands on this host.
type FileStatus int

// The numbers reach disk.
const (
	FileAbsent  FileStatus = 0
	FilePresent FileStatus = 1
	FileFailed  FileStatus = 2
)

// A File is a file of a project.
type File struct {
	Project string
	protocol.FileInfo
	AppFile bool // belongs to an app version: nothing but a good signature will do
	Output  bool // made here and uploaded, rather than downloaded
	Local   FileStatus
	Done    bool // an output: uploaded
	ErrNum  int  // of BOINC's numbers, when Local is FileFailed
	Error   string
	Retry
	FirstTry time.Time
}

// An App is an application of a project.
type App struct {
	Project string
	protocol.App
}

// An AppVersion is a version of an application.
type AppVersion struct {
	Project string
	protocol.AppVersion
}

// ID returns the version's key.
func (v AppVersion) ID() string { return VersionKey(v.Project, v.AppVersion) }

// Speed is how many operations a second the version is expected to do on a
// computer of which one CPU does so many.
func (v AppVersion) Speed(cpu float64) float64 {
	flops := v.Flops
	if flops <= 0 {
		flops = cpu * max(v.AvgNCPUs, 1)
	}
	return max(flops, 1e6)
}

// Stated is how long the version computes so many operations there, by the
// server's word.
func (v AppVersion) Stated(fpops, cpu float64) time.Duration {
	return protocol.Seconds(fpops / v.Speed(cpu))
}

// VersionKey is the key of an app version: those four tell it from any other.
func VersionKey(project string, v protocol.AppVersion) string {
	return Key(project, v.AppName, v.Platform, itoa(v.VersionNum), v.PlanClass)
}

// A Workunit is a job of a project.
type Workunit struct {
	Project string
	protocol.Workunit
}

// A Result is a workunit's instance on this host.
type Result struct {
	Project string
	protocol.Result
	State   protocol.ClientState
	Version string // key of its app version
	Slot    int    // NoSlot, or the folder it runs in or will go on in

	Received  time.Time
	Started   time.Time // first start; zero: never started
	Completed time.Time // nothing left to compute; zero: not yet

	ExitStatus int
	Message    string // what went wrong, in one line
	Stderr     string
	CPUTime    time.Duration
	Elapsed    time.Duration
	PeakRSS    int64 // bytes

	Checkpoint Checkpoint
	Suspended  bool      // by the volunteer
	AbortAt    time.Time `json:",omitzero"` // it is aborted then, unless that is taken back; zero: not at all
	Urgent     bool      // its deadline was in danger when last looked at
	NotBefore  time.Time // the application asked to be started again no earlier; or a suspect is not to

	Live      bool      // it may have a process
	LastStart time.Time // of its process
	Crashes   int       // of the agent while it ran, since it last ran for long
	SetAside  bool      // until a person resumes it: it may bring the agent down

	ReadyToReport bool
}

// NoSlot says that a result has no slot.
const NoSlot = -1

// A Checkpoint is how far a result is certain to be.
type Checkpoint struct {
	CPUTime  time.Duration
	Elapsed  time.Duration
	Fraction float64
}

// Computing reports whether there is still something to compute.
func (r *Result) Computing() bool { return r.State <= protocol.ClientDownloaded }

// Ready marks the result as over on this host: it is reported as it is now.
func (r *Result) Ready(now time.Time) {
	r.ReadyToReport = true
	if r.Completed.IsZero() {
		r.Completed = now
	}
}
