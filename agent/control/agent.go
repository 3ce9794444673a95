package control

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// ErrNoTask means that no task has the name.
var ErrNoTask = errors.New("no such task")

// An Agent has the methods of the agent that the control interface needs. They may be called
// concurrently. Errors are sentences for people.
type Agent interface {
	Viewer
	Reloader
	Steerer
	Drainer
	Logs
	Attacher
	Editor
	ManagerFollower
}

// A Viewer shows the agent's activities and their reasons.
type Viewer interface {
	Status(ctx context.Context) (Status, error)
	// Decision makes a pass of the policies now and returns it, with all reasons.
	Decision(ctx context.Context) (decide.Record, error)
	// Prefs returns the computing preferences in force.
	Prefs(ctx context.Context) (prefs.Effective, error)
	Historian
	Noticer
}

// A Reloader reads the account and preference files again and returns their faults.
type Reloader interface {
	Reload(ctx context.Context) error
}

// A Steerer carries out a person's requests.
type Steerer interface {
	// SteerProject returns settings.ErrNotAttached for a project that is not.
	SteerProject(ctx context.Context, masterURL string, what ProjectAction) error
	// SteerTask finds the task by its name alone if project is "". It returns ErrNoTask if it does
	// not exist.
	SteerTask(ctx context.Context, project, name string, what TaskAction) error
	ModeSetter
}

// A ModeSetter sets when the computer may compute, or use the network.
type ModeSetter interface {
	// SetMode sets the mode of computing or of the network, until changed or for a
	// time.
	SetMode(ctx context.Context, what Activity, kind prefs.ModeKind, d time.Duration) error
}

// A TaskRef names a task.
type TaskRef struct {
	Project string `json:"project"` // its master URL
	Task    string `json:"task"`
}

// A TasksSteerer carries out a person's request for many tasks at once.
type TasksSteerer interface {
	// SteerTasks suspends tasks, resumes them or has them aborted soon, all with one write
	// to disk, and returns how many. Those that have finished or are gone are left out.
	SteerTasks(ctx context.Context, tasks []TaskRef, what TaskAction) (int, error)
}

// A TransferSteerer tries a transfer again now, or gives its file up.
type TransferSteerer interface {
	SteerTransfer(ctx context.Context, project, name string, abort bool) error
}

// Logs keeps the log since the agent's start.
type Logs interface {
	// Log returns the kept lines with numbers above after, or for a negative number the last line
	// alone.
	Log(ctx context.Context, after int) (Log, error)
}

// An Attacher makes account files and removes them. The errors are
// settings.ErrAttached and settings.ErrNotAttached.
type Attacher interface {
	Attach(ctx context.Context, masterURL string, key protocol.Authenticator) error
	Detach(ctx context.Context, masterURL string) error
}

// Accounts finds and creates people's accounts at projects.
type Accounts interface {
	ProjectConfig(ctx context.Context, masterURL string) (*protocol.ProjectConfig, error)
	// LookupAccount and CreateAccount take BOINC's hash of a password.
	LookupAccount(ctx context.Context, masterURL, email, passwdHash string) (protocol.Authenticator, error)
	// consent means that the person accepted the project's terms of use.
	CreateAccount(ctx context.Context, masterURL, email, passwdHash, name string, consent bool) (protocol.Authenticator, error)
}

// A ManagerFollower follows an account manager.
type ManagerFollower interface {
	// JoinManager takes BOINC's hash of a password.
	JoinManager(ctx context.Context, managerURL, login, passwdHash string) error
	// SyncManager asks the manager now.
	SyncManager(ctx context.Context) error
	// LeaveManager stops following it, and with detach detaches the projects that it attached.
	LeaveManager(ctx context.Context, detach bool) error
}
