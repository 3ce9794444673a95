package state

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
)

// Key is the key of a record that belongs to a project: the master URL and the
// record's name within the project.
func Key(project string, name ...string) string {
	return project + "\x00" + strings.Join(name, "\x00")
}

// The names in tags are those of the file's format: they stay what they are, whatever
// a field is called here. A change of what they mean is a new format, see upgrade.go.
// Durations are stored in nanoseconds.

// A Host is what the agent remembers of its own computer.
type Host struct {
	CPID         string    `json:"cpid,omitzero"`          // random, 32 hex digits; tells this installation from others
	Machine      string    `json:"machine,omitzero"`       // tells the computer from others, as of the last start; "" not known
	Fpops        float64   `json:"fpops,omitzero"`         // measured, operations a second and CPU; 0 not yet
	Iops         float64   `json:"iops,omitzero"`          // likewise
	Measured     time.Time `json:"measured,omitzero"`      // when
	InstalledAt  time.Time `json:"installed_at,omitzero"`  // first start with this data directory
	LastSeen     time.Time `json:"last_seen,omitzero"`     // the agent was alive then; kept to know how long it was not
	CrossProject string    `json:"cross_project,omitzero"` // the user's cross-project id, if a project told one
	Product      string    `json:"product,omitzero"`       // what the computer is, if a tool told
	Language     string    `json:"language,omitzero"`      // in which projects are asked to answer, as de or pt-BR; "" none

	Prefs   AccountPrefs `json:"prefs,omitzero"`
	Times   Times        `json:"times,omitzero"`
	Habit   Habit        `json:"habit,omitzero"`
	RunMode prefs.Mode   `json:"-"` // what a person wants for now
	NetMode prefs.Mode   `json:"-"`
	GPUMode prefs.Mode   `json:"-"`
	Traffic []Traffic    `json:"traffic,omitzero"` // of the last days
	Up      Line         `json:"up,omitzero"`      // uploads
	Down    Line         `json:"down,omitzero"`    // downloads
}

// A Line is how fast files were transferred in one direction.
type Line struct {
	Pace  float64   `json:"pace,omitzero"`  // bytes a second while files moved, averaged over transfers; 0 not known
	Daily float64   `json:"daily,omitzero"` // bytes a day, averaged over some weeks
	At    time.Time `json:"at,omitzero"`    // of that average
}

// AccountPrefs are computing preferences from a project's web site.
type AccountPrefs struct {
	Project string    `json:"project,omitzero"` // that sent them
	Changed time.Time `json:"changed,omitzero"` // last, there
	XML     string    `json:"xml,omitzero"`     // content of <global_preferences>
}

// Times are parts of the time, from 0 to 1, averaged over some ten days.
type Times struct {
	On        float64 `json:"on,omitzero"`        // the agent ran
	Active    float64 `json:"active,omitzero"`    // of that, computing was allowed
	Connected float64 `json:"connected,omitzero"` // of that, the network could be used
}

// A Habit is what was seen of when the computer computes, by the hours of jobsched.Habit, in
// seconds of which older ones count less.
type Habit struct {
	Seen     []float64 `json:"seen,omitempty"`     // of each hour
	Computed []float64 `json:"computed,omitempty"` // of that, tasks were allowed to compute
	Total    float64   `json:"total,omitzero"`     // seen in all; it counts in full
}

