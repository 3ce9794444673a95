package protocol

import "time"

// An App is an application of a project.
type App struct {
	Name              string
	UserFriendlyName  string
	NonCPUIntensive   bool
	FractionDoneExact bool
}

// An AppVersion is a build of an application for a platform and plan class;
// those four together identify it.
type AppVersion struct {
	AppName    string
	VersionNum int // 100·major + minor
	Platform   string
	PlanClass  string
	APIVersion string
	AvgNCPUs   float64 // CPUs used; 0 means 1
	Flops      float64 // speed expected on the host; 0 means unknown
	Cmdline    string  // appended to the workunit's command line
	FileRefs   []FileRef
	IsWrapper  bool
	Coproc     string // kind of coprocessor (GPU) it needs; "" none
	// CoprocCount is how many of them it uses, see resource.Coproc; 0 means 1.
	CoprocCount float64
	GPURAM      float64 // bytes that it needs on each

	DontThrottle bool // the volunteer's limit on CPU time is not for its tasks
	NeedsNetwork bool // its tasks run only while the network may be used
}

// A Workunit is a job: what is to be computed.
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

// Defaults of BOINC's client for a workunit that does not say.
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
	Platform          string // empty: the host's primary platform
	VersionNum        int    // 0: the newest the client has
	PlanClass         string
	FileRefs          []FileRef // output files
	ReportImmediately bool
}

// Elements are the descriptions that travel in replies and stand in a server's
// database: which files, in which program, for which job.
type Elements struct {
	Apps        []App
	Files       []FileInfo
	AppVersions []AppVersion
	Workunits   []Workunit
	Results     []Result
}
