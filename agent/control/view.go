package control

import (
	"time"

	"github.com/starling-grid/starling/reason"
)

// A Status is the state of the agent, at one instant.
type Status struct {
	Running bool      `json:"running"`        // an agent answered (false: read from its files)
	Host    string    `json:"host,omitempty"` // name of the computer ("" if unknown)
	Version string    `json:"version"`
	PID     int       `json:"pid,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	DataDir string    `json:"data_dir"`
	CPUs    int       `json:"cpus"`              // that may be used
	Bounded string    `json:"bounded,omitempty"` // limits that the system itself enforces for each task, by control groups
	Coprocs []string  `json:"coprocs,omitempty"` // coprocessors that tasks may use: "2 NVIDIA GPUs"
	// Virtualization lists the programs that may run virtual machines and containers for tasks:
	// "Podman 4.3.1". VirtualizationFaults are the reasons why installed ones cannot.
	Virtualization       []string    `json:"virtualization,omitempty"`
	VirtualizationFaults []string    `json:"virtualization_faults,omitempty"`
	Images               bool        `json:"images,omitempty"`       // tasks can run in container images
	ImagesFault          string      `json:"images_fault,omitempty"` // why they cannot
	ImagesCure           string      `json:"images_cure,omitempty"`
	GPUs                 []GPU       `json:"gpus,omitempty"`         // those whose sensors can be read
	Presence             string      `json:"presence,omitempty"`     // whether the computer is in use, with the source of that, "" if unknown
	Helpers              []string    `json:"helpers,omitempty"`      // the sessions whose helpers report input
	Compute              string      `json:"compute,omitempty"`      // the reason why tasks may not run now, "" if they may
	ComputeCode          reason.Code `json:"compute_code,omitempty"` // that as a code
	ComputeCure          string      `json:"compute_cure,omitempty"` // the remedy
	NotSaved             string      `json:"not_saved,omitempty"`    // why the agent cannot save its state
	NotSavedCure         string      `json:"not_saved_cure,omitempty"`
	Network              string      `json:"network,omitempty"` // why the network is not used now
	NetworkCure          string      `json:"network_cure,omitempty"`
	// ComputeDespite and NetworkDespite are why the preferences would not allow it, where the
	// mode always does.
	ComputeDespite string    `json:"compute_despite,omitempty"`
	NetworkDespite string    `json:"network_despite,omitempty"`
	Drain          *Drain    `json:"drain,omitempty"` // nil if none is in progress
	Powers         []Power   `json:"powers,omitempty"`
	RunMode        string    `json:"run_mode"` // always, auto or never
	NetMode        string    `json:"network_mode"`
	Times          Times     `json:"times"`
	Unsaved        float64   `json:"unsaved_seconds"` // computing since the last checkpoints of all tasks: the most that a shutdown now would lose
	Projects       []Project `json:"projects"`
	Tasks          []Task    `json:"tasks"`
	Transfers      []Xfer    `json:"transfers"`
	Complaints     []string  `json:"complaints,omitempty"` // faults of the files that people write
	NoEffect       []string  `json:"no_effect,omitempty"`  // preferences that are set but have no effect on this computer, each with the remedy
	// Wakeups is the number of times a minute that the process has woken up unasked since its start, by cause.
	Wakeups  map[string]float64 `json:"wakeups_per_minute,omitempty"`
	Achieved *Achieved          `json:"achieved,omitempty"` // in the last days (nil: no task has ended in them)
	Newer    *Release           `json:"newer,omitempty"`    // a newer version of the program, if one is known
	Manager  *Manager           `json:"manager,omitempty"`  // the account manager that is followed
	Notices  []Notice           `json:"notices,omitempty"`  // the newest of what projects announced, newest first
	Problems []Problem          `json:"problems,omitempty"` // most important first
	TrayIcon bool               `json:"tray_icon"`          // the panel of a desktop shows one
}

// A Power is a number from outside the computer on which computing depends: [[power]] in
// starling.toml.
type Power struct {
	Name   string  `json:"name"`
	Number float64 `json:"number"` // as last read
	Unit   string  `json:"unit,omitempty"`
	Limit  float64 `json:"limit"`
	Known  bool    `json:"known"` // the number can be relied on
	Text   string  `json:"text"`
	Wrong  bool    `json:"wrong,omitempty"` // it could not be read last time
}

// A Manager is the account manager that the agent follows.
type Manager struct {
	URL         string      `json:"url"`
	Name        string      `json:"name"`
	Login       string      `json:"login"`
	UserName    string      `json:"user_name,omitempty"`
	LastContact time.Time   `json:"last_contact,omitzero"`
	NextContact time.Time   `json:"next_contact,omitzero"`
	Trouble     string      `json:"trouble,omitempty"` // why the last contact failed
	TroubleCode reason.Code `json:"trouble_code,omitempty"`
	TroubleCure string      `json:"trouble_cure,omitempty"`
	Messages    []string    `json:"messages,omitempty"` // of the last reply
}

// Achieved has the results of the last days.
type Achieved struct {
	Days     int     `json:"days"` // how many, UTC, today counting as one
	Finished int     `json:"finished"`
	Failed   int     `json:"failed"`
	Aborted  int     `json:"aborted"`
	CPUTime  float64 `json:"cpu_seconds"` // of all of these tasks
	Energy           // likewise
}

// A Release is a version of the program.
type Release struct {
	Version string `json:"version"`
	URL     string `json:"url"` // of a page with instructions to get it
}

// Times are parts of the time, averaged over some ten days.
type Times struct {
	On        float64 `json:"on"`
	Active    float64 `json:"active"`    // of that, computing was allowed
	Connected float64 `json:"connected"` // of that, the network could be used
}

// A Refused is one reason for which a project sent no work.
type Refused struct {
	Code reason.Code `json:"code"` // see docs/situations.md
	App  string      `json:"app,omitempty"`
	Text string      `json:"text"`
	Cure string      `json:"cure,omitempty"`
}

// A Project is a project that the agent is attached to.
type Project struct {
	MasterURL    string      `json:"master_url"`
	Name         string      `json:"name"`
	UserName     string      `json:"user_name,omitempty"`
	HostID       int64       `json:"host_id"`
	Share        float64     `json:"resource_share"`
	Debt         float64     `json:"debt_cpu_seconds"` // owed to it (below 0 it owes)
	UserCredit   float64     `json:"user_total_credit"`
	HostCredit   float64     `json:"host_total_credit"`
	UserRAC      float64     `json:"user_expavg_credit"` // recent average credit, a day
	HostRAC      float64     `json:"host_expavg_credit"`
	CPUTime      float64     `json:"cpu_seconds"` // that it got here, of tasks gone and at hand
	Energy                   // likewise
	Tasks        int         `json:"tasks"`
	LastContact  time.Time   `json:"last_contact,omitzero"`
	NextContact  time.Time   `json:"next_contact,omitzero"` // not before
	Trouble      string      `json:"trouble,omitempty"`     // the cause of trouble with it, in one sentence
	TroubleCode  reason.Code `json:"trouble_code,omitempty"`
	TroubleCure  string      `json:"trouble_cure,omitempty"`   // the remedy
	TroubleFull  string      `json:"trouble_detail,omitempty"` // the error as the program met it
	TroubleSince time.Time   `json:"trouble_since,omitzero"`
	Failures     int         `json:"failures,omitempty"`
	Work         string      `json:"work"`      // the decision about requesting work
	WorkCode     reason.Code `json:"work_code"` // the same as a reason code
	WorkCure     string      `json:"work_cure,omitempty"`
	Refused      []Refused   `json:"refused,omitempty"` // why the last request for work brought none, by code
	Failing      *Failing    `json:"failing,omitempty"` // its last tasks failed (nil: not so)
	Notices      []string    `json:"notices,omitempty"`
	Initialized  bool        `json:"initialized"`
	Asked        bool        `json:"update_requested,omitempty"` // a person wants it contacted, which happens as soon as allowed
	InContact    bool        `json:"in_contact,omitempty"`       // it is being contacted just now
	Disconnected bool        `json:"detaching,omitempty"`
	Ending       string      `json:"ending,omitempty"` // that its tasks are going to be given up: why, when, and how to keep them
	Suspended    bool        `json:"suspended,omitempty"`
	NoMoreWork   bool        `json:"no_more_work,omitempty"`
	Own          []string    `json:"own_applications,omitempty"` // the volunteer's own programs that compute its tasks (app_info.xml), nil if it uses the project's
	Manager      string      `json:"manager,omitempty"`          // address of the account manager that it is of
	Storage      Storage     `json:"storage"`
	GUIURLs      []GUIURL    `json:"gui_urls,omitempty"` // its pages
}

// A GUIURL is a link to a page of a project, of http or https.
type GUIURL struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	URL         string `json:"url"`
}

// Storage describes the files that a project stores here between its tasks: its sticky files.
type Storage struct {
	Files    int           `json:"files"`
	Bytes    int64         `json:"bytes"`
	Limit    int64         `json:"limit_bytes,omitempty"` // of this project (0: no separate limit)
	Problems []string      `json:"problems,omitempty"`    // files that it wants stored or uploaded and that are not, each with the reason
	Removed  []RemovedFile `json:"removed,omitempty"`     // the last that were removed, oldest first
}

// RemovedFile is a stored file that was removed.
type RemovedFile struct {
	Name  string    `json:"name"`
	Bytes int64     `json:"bytes"`
	At    time.Time `json:"at"`
	Code  string    `json:"code"`
	Why   string    `json:"why"`
}

// A Failing means that a project's last tasks failed here.
type Failing struct {
	Count  int         `json:"count"` // since one was good
	Task   string      `json:"task"`  // the last of them
	Code   reason.Code `json:"code"`
	Text   string      `json:"text"`             // all of it, in one sentence
	Cure   string      `json:"cure"`             // the remedy
	Stderr string      `json:"stderr,omitempty"` // the last lines that the application wrote
	At     time.Time   `json:"at,omitzero"`
}

// A Task is a result on this host.
type Task struct {
	Name       string    `json:"name"`
	Project    string    `json:"project"`
	App        string    `json:"app"`
	AppTitle   string    `json:"app_title,omitempty"` // as the project calls the application for people
	State      string    `json:"state"`
	Running    bool      `json:"running"`
	Slot       int       `json:"slot"`
	Fraction   float64   `json:"fraction_done"`
	CPUTime    float64   `json:"cpu_seconds"`
	Elapsed    float64   `json:"elapsed_seconds"`
	Energy               // so far
	Remaining  float64   `json:"remaining_seconds"` // estimated
	Deadline   time.Time `json:"report_deadline,omitzero"`
	Late       float64   `json:"late_seconds,omitempty"`    // it will miss its deadline by so much at the least (0: it can be in time)
	Unsaved    float64   `json:"unsaved_seconds,omitempty"` // computing since its last checkpoint
	ExitStatus int       `json:"exit_status,omitempty"`
	Suspended  bool      `json:"suspended,omitempty"`       // by the volunteer
	AbortAt    time.Time `json:"abort_at,omitzero"`         // it is aborted then, unless it is resumed
	Ready      bool      `json:"ready_to_report,omitempty"` // nothing is left to do for it here
	Failed     bool      `json:"failed,omitempty"`          // Ready, and it did not end well
	Why        string    `json:"why"`                       // why it is not further
	Cure       string    `json:"cure,omitempty"`            // the remedy for that
	LateCure   string    `json:"late_cure,omitempty"`       // and about its deadline
	PID        int       `json:"pid,omitempty"`
	// Resources lists the processors that it uses: "0.2 CPUs + 1 NVIDIA GPU (device 0)". It is set
	// for a task on coprocessors.
	Resources string `json:"resources,omitempty"`
}

// An Xfer is a file on its way.
type Xfer struct {
	Name    string    `json:"name"`
	Project string    `json:"project"`
	Upload  bool      `json:"upload"`
	Active  bool      `json:"active"`
	Bytes   int64     `json:"bytes"` // transferred by the current attempt
	Size    int64     `json:"size"`  // 0 unknown
	NextTry time.Time `json:"next_try,omitzero"`
	Silent  float64   `json:"silent_seconds,omitempty"` // for which no data has moved, if it is a minute or more
	// Remaining is the minimum time for the rest under max_bytes_sec_down or max_bytes_sec_up. It
	// is 0 without such a limit, or if the transfer is not in progress.
	Remaining float64 `json:"remaining_seconds,omitempty"`
	// Trouble is why the last attempt failed, in one sentence, or "" if it did not.
	Trouble       string      `json:"trouble,omitempty"`
	TroubleCode   reason.Code `json:"trouble_code,omitempty"`
	TroubleCure   string      `json:"trouble_cure,omitempty"`   // the remedy
	TroubleDetail string      `json:"trouble_detail,omitempty"` // the error as the program met it
}
