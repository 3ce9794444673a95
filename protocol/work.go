package protocol

import "time"

// An App is an application of a project.
type App struct {
	Name              string
	UserFriendlyName  string
	NonCPUIntensive   bool
	FractionDoneExact bool
}

// An AppVersion is a build of an application for a platform and plan class. Together with the
// version number, these identify it.
type AppVersion struct {
	AppName    string
	VersionNum int // 100·major + minor
	Platform   string
	PlanClass  string
	APIVersion string
	AvgNCPUs   float64 // CPUs used, where 0 means 1
	Flops      float64 // speed expected on the host, or 0 if unknown
	Cmdline    string  // appended to the workunit's command line
	FileRefs   []FileRef
	IsWrapper  bool
	Coproc     string // kind of coprocessor (GPU) that it needs, or "" for none
	// CoprocCount is the number of coprocessors that it uses, see resource.Coproc. 0 means 1.
	CoprocCount float64
	GPURAM      float64 // bytes that it needs on each coprocessor

	DontThrottle bool // the volunteer's limit on CPU time does not apply to its tasks
	NeedsNetwork bool // its tasks run only while the network may be used
}

// A Workunit is a job: something to be computed.
type Workunit struct {
	Name           string
	AppName        string
	CommandLine    string
	RscFpopsEst    float64 // floating point operations
	RscFpopsBound  float64
	RscMemoryBound float64 // bytes
	RscDiskBound   float64 // bytes
	FileRefs       []FileRef
}

// Defaults of BOINC's client for values that a workunit does not specify.
const (
	DefaultFpopsEst    = 6.05e14
	DefaultFpopsBound  = 2.42e15
	DefaultMemoryBound = 1e8
	DefaultDiskBound   = 1e9
)

// A Result is one instance of a workunit, sent to one host.
type Result struct {
	Name              string
	WorkunitName      string
	ReportDeadline    time.Time
	Platform          string // empty for the host's primary platform
	VersionNum        int    // 0 for the newest version that the client has
	PlanClass         string
	FileRefs          []FileRef // output files
	ReportImmediately bool
}

// Elements are the descriptions in replies and in a server's database: the files, programs and
// jobs.
type Elements struct {
	Apps        []App
	Files       []FileInfo
	AppVersions []AppVersion
	Workunits   []Workunit
	Results     []Result
}
