package protocol

import (
	"log/slog"
	"slices"
	"time"
)

// An Authenticator is an account key. It never shows in a log.
type Authenticator string

// LogValue hides the key.
func (Authenticator) LogValue() slog.Value { return slog.StringValue("(hidden)") }

// A Version is a client's version.
type Version struct{ Major, Minor, Release int }

// Number combines a version as BOINC does: 10000·major + 100·minor + release.
func (v Version) Number() int { return 10000*v.Major + 100*v.Minor + v.Release }

// A SchedulerRequest is all that a host tells a project in one scheduler RPC.
type SchedulerRequest struct {
	Authenticator Authenticator
	HostID        int64 // 0: this client has no host record here
	RPCSeqno      int64
	Client        Version

	ResourceShareFraction    float64
	RRSFraction              float64 // share among projects with runnable work
	PRRSFraction             float64 // share among projects that could have some
	DurationCorrectionFactor float64
	AllowMultipleClients     bool
	Sandbox                  bool
	DontSendWork             bool
	DontUseDocker            bool // the volunteer allows no containers, whatever the host has

	CPUReqSeconds   float64 // instance-seconds wanted; > 0 asks for work
	CPUReqInstances float64 // idle CPUs to fill
	EstimatedDelay  time.Duration

	Platform     string
	AltPlatforms []string // in order of preference
	CodeSignKey  string   // key text, "" if none is known

	WorkingPrefs   string // content of the global_preferences in force, raw XML
	GlobalPrefs    string // content of stored web preferences, raw XML
	PrefsEmailHash string // whose preferences those are
	CrossProjectID string

	TimeStats TimeStats
	NetStats  NetStats
	Host      HostInfo
	Disk      DiskUsage
	Coprocs   []Coproc

	Results      []ReportedResult
	Trickles     []Trickle
	Files        []FileInfo // sticky files the host holds
	AppVersions  []AppVersion
	OtherResults []OtherResult
	InProgress   []InProgressResult // of all projects, when the server asked for it
}

// PlatformAnonymous is the platform of a host that computes with programs of its volunteer's
// own alone, which its requests list as app versions.
const PlatformAnonymous = "anonymous"

// WantsWork reports whether the request asks for CPU work and may be given it.
func (r *SchedulerRequest) WantsWork() bool { return !r.DontSendWork && r.CPUReqSeconds > 0 }

// WantsCoprocWork reports whether it asks for work for a coprocessor and may be given it.
func (r *SchedulerRequest) WantsCoprocWork() bool {
	return !r.DontSendWork && slices.ContainsFunc(r.Coprocs, func(c Coproc) bool { return c.WantsWork() })
}

// A ReportedResult is a finished result, well or not.
type ReportedResult struct {
	Name             string
	FinalCPUTime     time.Duration
	FinalElapsedTime time.Duration
	ExitStatus       int
	State            ClientState
	Platform         string
	VersionNum       int
	PlanClass        string
	PeakWorkingSet   int64 // bytes; 0 unknown
	PeakSwap         int64
	PeakDisk         int64
	StderrOut        string     // what <stderr_out> holds, CDATA resolved
	Files            []FileInfo // output files that were uploaded or given up
}

// Success is BOINC's rule for a result that may be validated. A server must
// check as well that the output files have arrived.
func (r *ReportedResult) Success() bool { return r.State == ClientUploaded && r.ExitStatus == 0 }

// OtherResult names a result the host has and does not report now.
type OtherResult struct {
	Name       string
	AppVersion int // index into the request's AppVersions; -1 unknown
	PlanClass  string
}

// InProgressResult is one queued result of any project.
type InProgressResult struct {
	Name          string
	Deadline      time.Time
	TimeRemaining time.Duration
	AvgNCPUs      float64
}

// A Trickle is a message between an application and its project's server.
type Trickle struct {
	ResultName string
	Time       time.Time
	Text       string // the program's own words, raw
}

// TimeStats says how much of the time a host is on, connected and computing.
type TimeStats struct {
	OnFrac                     float64
	ConnectedFrac              float64 // -1 unknown
	CPUAndNetworkAvailableFrac float64
	ActiveFrac                 float64
	GPUActiveFrac              float64 // of the time in which the host is on, that coprocessors may be used; 0: as ActiveFrac
	ClientStart, TotalStart    time.Time
	Now                        time.Time // by the host's clock
	TotalDuration              time.Duration
	TotalActiveDuration        time.Duration
	PreviousUptime             time.Duration
	SessionActiveDuration      time.Duration
}

// NetStats are measured transfer rates, bytes per second. They can be absurd.
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
	Fpops       float64 // floating point operations a second and CPU; exactly 1e9: not measured
	Iops        float64
	Membw       float64
	Calculated  time.Time // when those were measured
	MemBytes    float64
	CacheBytes  float64
	SwapBytes   float64
	DiskTotal   float64
	DiskFree    float64
	OSName      string
	OSVersion   string
	ProductName string      // "" if it is not known
	Coprocs     int         // usable coprocessors
	OpenCLCPUs  []OpenCLCPU // its processors as OpenCL offers them, one for each driver that does

	VMExtensionsDisabled bool   // the firmware keeps the processor's support of virtual machines turned off
	VirtualBoxVersion    string // "" is none; it may be followed by why it cannot be used
	// DockerVersion is that of what runs containers, "" if nothing does: on Windows in the first
	// Linux system (WSL) that the volunteer has not excluded.
	DockerVersion string
	DockerType    DockerType
}

// A DockerType is a program that runs containers, by BOINC's number.
type DockerType int

// The programs. Without a DockerVersion the type means nothing.
const (
	NoDocker DockerType = 0
	Docker   DockerType = 1
	Podman   DockerType = 2
)

// DiskUsage is what BOINC holds of the disk, in bytes: all of it, the project, and
// what the project may take.
type DiskUsage struct {
	UsedTotal, UsedProject, ProjectShare float64
}

// CompatVersion is the version of BOINC's client whose behaviour the agent
// follows and as which it introduces itself, since projects ask for a least one.
var CompatVersion = Version{Major: 8, Minor: 2, Release: 15}
