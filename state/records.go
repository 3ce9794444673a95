package state

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// Key returns the key of a record that belongs to a project: the master URL and the record's name
// within the project.
func Key(project string, name ...string) string {
	return project + "\x00" + strings.Join(name, "\x00")
}

// The names in tags belong to the file's format. They never change, even if a field is renamed. A
// change of their meaning requires a new format, see upgrade.go. Durations are stored in
// nanoseconds.

// A Host is the agent's record of the computer that it runs on.
type Host struct {
	CPID         string    `json:"cpid,omitzero"`          // random, 32 hex digits, identifies this installation
	Machine      string    `json:"machine,omitzero"`       // identifies the computer, as of the last start, or "" if unknown
	Fpops        float64   `json:"fpops,omitzero"`         // measured, operations a second and CPU, or 0 if not yet
	Iops         float64   `json:"iops,omitzero"`          // same as Fpops
	Measured     time.Time `json:"measured,omitzero"`      // when Fpops and Iops were measured
	InstalledAt  time.Time `json:"installed_at,omitzero"`  // first start with this data directory
	LastSeen     time.Time `json:"last_seen,omitzero"`     // last time the agent was running, from which the time that it was not is computed
	CrossProject string    `json:"cross_project,omitzero"` // the user's cross-project ID, if a project sent one
	Product      string    `json:"product,omitzero"`       // the computer's model, if a tool reported it
	Language     string    `json:"language,omitzero"`      // of projects' replies, such as de or pt-BR, or "" for none

	Prefs   AccountPrefs `json:"prefs,omitzero"`
	Times   Times        `json:"times,omitzero"`
	Habit   Habit        `json:"habit,omitzero"`
	RunMode prefs.Mode   `json:"-"` // a person's current choice
	NetMode prefs.Mode   `json:"-"`
	GPUMode prefs.Mode   `json:"-"`
	Traffic []Traffic    `json:"traffic,omitzero"` // of the last days
	Up      Line         `json:"up,omitzero"`      // uploads
	Down    Line         `json:"down,omitzero"`    // downloads
}

// A Line contains the speeds of file transfers in one direction.
type Line struct {
	Pace  float64   `json:"pace,omitzero"`  // bytes a second while files were transferred, averaged over transfers, or 0 if unknown
	Daily float64   `json:"daily,omitzero"` // bytes a day, averaged over some weeks
	At    time.Time `json:"at,omitzero"`    // when Daily was computed
}

// AccountPrefs are computing preferences from a project's web site.
type AccountPrefs struct {
	Project string    `json:"project,omitzero"` // the project that sent them
	Changed time.Time `json:"changed,omitzero"` // last change, according to the project
	XML     string    `json:"xml,omitzero"`     // content of <global_preferences>
}

// Times are fractions of the time, from 0 to 1, averaged over some ten days.
type Times struct {
	On        float64 `json:"on,omitzero"`        // while the agent ran
	Active    float64 `json:"active,omitzero"`    // of On, while computing was allowed
	Connected float64 `json:"connected,omitzero"` // of On, while the network could be used
}

// A Habit is a record of the times when the computer computes, by the hours of jobsched.Habit, in
// seconds. Older seconds count less.
type Habit struct {
	Seen     []float64 `json:"seen,omitempty"`     // of each hour, seconds that were observed
	Computed []float64 `json:"computed,omitempty"` // of those, seconds in which tasks were allowed to compute
	Total    float64   `json:"total,omitzero"`     // seconds that were observed, without reducing older ones
}