// A Project is what the agent knows of a project it is attached to. What the
// volunteer chose for it stands in the account file, not here.
type Project struct {
	MasterURL     string    `json:"master_url,omitzero"`
	Name          string    `json:"name,omitzero"` // as the project calls itself; "" until the first reply
	AttachedAt    time.Time `json:"attached_at,omitzero"`
	SchedulerURLs []string  `json:"scheduler_urls,omitzero"`
	CodeSignKey   string    `json:"code_sign_key,omitzero"`

	HostID   int64 `json:"host_id,omitzero"`
	RPCSeqno int64 `json:"rpc_seqno,omitzero"` // of the next request

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
	NoRscApps        []string `json:"no_rsc_apps,omitzero"`       // resources for which it has no applications
	StrictMemory     bool     `json:"strict_memory,omitzero"`     // a task of it may need rsc_memory_bound at any time, however little it uses now
	NonCPUIntensive  bool     `json:"non_cpu_intensive,omitzero"` // all its tasks need little CPU time, by its word
	Anonymous        bool     `json:"anonymous,omitzero"`         // its tasks are computed by programs of the volunteer's own (app_info.xml), which are its versions

	// Debt is the CPU time that the project is owed, in seconds; below 0 it owes.
	Debt float64 `json:"debt,omitzero"`
	// Light is what was measured of its tasks that need little CPU time, by its word.
	Light resource.Light `json:"light,omitzero"`
	// JobFpops and Latency are those of the results it sent last; zero: none yet.
	JobFpops   float64       `json:"job_fpops,omitzero"`   // as stated by the server
	JobVersion string        `json:"job_version,omitzero"` // key of their app version
	Latency    time.Duration `json:"latency,omitzero"`
	Estimates  Estimates     `json:"estimates,omitzero"`

	// Streams are the same, and the rest of a Stream, of its work for coprocessors, by kind.
	Streams map[string]Stream `json:"streams,omitzero"`

	CPUTime time.Duration `json:"cpu_time,omitzero"` // that its reported results took here

	Ending Ending `json:"ending,omitzero"`

	Contact  Contact   `json:"contact,omitzero"`
	Fetch    WorkFetch `json:"fetch,omitzero"`
	Messages []Message `json:"notices,omitzero"`  // of the last reply, for people
	LeftOut  string    `json:"left_out,omitzero"` // what of the last reply was not taken and why, for people; "" nothing
	LetGo    []LetGo   `json:"let_go,omitzero"`   // the last sticky files that were removed, oldest first

	Statistics []DailyCredit `json:"statistics,omitzero"` // of the last days

	Feeds   []Feed   `json:"feeds,omitzero"`    // of its news
	GUIURLs []GUIURL `json:"gui_urls,omitzero"` // to its pages, for people
}

// A Stream is what is known of a project's work for one kind of processor.
type Stream struct {
	JobFpops   float64       `json:"job_fpops,omitzero"` // of the results it sent last; 0: none yet
	JobVersion string        `json:"job_version,omitzero"`
	Latency    time.Duration `json:"latency,omitzero"`
	Estimates  Estimates     `json:"estimates,omitzero"`
	Retry                    // no request for work before
	Why        string        `json:"why,omitzero"` // as of WorkFetch
	Refused    []Refused     `json:"refused,omitzero"`
}

// Stream is what is known of the project's work for a kind of processor.
func (p Project) Stream(k resource.Kind) Stream {
	if k != resource.CPU {
		return p.Streams[string(k)]
	}
	return Stream{p.JobFpops, p.JobVersion, p.Latency, p.Estimates, p.Fetch.Retry, p.Fetch.Why, p.Fetch.Refused}
}

// SetStream takes over what is known of its work for a kind of processor. Other copies of the
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

// Retries changes the waits between requests for work of every kind.
func (p *Project) Retries(change func(*Retry)) {
	change(&p.Fetch.Retry)
	for k := range p.Streams {
		s := p.Streams[k]
		change(&s.Retry)
		p.SetStream(resource.Kind(k), s)
	}
}

// Estimates are what has been learnt of how long results really take.
type Estimates struct {
	Results int     `json:"results,omitzero"` // finished results it was learnt from
	Ratio   float64 `json:"ratio,omitzero"`   // actual over stated computing time
}

// Contact is the state of the conversation with a project's servers. All of it
// survives a restart: a server that asked to be left alone is.
type Contact struct {
	NRPCFailures   int       `json:"nrpc_failures,omitzero"`
	MasterFailures int       `json:"master_failures,omitzero"`
	FetchMaster    bool      `json:"fetch_master,omitzero"`
	MinRPCTime     time.Time `json:"min_rpc_time,omitzero"`  // no contact before, unless the user asks
	NextRPCTime    time.Time `json:"next_rpc_time,omitzero"` // contact then even with nothing to do; zero: none
	LastRPC        time.Time `json:"last_rpc,omitzero"`      // last answer
	LastError      string    `json:"last_error,omitzero"`    // why the last contact failed, as the program met it; "" if it did not
	Trouble        Trouble   `json:"trouble,omitzero"`       // what that means; zero: nothing is wrong
	Initialized    bool      `json:"initialized,omitzero"`   // a scheduler has answered since the attach
}

