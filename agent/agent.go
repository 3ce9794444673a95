// Package agent is the event loop that combines the parts. One goroutine owns all state. It reads
// the situation, asks the policies what to do, saves the intent and makes the components act. They
// report back with events.
//
// The policy packages decide. The shells do input and output. Between them are the components, each
// in a folder:
//
//	core   what they share: the state, what people wrote, the way into the loop
//	life   a result's life: its application, its end
//	files  what is fetched, sent and kept
//	talk   conversations with projects and account managers
//	rules  the files that people edit, and which projects they leave
//	usage  what was used, of CPUs, time and disk
//	power  numbers from outside on which computing depends
//	api    what people and their tools ask; view is what they are shown
//
// To embed an agent in a program: New with a data directory, Run until its context ends, and the
// methods of its API meanwhile (Attach, Status, SteerProject and so on). Of the settings and files,
// only those in the data directory are read.
//
// This package has the agent's construction (agent.go, computer.go, host.go, devices.go, proxy.go),
// its loop (loop.go), the pass of the policies (pass.go) and the copies of the state (keep.go).
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/starling-grid/starling/agent/api"
	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/files"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/agent/power"
	"github.com/starling-grid/starling/agent/rules"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/talk"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// Config is the configuration of an agent.
type Config struct {
	DataDir      string
	Log          *slog.Logger
	ExitWhenIdle bool   // Run returns when nothing is left to do
	Version      string // of the program, for people
	// Transport carries HTTP. If it is nil, the agent makes one that uses the settings' proxy.
	Transport http.RoundTripper
	// Sensors report whether the computer is in use and so on. If it is nil, all of that is
	// unknown.
	Sensors usage.Sensors
	// Detect asks the drivers of coprocessors. If it is nil, only declared coprocessors are used.
	Detect func(context.Context) gpus.Report
	// Energy reads the computer's counters of energy. If it is nil, energy is not measured.
	Energy usage.EnergyMeter
	// Meter reads the sensors of GPUs. If it is nil, their readings are unknown.
	Meter usage.Meter
	// Confine keeps applications away from other files and programs. The program must call
	// sandbox.Main first of all.
	Confine bool
	// Modules has WebAssembly applications run. The program must call
	// wasmhost.Main early.
	Modules bool
	// Watch makes the agent read files that people edit again when they change.
	Watch bool
	// Computer, if it is not nil, replaces this computer.
	Computer *Computer
	// Tick is the maximum time that the loop sleeps, the maximum age of the measurement of the
	// disk, and the amount of debts and uptime that a kill may cost. The default of a minute is for
	// laptops that sleep and clocks that jump. In virtual time, longer ticks cost less.
	Tick time.Duration
}

// An Agent runs in one data directory. Only New, Run and Close are reserved for its creator. The
// embedded API may be called from anywhere while Run runs.
type Agent struct {
	*api.API

	cfg      Config
	core     *core.Core
	life     *life.Life
	files    *files.Files
	talk     *talk.Talk
	rules    *rules.Rules
	ledger   *usage.Ledger
	uptime   *usage.Uptime
	timeline *usage.Timeline
	disk     *usage.Disk
	presence *usage.Presence
	powers   *power.Powers

	logFlags *logflag.Switches
	way      proxied // how projects are reached
	kept     keeping
	bounded  string               // limits that the system enforces for each task
	noImages executor.ImagesError // why tasks cannot run in container images here
	found    gpus.Report          // by the drivers

	suspended suspended

	quitting <-chan struct{}
}

// New opens the data directory, making it if it is not there. It returns
// state.ErrInUse when another agent runs in it.
func New(cfg Config) (_ *Agent, err error) {
	if cfg.DataDir, err = filepath.Abs(cfg.DataDir); err != nil {
		return nil, err
	}
	dir := cfg.DataDir
	for _, d := range []string{"", core.ProjectsDir, core.SlotsDir, settings.AccountsDir} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
	}
	set, wrong, err := settings.InForce(dir, time.Now())
	if err != nil {
		return nil, err
	}
	if wrong != nil {
		cfg.Log.Error("some settings are invalid; the previous values stay in effect", "err", wrong)
	}
	a := &Agent{cfg: cfg, logFlags: logflag.New(set.LogFlags)}
	journal := control.NewJournal(cfg.Log.Handler(), control.MaxMessages)
	a.core = &core.Core{
		Dir: dir, Version: cfg.Version, Log: slog.New(logflag.Handler(journal, a.logFlags)), Since: time.Now(),
		Tick: cmp.Or(cfg.Tick, time.Minute), Modules: cfg.Modules, Rand: cfg.rand(), Settings: set, SettingsFaults: wrong,
	}
	a.core.Open()
	if cfg.Transport == nil {
		if err := a.way.set(set); err != nil {
			return nil, err
		}
		a.cfg.Transport = &a.way
	}
	if a.core.DB, err = state.Open(filepath.Join(dir, core.StateFile)); err != nil {
		return nil, err
	}
	if err := a.join(journal); err != nil {
		return nil, errors.Join(err, a.core.DB.Close())
	}
	return a, nil
}