// A Project is the agent's record of a project that it is attached to. The volunteer's choices for
// it are not here but in the account file.
type Project struct {
	MasterURL     string    `json:"master_url,omitzero"`
	Name          string    `json:"name,omitzero"` // the project's name for itself, or "" until the first reply
	AttachedAt    time.Time `json:"attached_at,omitzero"`
	SchedulerURLs []string  `json:"scheduler_urls,omitzero"`
	CodeSignKey   string    `json:"code_sign_key,omitzero"`

	HostID   int64 `json:"host_id,omitzero"`
	RPCSeqno int64 `json:"rpc_seqno,omitzero"` // number of the next request

	UserID           int64    `json:"user_id,omitzero"`
	UserName         string   `json:"user_name,omitzero"`
	TeamName         string   `json:"team_name,omitzero"`
	UserTotalCredit  float64  `json:"user_total_credit,omitzero"`
	UserExpavgCredit float64  `json:"user_expavg_credit,omitzero"`
	HostTotalCredit  float64  `json:"host_total_credit,omitzero"`
	HostExpavgCredit float64  `json:"host_expavg_credit,omitzero"`
	EmailHash        string   `json:"email_hash,omitzero"`
	Venue            string   `json:"venue,omitzero"`
	ProjectPrefs     string   `json:"project_prefs,omitzero"`     // raw XML from the server
	NoRscApps        []string `json:"no_rsc_apps,omitzero"`       // resources that none of its applications use
	StrictMemory     bool     `json:"strict_memory,omitzero"`     // its tasks may need rsc_memory_bound at any time, even if they use little now
	NonCPUIntensive  bool     `json:"non_cpu_intensive,omitzero"` // all its tasks need little CPU time, according to the project
	TakesEnergy      bool     `json:"takes_energy,omitzero"`      // according to its last reply, its server stores the energy of results
	Anonymous        bool     `json:"anonymous,omitzero"`         // its tasks are computed by the volunteer's own programs (app_info.xml), which are its versions

	// Debt is the CPU time that the project is owed, in seconds. Below 0 the project owes time.
	Debt float64 `json:"debt,omitzero"`
	// Light contains the measurements of its tasks that need little CPU time according to the
	// project.
	Light resource.Light `json:"light,omitzero"`
	// JobFpops and Latency describe the results that it sent last, or are zero if it has sent none.
	JobFpops   float64       `json:"job_fpops,omitzero"`   // as stated by the server
	JobVersion string        `json:"job_version,omitzero"` // key of their app version
	Latency    time.Duration `json:"latency,omitzero"`
	Estimates  Estimates     `json:"estimates,omitzero"`

	// Streams contains the same values, and the rest of a Stream, for its work for coprocessors, by
	// kind.
	Streams map[string]Stream `json:"streams,omitzero"`

	CPUTime time.Duration `json:"cpu_time,omitzero"` // that its reported results used here
	Energy  Energy        `json:"energy,omitzero"`   // likewise

	Ending Ending `json:"ending,omitzero"`

	Contact  Contact       `json:"contact,omitzero"`
	Fetch    WorkFetch     `json:"fetch,omitzero"`
	Messages []Message     `json:"notices,omitzero"`  // of the last reply, for people
	LeftOut  string        `json:"left_out,omitzero"` // parts of the last reply that were not accepted, and why, for people, or ""
	Removed  []RemovedFile `json:"let_go,omitzero"`   // the last sticky files that were removed, oldest first

	Statistics []DailyCredit `json:"statistics,omitzero"` // of the last days

	Feeds   []Feed   `json:"feeds,omitzero"`    // of its news
	GUIURLs []GUIURL `json:"gui_urls,omitzero"` // to its pages, for people
}

// A Stream is the agent's record of a project's work for one kind of processor.
type Stream struct {
	JobFpops   float64         `json:"job_fpops,omitzero"` // of the results that it sent last, or 0 if none
	JobVersion string          `json:"job_version,omitzero"`
	Latency    time.Duration   `json:"latency,omitzero"`
	Estimates  Estimates       `json:"estimates,omitzero"`
	Retry                      // for requests for work
	Why        string          `json:"why,omitzero"` // see WorkFetch
	Refused    []reason.Reason `json:"refused,omitzero"`
}