// Trouble is what is wrong between this computer and a project: see contact.Trouble.
type Trouble struct {
	Code  string    `json:"code,omitzero"`
	About string    `json:"about,omitzero"`
	Since time.Time `json:"since,omitzero"`
}

// Retry is a failure count and the time before which nothing is tried again.
type Retry struct {
	Failures int       `json:"failures,omitzero"`
	NextTry  time.Time `json:"next_try,omitzero"`
}

// WorkFetch is what the last work requests brought.
type WorkFetch struct {
	Retry
	AskedAt time.Time `json:"asked_at,omitzero"` // last answered request for work
	Got     int       `json:"got,omitzero"`      // results it brought
	Why     string    `json:"why,omitzero"`      // the server's words when it brought none, or what else is wrong
	Refused []Refused `json:"refused,omitzero"`  // why it sent none, by code; nil: its server gives sentences only
	Errors  int       `json:"errors,omitzero"`   // results that failed since one was good
	Failure Failure   `json:"failure,omitzero"`  // the last of them
}

// Refused is a reason for which a project sent no work: see workfetch.Refused.
type Refused struct {
	Code   string    `json:"code,omitzero"`
	App    string    `json:"app,omitzero"`
	Kind   string    `json:"kind,omitzero"`
	Need   float64   `json:"need,omitzero"`
	Have   float64   `json:"have,omitzero"`
	Until  time.Time `json:"until,omitzero"`
	Detail string    `json:"detail,omitzero"`
}

// Failure is how a result failed: see workfetch.Failure.
type Failure struct {
	Task   string    `json:"task,omitzero"`
	Code   string    `json:"code,omitzero"`
	About  string    `json:"about,omitzero"`
	Stderr string    `json:"stderr,omitzero"` // its last lines
	At     time.Time `json:"at,omitzero"`
}

// A Cause is why something is not so: see obstacle.Obstacle and workfetch.Failure.
type Cause struct {
	Code  string `json:"code,omitzero"`
	About string `json:"about,omitzero"`
}

// LetGo is that a sticky file was removed.
type LetGo struct {
	Name   string    `json:"name,omitzero"`
	NBytes int64     `json:"nbytes,omitzero"`
	At     time.Time `json:"at,omitzero"`
	Code   string    `json:"code,omitzero"` // see storage.Code
	Why    string    `json:"why,omitzero"`  // for people
}

// A Message is one from a project's scheduler to a person.
type Message struct {
	Time     time.Time `json:"time,omitzero"`
	Priority string    `json:"priority,omitzero"`
	Text     string    `json:"text,omitzero"`
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
	Project           string     `json:"project,omitzero"`
	protocol.FileInfo `json:"-"` // on disk: see ondisk.go
	AppFile           bool       `json:"app_file,omitzero"` // belongs to an app version: nothing but a good signature will do
	Output            bool       `json:"output,omitzero"`   // made here and uploaded, rather than downloaded
	Own               bool       `json:"own,omitzero"`      // the volunteer's, named in app_info.xml: it is never fetched, checked or removed
	Local             FileStatus `json:"local,omitzero"`
	Done              bool       `json:"done,omitzero"`     // an output: uploaded
	ErrNum            int        `json:"err_num,omitzero"`  // of BOINC's numbers, when Local is FileFailed
	Error             string     `json:"error,omitzero"`    // as the program met it, or for people why it is not stored here
	Obstacle          Cause      `json:"obstacle,omitzero"` // why the last attempt to move it failed; zero: it did not, or it is not known
	Retry
	FirstTry time.Time `json:"first_try,omitzero"`

	// Used is when a task last had it, or else when it came or was ordered; zero: not known.
	Used time.Time `json:"used,omitzero"`
	// Send: its project wants it uploaded, though it is no output that waits for that.
	Send bool `json:"send,omitzero"`
}

// Upload reports whether f, which is among those wanted, is to be sent rather than
// fetched.
func (f File) Upload() bool { return f.Local == FilePresent }

