package guirpc

import (
	"context"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// An Agent is what the calls need of the agent. Its methods may be called
// concurrently; errors are sentences that tools show to people.
type Agent interface {
	View(ctx context.Context) (View, error)
	Messages(after int) []Message
	SteerProject(ctx context.Context, masterURL string, what control.ProjectAction) error
	SteerTask(ctx context.Context, project, name string, what control.TaskAction) error
	SteerTransfer(ctx context.Context, project, name string, abort bool) error
	SetMode(ctx context.Context, network bool, kind prefs.ModeKind, d time.Duration) error
	Attach(ctx context.Context, masterURL string, key protocol.Authenticator) error
	Detach(ctx context.Context, masterURL string) error
	ProjectConfig(ctx context.Context, masterURL string) (*protocol.ProjectConfig, error)
	// LookupAccount and CreateAccount take BOINC's hash of a password.
	LookupAccount(ctx context.Context, masterURL, email, passwdHash string) (protocol.Authenticator, error)
	CreateAccount(ctx context.Context, masterURL, email, passwdHash, name string) (protocol.Authenticator, error)
	// ChangeSettings and ChangeAccount write down what tools may change; the former
	// takes effect with ReloadSettings.
	ChangeSettings(ctx context.Context, change func(*settings.Settings)) error
	ReloadSettings(ctx context.Context) error
	ChangeAccount(ctx context.Context, masterURL string, change func(*settings.Override)) error
	// ChangeHost changes what tools may of what is remembered of the computer, at
	// once: Product, Language and GPUMode.
	ChangeHost(ctx context.Context, change func(*state.Host)) error
	SetPrefsOverride(ctx context.Context, l prefs.Layer) error
	// JoinManager takes BOINC's hash of a password; see package agent for the errors.
	JoinManager(ctx context.Context, managerURL, login, passwdHash string) error
	SyncManager(ctx context.Context) error
	LeaveManager(ctx context.Context, detach bool) error
	Reload(ctx context.Context) error
	Benchmark(ctx context.Context) error
	Quit()
}

// A View is all that tools are shown, as of one instant.
type View struct {
	Now       time.Time
	Version   string
	Platforms []string // the first is the primary one
	DataDir   string
	Since     time.Time

	Settings settings.Settings
	Newer    control.Release // "" if none is known

	Host     protocol.HostInfo
	Times    protocol.TimeStats
	Prefs    prefs.Effective
	Web      string // preferences of a project's web site, raw
	Override prefs.Layer
	Compute  prefs.Permission
	Network  prefs.Permission
	RunMode  prefs.Mode
	NetMode  prefs.Mode
	GPUMode  prefs.Mode

	Manager   state.Manager
	Projects  []Project
	Transfers []Transfer
	Old       []OldResult
	Traffic   []state.Traffic
	DiskUsed  int64 // bytes, of everything but the projects' folders
	DiskMay   int64 // bytes that may be used in all
}

// A Project is a project with all that belongs to it.
type Project struct {
	state.Project
	Account   settings.Account
	Talking   string // with the project just now, what about; "" not
	Dir       string
	DiskUsed  int64 // bytes
	DiskShare int64 // bytes that it may take
	Apps      []protocol.App
	Versions  []protocol.AppVersion
	Units     []protocol.Workunit
	Results   []Result
}

// A Result is a result with what goes on with it.
type Result struct {
	state.Result
	Active    bool // it has a slot
	Process   bool // it has a process
	Scheduled bool // it runs
	Progress  executor.Progress
	Remaining time.Duration
	Why       string // why it does not run
	Waiting   bool   // for something of its own, which Why tells: not for a CPU, nor for computing to go on
}

// A Transfer is a file on its way.
type Transfer struct {
	state.File
	ProjectName string
	Active      bool
	Bytes       int64
	Since       time.Time
}

// An OldResult is a result that was reported within the last hour.
type OldResult struct {
	Project, Name, App string
	ExitStatus         int
	Elapsed, CPUTime   time.Duration
	Completed, Created time.Time
}

// A Message is a line of the agent's log.
type Message struct {
	Seqno    int
	Time     time.Time
	Project  string
	Priority int // 1 information, 2 for the user to act on, 3 internal error
	Text     string
}
