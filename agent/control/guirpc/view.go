package guirpc

import (
	"context"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// An Agent has the methods of the agent that the calls need. They may be called concurrently.
// Errors are sentences that tools show to people.
type Agent interface {
	Viewer
	Changer
	PrefsChanger
	control.Steerer
	control.TransferSteerer
	control.Attacher
	control.Accounts
	control.ManagerFollower
	control.Logs
	control.Reloader
	Benchmark(ctx context.Context) error
	Quit()
}

// A Viewer shows all that there is to see.
type Viewer interface {
	Tools(ctx context.Context) (view.Tools, error)
}

// A Changer writes down what tools may change.
type Changer interface {
	// ChangeSettings takes effect with ReloadSettings.
	ChangeSettings(ctx context.Context, change func(*settings.Settings)) error
	ReloadSettings(ctx context.Context) error
	ChangeAccount(ctx context.Context, masterURL string, change func(*settings.Override)) error
	// ChangeHost changes the properties of the computer that tools may change, at once: Product,
	// Language and GPUMode.
	ChangeHost(ctx context.Context, change func(*state.Host)) error
}

// A PrefsChanger replaces what tools changed of the preferences.
type PrefsChanger interface {
	SetPrefsOverride(ctx context.Context, l prefs.Layer) error
}