// Fetched reports whether a file that is not here is fetched though no task needs it: its
// project wants it stored.
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
}

// ID returns the version's key.
func (v AppVersion) ID() string { return VersionKey(v.Project, v.AppVersion) }

// Kind is the kind of processor that the version computes on.
func (v AppVersion) Kind() resource.Kind {
	if v.Coproc != "" {
		return resource.Kind(v.Coproc)
	}
	return resource.CPU
}

// Usage is what a task of the version uses of the processors.
func (v AppVersion) Usage() resource.Usage {
	u := resource.Usage{CPUs: v.AvgNCPUs}
	if v.Coproc != "" {
		u.CPUs = cmp.Or(u.CPUs, 1)
		u.Coproc = &resource.Coproc{Kind: v.Kind(), Count: v.CoprocCount, Memory: int64(v.GPURAM)}
	}
	return u
}

// Speed is how many operations a second the version is expected to do on a
// computer of which one CPU does so many.
func (v AppVersion) Speed(cpu float64) float64 {
	flops := v.Flops
	if flops <= 0 {
		flops = cpu * max(v.AvgNCPUs, 1)
		if u := v.Usage(); u.Coproc != nil {
			flops += cpu * 10 * u.Devices() // as BOINC's client takes it
		}
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
	Project           string     `json:"project,omitzero"`
	protocol.Workunit `json:"-"` // on disk: see ondisk.go
}

// A Result is a workunit's instance on this host.
type Result struct {
	Project         string               `json:"project,omitzero"`
	protocol.Result `json:"-"`           // on disk: see ondisk.go
	State           protocol.ClientState `json:"state,omitzero"`
	Version         string               `json:"version,omitzero"` // key of its app version
	Slot            int                  `json:"slot,omitzero"`    // NoSlot, or the folder it runs in or will resume in

	Received  time.Time `json:"received,omitzero"`
	Started   time.Time `json:"started,omitzero"`   // first start; zero: never started
	Completed time.Time `json:"completed,omitzero"` // nothing left to compute; zero: not yet

	ExitStatus int           `json:"exit_status,omitzero"`
	Message    string        `json:"message,omitzero"` // what went wrong, in one line, as its project is told
	Cause      Cause         `json:"cause,omitzero"`   // how it failed, if that cannot be told by Message
	Stderr     string        `json:"stderr,omitzero"`
	CPUTime    time.Duration `json:"cpu_time,omitzero"`
	Elapsed    time.Duration `json:"elapsed,omitzero"`
	PeakRSS    int64         `json:"peak_rss,omitzero"`  // bytes
	PeakSwap   int64         `json:"peak_swap,omitzero"` // bytes of virtual memory
	PeakDisk   int64         `json:"peak_disk,omitzero"` // bytes

	Checkpoint Checkpoint `json:"checkpoint,omitzero"`
	Suspended  bool       `json:"suspended,omitzero"`  // by the volunteer
	AbortAt    time.Time  `json:"abort_at,omitzero"`   // it is aborted then, unless that is taken back; zero: not at all
	Urgent     bool       `json:"urgent,omitzero"`     // its deadline was in danger when last looked at
	NotBefore  time.Time  `json:"not_before,omitzero"` // it is started again no earlier: its application asked, it could not be started, or it is a suspect
	Obstacle   Cause      `json:"obstacle,omitzero"`   // why NotBefore; zero: not known

	Live      bool      `json:"live,omitzero"`       // it may have a process
	LastStart time.Time `json:"last_start,omitzero"` // of its process
	Crashes   int       `json:"crashes,omitzero"`    // of the agent while it ran, since it last ran for long
	SetAside  bool      `json:"set_aside,omitzero"`  // until a person resumes it: it may bring the agent down

	ReadyToReport bool `json:"ready_to_report,omitzero"`
}

// NoSlot says that a result has no slot.
const NoSlot = -1

// A Checkpoint is how far a result is certain to be.
type Checkpoint struct {
	CPUTime  time.Duration `json:"cpu_time,omitzero"`
	Elapsed  time.Duration `json:"elapsed,omitzero"`
	Fraction float64       `json:"fraction,omitzero"`
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
