// Package core is shared by the components of an agent. It has the durable state, the content of
// the files that people write, the computer's properties, and the way into the loop.
//
// One goroutine, the loop, owns all of it. Other goroutines post events and leave the rest alone,
// except for Post, Do, See, Log, Ctx and the fields that are set once.
package core

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	mrand "math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// Names below the data directory.
const (
	StateFile   = "state.db"
	ProjectsDir = "projects"
	SlotsDir    = "slots"
)

// A Core is of one agent.
type Core struct {
	Dir     string // the data directory, absolute
	Version string // of the program, for people
	Log     *slog.Logger
	Since   time.Time     // the agent's start
	Tick    time.Duration // the longest that the loop sleeps
	Modules bool          // WebAssembly applications can be run
	Images  bool          // container images can be run
	Rand    *mrand.Rand
	DB      *state.DB
	Ctx     context.Context // ends with the loop

	// What people wrote.
	Settings       settings.Settings
	Layers         []prefs.Layer // of the preference files
	Prefs          prefs.Effective
	Accounts       map[string]settings.Account // by master URL
	Faults         error                       // of these files
	SettingsFaults error                       // of those, starling.toml's

	Host     protocol.HostInfo // the computer
	TaskCPUs []int             // the numbers of its CPUs on which tasks may run (nil: all)
	Coprocs  gpus.Set          // its coprocessors that tasks may use
	Last     decide.Decision   // the last pass
	// SaveAgain is until when nothing is started, since the state could not be saved.
	SaveAgain time.Time

	events chan Event
	looks  chan func()
	end    context.CancelFunc
}

// Open makes a core's way into the loop. The caller sets the other fields.
func (c *Core) Open() {
	c.events, c.looks = make(chan Event, 256), make(chan func())
	c.Ctx, c.end = context.WithCancel(context.Background())
}

// End is for the loop: from now on no requests are accepted.
func (c *Core) End() { c.end() }

// saveAgain is the time after a failed save during which no task is started: its end could not be
// recorded either.
const saveAgain = 10 * time.Second

// Save makes a change durable. If it fails, nothing has changed, the same change will be tried
// again, and the volunteer is informed.
func (c *Core) Save(change func(tx *state.Tx)) bool {
	if err := c.DB.Update(change); err != nil {
		c.Log.Error("cannot save the state; trying again within a minute; nothing is lost", "err", err)
		c.SaveAgain = time.Now().Add(saveAgain)
		return false
	}
	return true
}

// PutProject saves a project's record.
func (c *Core) PutProject(p state.Project) bool {
	return c.Save(func(tx *state.Tx) { c.DB.Projects.Put(tx, p.MasterURL, p) })
}

// Ending returns the planned ending of a project.
func (c *Core) Ending(project string) state.Ending {
	p, _ := c.DB.Projects.Get(project)
	return p.Ending
}

// Platforms returns the platforms whose programs can be run here, the computer's own first.
func (c *Core) Platforms() (primary string, others []string) {
	primary, others = hostinfo.Platform()
	if c.Images {
		others = append(others, protocol.ImagePlatform(primary))
	}
	if c.Modules {
		others = append(others, wasmhost.Platform)
	}
	return primary, others
}

// CPUs returns the number of CPUs that may be used while the computer is in use.
func (c *Core) CPUs() int { return c.Prefs.CPUs(c.Host.NCPUs, true) }

// Stated returns the time that a result of so many operations computes, by the server's statement
// and the speed of this computer.
func (c *Core) Stated(version string, fpops float64) time.Duration {
	v, _ := c.DB.Versions.Get(version)
	return v.Stated(fpops, c.Host.Fpops)
}

// ShareFraction returns a project's resource share among all.
func (c *Core) ShareFraction(project string) float64 {
	sum := 0.0
	for _, acc := range c.Accounts {
		sum += acc.ResourceShare
	}
	if sum <= 0 {
		return 1
	}
	return c.Accounts[project].ResourceShare / sum
}

// ProjectDir returns the folder of a project's files.
func (c *Core) ProjectDir(project string) string {
	return filepath.Join(c.Dir, ProjectsDir, protocol.EscapeURL(project))
}

// OpenProject opens that folder, making it if it is not there.
func (c *Core) OpenProject(project string) (*os.Root, error) {
	dir := c.ProjectDir(project)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.OpenRoot(dir)
}