// Stream returns the record of the project's work for a kind of processor.
func (p Project) Stream(k resource.Kind) Stream {
	if k != resource.CPU {
		return p.Streams[string(k)]
	}
	return Stream{p.JobFpops, p.JobVersion, p.Latency, p.Estimates, p.Fetch.Retry, p.Fetch.Why, p.Fetch.Refused}
}

// SetStream sets the record of the project's work for a kind of processor. Other copies of the
// project do not change.
func (p *Project) SetStream(k resource.Kind, s Stream) {
	if k != resource.CPU {
		all := maps.Clone(p.Streams)
		if all == nil {
			all = make(map[string]Stream)
		}
		all[string(k)] = s
		p.Streams = all
		return
	}
	p.JobFpops, p.JobVersion, p.Latency, p.Estimates, p.Fetch.Retry = s.JobFpops, s.JobVersion, s.Latency, s.Estimates, s.Retry
	p.Fetch.Why, p.Fetch.Refused = s.Why, s.Refused
}

// Retries changes the waiting times before requests for work of every kind.
func (p *Project) Retries(change func(*Retry)) {
	change(&p.Fetch.Retry)
	for k := range p.Streams {
		s := p.Streams[k]
		change(&s.Retry)
		p.SetStream(resource.Kind(k), s)
	}
}

// Estimates describe how long results really take, as learned from finished results.
type Estimates struct {
	Results int     `json:"results,omitzero"` // number of finished results
	Ratio   float64 `json:"ratio,omitzero"`   // actual computing time divided by stated computing time
}

// Contact is the state of the communication with a project's servers. It survives a restart, so a
// server that asked for a delay gets it.
type Contact struct {
	NRPCFailures   int           `json:"nrpc_failures,omitzero"`
	MasterFailures int           `json:"master_failures,omitzero"`
	FetchMaster    bool          `json:"fetch_master,omitzero"`
	MinRPCTime     time.Time     `json:"min_rpc_time,omitzero"`  // no contact before, unless the user requests it
	NextRPCTime    time.Time     `json:"next_rpc_time,omitzero"` // contact then even without a reason, or zero for none
	LastRPC        time.Time     `json:"last_rpc,omitzero"`      // last reply
	LastError      string        `json:"last_error,omitzero"`    // why the last contact failed, as an error of the program, or "" if it did not
	Trouble        reason.Reason `json:"trouble,omitzero"`       // the problem behind LastError, or zero without one
	Initialized    bool          `json:"initialized,omitzero"`   // a scheduler has replied since the attachment
}

// A Retry is a number of failures and the time before which the next attempt is not made.
type Retry struct {
	Failures int       `json:"failures,omitzero"`
	NextTry  time.Time `json:"next_try,omitzero"`
}

// WorkFetch contains the outcome of the last requests for work.
type WorkFetch struct {
	Retry
	AskedAt time.Time       `json:"asked_at,omitzero"` // last request for work that got a reply
	Got     int             `json:"got,omitzero"`      // number of results that it brought
	Why     string          `json:"why,omitzero"`      // the server's text when it sent no work, or another problem
	Refused []reason.Reason `json:"refused,omitzero"`  // why it sent no work, by code, or nil if its server gives only sentences
	Errors  int             `json:"errors,omitzero"`   // results that failed since the last good one
	Failure Failure         `json:"failure,omitzero"`  // the last failure
}

// Failure describes how a result failed.
type Failure struct {
	Task   string      `json:"task,omitzero"`
	Code   reason.Code `json:"code,omitzero"`
	About  string      `json:"about,omitzero"`
	Stderr string      `json:"stderr,omitzero"` // its last lines
	At     time.Time   `json:"at,omitzero"`
}

// RemovedFile records that a sticky file was removed.
type RemovedFile struct {
	Name   string    `json:"name,omitzero"`
	NBytes int64     `json:"nbytes,omitzero"`
	At     time.Time `json:"at,omitzero"`
	Code   string    `json:"code,omitzero"` // see storage.Code
	Why    string    `json:"why,omitzero"`  // for people
}