// join makes the components and connects them with each other.
func (a *Agent) join(journal *control.Journal) (err error) {
	c := a.core
	a.ledger, a.uptime, a.disk = &usage.Ledger{Core: c}, &usage.Uptime{Core: c}, &usage.Disk{Core: c}
	a.timeline = &usage.Timeline{Core: c}
	a.powers = &power.Powers{
		Reader:  power.Reader{HTTP: &http.Client{Transport: a.cfg.Transport}, Root: os.Geteuid() == 0},
		Changed: func() { c.Post(usage.Sensed{}) },
	}
	a.presence = &usage.Presence{Core: c, Sensors: a.cfg.Sensors, Powers: a.powers.Denials}
	a.presence.Gauge.Meter = a.cfg.Meter
	a.ledger.Energy = &usage.Energy{Core: c, Meter: a.cfg.Energy, Gauge: &a.presence.Gauge, Carbon: a.powers.Carbon}
	a.files = &files.Files{Core: c, Presence: a.presence, Disk: a.disk}
	a.life = &life.Life{Core: c, Files: a.files, Ledger: a.ledger, Presence: a.presence, Disk: a.disk}
	a.files.Attempted, a.files.Forgotten = a.life.TellUpload, a.life.KeepImages
	a.rules = &rules.Rules{Core: c, Life: a.life, Files: a.files, Presence: a.presence}
	a.talk = &talk.Talk{Core: c, Life: a.life, Files: a.files, Rules: a.rules, Ledger: a.ledger, Uptime: a.uptime, Disk: a.disk}
	a.rules.Talk = a.talk
	a.files.Open()
	a.life.Open()
	a.talk.Open()
	if a.cfg.Confine {
		if a.life.LastWords, err = life.CatchCrashes(c.Dir); err != nil {
			c.Log.Warn("crashes cannot be recorded; the next start would not detect one", "err", err)
		}
	}
	if err := settings.KeepSettings(c.Dir, time.Now()); err != nil {
		c.Log.Warn("settings cannot be backed up; if the file has errors at the next start, the defaults will be used", "err", err)
	}
	if a.life.Exec, err = a.applications(); err != nil {
		return err
	}
	noCPUs := ""
	if a.cfg.Computer == nil {
		c.TaskCPUs, noCPUs = chooseCPUs(c.Settings.CPUs, hostinfo.UsableCPUs(), hostinfo.CPUKinds())
	}
	if err := a.knowHost(); err != nil {
		return err
	}
	a.knowDevices(c.Ctx)
	unusable := a.knowVirtualization(c.Ctx)
	primary, _ := hostinfo.Platform()
	client := httpclient.New(httpclient.Logged(a.rules.Speaking(a.cfg.Transport), c.Log))
	program := fmt.Sprintf("BOINC client (%s %d.%d.%d) (Starling %s)", primary,
		protocol.CompatVersion.Major, protocol.CompatVersion.Minor, protocol.CompatVersion.Release, c.Version)
	a.files.Xfer = &filexfer.Client{HTTP: client, UserAgent: program, Down: filexfer.NewPace(), Up: filexfer.NewPace()}
	a.talk.Sched = &schedulerop.Client{HTTP: client, UserAgent: program}

	quitting := make(chan struct{})
	a.quitting = quitting
	a.API = api.New(api.Parts{
		Core: c, Life: a.life, Files: a.files, Talk: a.talk, Rules: a.rules, Ledger: a.ledger, Uptime: a.uptime, Disk: a.disk, Presence: a.presence, Powers: a.powers,
		Journal: journal, Bounded: a.bounded, Unusable: unusable, NoImages: a.noImages, NoCPUs: noCPUs, Pass: a.decide, Adopt: a.adopt, Quit: sync.OnceFunc(func() { close(quitting) }),
	})
	return nil
}

// adopt applies the settings that may change while the agent runs.
func (a *Agent) adopt(s settings.Settings) error {
	if err := a.way.set(s); err != nil {
		return err
	}
	before := a.core.Settings
	a.core.Settings.Adopt(s)
	if !before.SameGPUs(a.core.Settings) {
		go a.FindDevices(a.core.Ctx)
	}
	if !before.SamePowers(a.core.Settings) {
		a.powers.Use(a.core.Ctx, a.core.Settings.Powers)
	}
	a.logFlags.Set(a.core.Settings.LogFlags)
	return nil
}

// Close gives back the data directory of an agent that was never run.
func (a *Agent) Close() error {
	a.core.End()
	return a.core.DB.Close()
}
