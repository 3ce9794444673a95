package protocol

import (
	"log/slog"
	"slices"
	"time"
)

// An Authenticator is an account key. It never appears in a log.
type Authenticator string

// LogValue hides the key.
func (Authenticator) LogValue() slog.Value { return slog.StringValue("(hidden)") }

// A Version is a client's version.
type Version struct{ Major, Minor, Release int }

// Number combines a version as BOINC does: 10000·major + 100·minor + release.
func (v Version) Number() int { return 10000*v.Major + 100*v.Minor + v.Release }

// A SchedulerRequest is everything that a host sends to a project in one scheduler RPC.
type SchedulerRequest struct {
	Authenticator Authenticator
	HostID        int64 // 0 if this client does not have a host record here
	RPCSeqno      int64
	Client        Version

	ResourceShareFraction    float64
	RRSFraction              float64 // share among projects with runnable work
	PRRSFraction             float64 // share among projects that could have runnable work
	DurationCorrectionFactor float64
	AllowMultipleClients     bool
	Sandbox                  bool
	DontSendWork             bool
	DontUseDocker            bool // the volunteer does not allow containers, even if the host can run them

	CPUReqSeconds   float64 // instance-seconds wanted: more than 0 requests work
	CPUReqInstances float64 // idle CPUs to fill
	EstimatedDelay  time.Duration

	Platform     string
	AltPlatforms []string // in order of preference
	CodeSignKey  string   // key text, or "" if unknown

	WorkingPrefs   string // content of the global_preferences in effect, raw XML
	GlobalPrefs    string // content of stored web preferences, raw XML
	PrefsEmailHash string // whose preferences GlobalPrefs are
	CrossProjectID string

	TimeStats TimeStats
	NetStats  NetStats
	Host      HostInfo
	Disk      DiskUsage
	Coprocs   []Coproc

	Results      []ReportedResult
	Trickles     []Trickle
	Files        []FileInfo // sticky files on the host
	AppVersions  []AppVersion
	OtherResults []OtherResult
}

// PlatformAnonymous is the platform of a host that computes only with its volunteer's own programs,
// which its requests list as app versions.
const PlatformAnonymous = "anonymous"

// WantsWork reports whether the request asks for CPU work and may receive it.
func (r *SchedulerRequest) WantsWork() bool { return !r.DontSendWork && r.CPUReqSeconds > 0 }

// WantsCoprocWork reports whether the request asks for work for a coprocessor and may receive it.
func (r *SchedulerRequest) WantsCoprocWork() bool {
	return !r.DontSendWork && slices.ContainsFunc(r.Coprocs, func(c Coproc) bool { return c.WantsWork() })
}

// A ReportedResult is a finished result, whether it succeeded or failed.
type ReportedResult struct {
	Name             string
	FinalCPUTime     time.Duration
	FinalElapsedTime time.Duration
	ExitStatus       int
	State            ClientState
	Platform         string
	VersionNum       int
	PlanClass        string
	PeakWorkingSet   int64 // bytes, or 0 if unknown
	PeakSwap         int64
	PeakDisk         int64
	// EnergyWh is the electrical energy that the result used, in watt-hours, or 0 if it is unknown or
	// the volunteer does not share it. It is Starling's own element, <starling_energy_wh>, and sent only
	// to servers whose replies have TakesEnergy. A server must expect any number.
	EnergyWh  float64
	StderrOut string     // content of <stderr_out>, with CDATA resolved
	Files     []FileInfo // output files that were uploaded or given up
}

// Success reports whether the result may be validated, by BOINC's rule. A server must also check
// that the output files have arrived.
func (r *ReportedResult) Success() bool { return r.State == ClientUploaded && r.ExitStatus == 0 }

// OtherResult is a result that the host has and does not report now.
type OtherResult struct {
	Name       string
	AppVersion int // index into the request's AppVersions, or -1 if unknown
	PlanClass  string
}

// A Trickle is a message between an application and its project's server.
type Trickle struct {
	ResultName string
	Time       time.Time
	Text       string // raw text of the program
}

// TimeStats contains the fractions of time that a host is on, connected and computing.
type TimeStats struct {
	OnFrac                     float64
	ConnectedFrac              float64 // -1 if unknown
	CPUAndNetworkAvailableFrac float64
	ActiveFrac                 float64
	GPUActiveFrac              float64 // fraction of the time the host is on during which coprocessors may be used, or 0 if the same as ActiveFrac
	ClientStart, TotalStart    time.Time
	Now                        time.Time // by the host's clock
	TotalDuration              time.Duration
	TotalActiveDuration        time.Duration
	PreviousUptime             time.Duration
	SessionActiveDuration      time.Duration
}

// NetStats are measured transfer rates in bytes per second. The values can be absurd.
type NetStats struct {
	BwUp, BwDown           float64
	AvgUp, AvgDown         float64
	AvgTimeUp, AvgTimeDown time.Time
}

// HostInfo describes a computer.
type HostInfo struct {
	Timezone    int64 // seconds east of UTC
	DomainName  string
	IPAddr      string
	HostCPID    string
	NCPUs       int
	Vendor      string
	Model       string
	Features    string
	Fpops       float64 // floating-point operations per second and CPU. Exactly 1e9 means not measured.
	Iops        float64
	Membw       float64
	Calculated  time.Time // when the speeds were measured
	MemBytes    float64
	CacheBytes  float64
	SwapBytes   float64
	DiskTotal   float64
	DiskFree    float64
	OSName      string
	OSVersion   string
	ProductName string      // "" if unknown
	Coprocs     int         // usable coprocessors
	OpenCLCPUs  []OpenCLCPU // the processors that OpenCL offers, one entry for each driver

	VMExtensionsDisabled bool   // the firmware has disabled the processor's support for virtual machines
	VirtualBoxVersion    string // "" without VirtualBox. A reason why it cannot be used may follow the version.
	// DockerVersion is the version of the program that runs containers, or "" without one. On
	// Windows it runs in the first Linux system (WSL) that the volunteer has not excluded.
	DockerVersion string
	DockerType    DockerType
}

// A DockerType is a program that runs containers, by BOINC's number.
type DockerType int

// The programs. Without a DockerVersion the type is meaningless.
const (
	NoDocker DockerType = 0
	Docker   DockerType = 1
	Podman   DockerType = 2
)

// DiskUsage contains sizes in bytes: BOINC's total disk usage, the project's usage, and the amount
// that the project may use.
type DiskUsage struct {
	UsedTotal, UsedProject, ProjectShare float64
}

// CompatVersion is the version of BOINC's client whose behavior the agent follows. The agent
// reports it as its own, since projects require a minimum version.
var CompatVersion = Version{Major: 8, Minor: 2, Release: 15}