// A Message is a message from a project's scheduler to people.
type Message struct {
	Time     time.Time `json:"time,omitzero"`
	Priority string    `json:"priority,omitzero"`
	Text     string    `json:"text,omitzero"`
}

// FileStatus is the state of a file on this host.
type FileStatus int

// The numbers are used on disk.
const (
	FileAbsent  FileStatus = 0
	FilePresent FileStatus = 1
	FileFailed  FileStatus = 2
)

// A File is a file of a project.
type File struct {
	Project           string        `json:"project,omitzero"`
	protocol.FileInfo `json:"-"`    // on disk: see ondisk.go
	AppFile           bool          `json:"app_file,omitzero"` // belongs to an app version, so it needs a valid signature
	Output            bool          `json:"output,omitzero"`   // created here and uploaded, rather than downloaded
	Own               bool          `json:"own,omitzero"`      // the volunteer's, named in app_info.xml, and never downloaded, checked or removed
	Local             FileStatus    `json:"local,omitzero"`
	Done              bool          `json:"done,omitzero"`     // an output that has been uploaded
	ErrNum            int           `json:"err_num,omitzero"`  // one of BOINC's numbers, if Local is FileFailed
	Error             string        `json:"error,omitzero"`    // the program's error, or the reason, for people, why it is not stored here
	Obstacle          reason.Reason `json:"obstacle,omitzero"` // why the last attempt to transfer it failed, or zero if it did not or the reason is unknown
	Retry
	FirstTry time.Time `json:"first_try,omitzero"`

	// Used is the time when a task last had it or, without one, when it arrived or was ordered.
	// Zero means unknown.
	Used time.Time `json:"used,omitzero"`
	// Send means that its project wants it uploaded, although it is not an output waiting for that.
	Send bool `json:"send,omitzero"`
}

// Upload reports whether f, which is among the wanted files, is to be uploaded rather than
// downloaded.
func (f File) Upload() bool { return f.Local == FilePresent }

// Fetched reports whether a missing file is downloaded although no task needs it, because its
// project wants it stored here.
func (f File) Fetched() bool {
	return f.Sticky && !f.Output && !f.GeneratedLocally && f.Local == FileAbsent && len(f.DownloadURLs)+len(f.GzippedURLs) > 0
}

// An App is an application of a project.
type App struct {
	Project      string     `json:"project,omitzero"`
	protocol.App `json:"-"` // on disk: see ondisk.go
}

// An AppVersion is a version of an application.
type AppVersion struct {
	Project             string     `json:"project,omitzero"`
	protocol.AppVersion `json:"-"` // on disk: see ondisk.go
	Estimates           Estimates  `json:"estimates,omitzero"` // learned from its results
}

// ID returns the version's key.
func (v AppVersion) ID() string { return VersionKey(v.Project, v.AppVersion) }

// Kind returns the kind of processor that the version computes on.
func (v AppVersion) Kind() resource.Kind {
	if v.Coproc != "" {
		return resource.Kind(v.Coproc)
	}
	return resource.CPU
}

// Usage returns the processors that a task of the version uses.
func (v AppVersion) Usage() resource.Usage {
	u := resource.Usage{CPUs: v.AvgNCPUs}
	if v.Coproc != "" {
		u.CPUs = cmp.Or(u.CPUs, 1)
		u.Coproc = &resource.Coproc{Kind: v.Kind(), Count: v.CoprocCount, Memory: int64(v.GPURAM)}
	}
	return u
}

// Speed returns the number of operations a second that the version is expected to do on a computer
// with the given speed of one CPU.
func (v AppVersion) Speed(cpu float64) float64 {
	flops := v.Flops
	if flops <= 0 {
		flops = cpu * max(v.AvgNCPUs, 1)
		if u := v.Usage(); u.Coproc != nil {
			flops += cpu * 10 * u.Devices() // the same assumption as in BOINC's client
		}
	}
	return max(flops, 1e6)
}

// Stated returns the time that the version needs for so many operations there, according to the
// server.
func (v AppVersion) Stated(fpops, cpu float64) time.Duration {
	return protocol.Seconds(fpops / v.Speed(cpu))
}

// VersionKey returns the key of an app version. These values identify it.
func VersionKey(project string, v protocol.AppVersion) string {
	return Key(project, v.AppName, v.Platform, itoa(v.VersionNum), v.PlanClass)
}

// A Workunit is a job of a project.
type Workunit struct {
	Project           string     `json:"project,omitzero"`
	protocol.Workunit `json:"-"` // on disk: see ondisk.go
}

// A Result is an instance of a workunit on this host.
type Result struct {
	Project         string               `json:"project,omitzero"`
	protocol.Result `json:"-"`           // on disk: see ondisk.go
	State           protocol.ClientState `json:"state,omitzero"`
	Version         string               `json:"version,omitzero"` // key of its app version
	Slot            int                  `json:"slot,omitzero"`    // NoSlot, or the slot in which it runs or will resume

	Received  time.Time `json:"received,omitzero"`
	Started   time.Time `json:"started,omitzero"`   // first start, or zero if never started
	Completed time.Time `json:"completed,omitzero"` // when everything was computed, or zero if not yet

	ExitStatus int           `json:"exit_status,omitzero"`
	Message    string        `json:"message,omitzero"` // the error in one line, which is reported to its project
	Cause      reason.Reason `json:"cause,omitzero"`   // how it failed, or zero if ExitStatus shows that
	Stderr     string        `json:"stderr,omitzero"`
	CPUTime    time.Duration `json:"cpu_time,omitzero"`
	Elapsed    time.Duration `json:"elapsed,omitzero"`
	PeakRSS    int64         `json:"peak_rss,omitzero"`  // bytes
	PeakSwap   int64         `json:"peak_swap,omitzero"` // bytes of virtual memory
	PeakDisk   int64         `json:"peak_disk,omitzero"` // bytes
	Energy     Energy        `json:"energy,omitzero"`    // up to its last checkpoint

	Checkpoint Checkpoint    `json:"checkpoint,omitzero"`
	Suspended  bool          `json:"suspended,omitzero"`  // by the volunteer
	AbortAt    time.Time     `json:"abort_at,omitzero"`   // when it will be aborted, unless that is canceled, or zero for not at all
	Urgent     bool          `json:"urgent,omitzero"`     // its deadline was in danger at the last check
	NotBefore  time.Time     `json:"not_before,omitzero"` // it is not started before: its application asked for a delay, it could not be started, or it is a suspect
	Obstacle   reason.Reason `json:"obstacle,omitzero"`   // the reason for NotBefore, or zero if unknown

	Live      bool      `json:"live,omitzero"`       // it may have a process
	LastStart time.Time `json:"last_start,omitzero"` // of its process
	Crashes   int       `json:"crashes,omitzero"`    // of the agent while it ran, since it last ran for a long time
	SetAside  bool      `json:"set_aside,omitzero"`  // until a person resumes it: it may crash the agent

	ReadyToReport bool `json:"ready_to_report,omitzero"`
}

// NoSlot means that a result does not have a slot.
const NoSlot = -1

// A Checkpoint is the saved progress of a result.
type Checkpoint struct {
	CPUTime  time.Duration `json:"cpu_time,omitzero"`
	Elapsed  time.Duration `json:"elapsed,omitzero"`
	Fraction float64       `json:"fraction,omitzero"`
}

// Computing reports whether there is still something to compute.
func (r *Result) Computing() bool { return r.State <= protocol.ClientDownloaded }

// Ready marks the result as ended on this host. It is reported in its current state.
func (r *Result) Ready(now time.Time) {
	r.ReadyToReport = true
	if r.Completed.IsZero() {
		r.Completed = now
	}
}
