// Package agent is the event loop that joins the parts: one goroutine owns all
// state; it takes a look, asks the policies what to do, makes the intent
// durable and has the shells act, who report back as events.
//
// Deciding is left to the policy packages, input and output to the shells; here
// stands what happens between them in the life of a result:
//
//	facts.go      what there is to see, and showing it: package view
//	pass.go       having the policies decide, and doing as they say
//	contact.go    conversations with projects: request.go, reply.go
//	manager.go    conversations with an account manager: managed.go
//	transfers.go  which files are fetched and sent
//	advance.go    how results move from state to state
//	compute.go    starting applications and taking in how they ended
//	debts.go      what each project got and is owed
//	trickles.go   messages between applications and their projects
//	disk.go       how much disk is used, and whether that is too much
//	collect.go    forgetting what nobody needs any more
//	idle.go       whether nothing is left to do
//
// what it goes by:
//
//	accounts.go, prefs.go, settings.go   the files that people edit
//	ending.go                            projects that are detached or reset
//	presence.go, uptime.go               what the computer is like, and was
//	newer.go                             whether there is a newer version of the program
//
// and what people do: steer.go has what they and their tools ask of the agent,
// offline.go is for when none runs, and joblog.go leaves them a record.
package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	mrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/boincapi/wasmhost"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// Names below the data directory.
const (
	stateFile   = "state.db"
	projectsDir = "projects"
	slotsDir    = "slots"
)

// Config is what an agent is made of.
type Config struct {
	DataDir      string
	Log          *slog.Logger
	ExitWhenIdle bool   // Run returns when nothing is left to do
	Version      string // of the program, for people
	// Transport carries HTTP; nil means one by the settings' proxy.
	Transport http.RoundTripper
	// Sensors are asked now and then whether the computer is in use and so on; nil
	// means that nothing of the kind is known.
	Sensors Sensors
	// Confine keeps applications away from what is not theirs. The program must
	// call sandbox.Main first of all.
	Confine bool
	// Modules has WebAssembly applications run. The program must call
	// wasmhost.Main early.
	Modules bool
	// Watch has files that people edit read again when they change.
	Watch bool
	// Computer, if it is not nil, stands in for this one.
	Computer *Computer
}

// An Agent runs in one data directory. Only New and Run are for its maker;
// Status, Reload and Update may be called from anywhere while Run runs.
type Agent struct {
	cfg   Config
	log   *slog.Logger
	since time.Time

	logFlags *logflag.Switches
	way      proxied                // how projects are reached
	language atomic.Pointer[string] // in which they are asked to answer
	probed   protocol.HostInfo      // what the computer is, whatever the settings say
	rng      *mrand.Rand

	db    *state.DB
	exec  Applications
	xfer  *filexfer.Client
	sched *schedulerop.Client

	host           protocol.HostInfo
	settings       settings.Settings
	layers         []prefs.Layer // of the preference files
	prefs          prefs.Effective
	accounts       map[string]settings.Account // by master URL
	faults         error                       // of the files people write
	settingsFaults error                       // of those, starling.toml's
	kept           keeping
	// saveAgain is until when nothing is started, since the state could not be saved.
	saveAgain time.Time
	// lastWords are what an earlier agent said when it crashed; "" if it did not.
	lastWords string

	journal *control.Journal
	sizes   *folderSizes
	quit    func() // ends Run

	bounded string // what the system bounds of each task

	quitting <-chan struct{}

	events chan func()     // each runs in the loop
	looks  chan func()     // likewise, and changes nothing
	ctx    context.Context // ends with the loop
	end    context.CancelFunc

	// What follows is lost at a restart, and may be.
	talking map[string]conversation // by project, those under way
	moving  map[string]*transfer    // file key → transfer under way
	running map[string]*process     // by task: results that have a process
	letters map[string]bool         // project → applications have messages for it
	asked   map[string]bool         // project → the user wants it contacted now
	last    decide.Decision
	sensed  sensing
	debts   ledger
	old     []view.OldResult
	up      uptime
	disk    diskUse
	newer   newer
	manages bool // an account manager is being contacted
	stale   bool // something may be left that nobody needs
	// advanced is db.Changes() when no result could go further.
	advanced uint64
}

// New opens the data directory, making it if it is not there. It returns
// state.ErrInUse when another agent runs in it.
func New(cfg Config) (*Agent, error) {
	dir, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	cfg.DataDir = dir
	for _, d := range []string{"", projectsDir, slotsDir, settings.AccountsDir} {
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
	j := control.NewJournal(cfg.Log.Handler(), control.MaxMessages)
	flags := logflag.New(set.LogFlags)
	cfg.Log = slog.New(logflag.Handler(j, flags))
	if idle := set.IdleFlags(); len(idle) > 0 {
		cfg.Log.Warn("log flags of BOINC's that have no effect here", "flags", idle)
	}
	quit := make(chan struct{})
	a := &Agent{
		cfg: cfg, log: cfg.Log, logFlags: flags, since: time.Now(), journal: j, sizes: newFolderSizes(),
		quitting: quit, quit: sync.OnceFunc(func() { close(quit) }),
		rng:    cfg.rand(),
		events: make(chan func(), 256), looks: make(chan func()),
		talking: make(map[string]conversation), moving: make(map[string]*transfer),
		running: make(map[string]*process), asked: make(map[string]bool), letters: make(map[string]bool),
		stale: true, settings: set, settingsFaults: wrong,
	}
	if cfg.Transport == nil {
		if err := a.way.set(set); err != nil {
			return nil, err
		}
		cfg.Transport = &a.way
	}
	if a.db, err = state.Open(filepath.Join(dir, stateFile)); err != nil {
		return nil, err
	}
	if cfg.Confine {
		if a.lastWords, err = catchCrashes(dir); err != nil {
			cfg.Log.Warn("crashes cannot be recorded; one would not be noticed at the next start", "error", err)
		}
	}
	if err := settings.KeepSettings(dir, time.Now()); err != nil {
		a.log.Warn("settings cannot be copied; a start while they have errors would use the defaults", "err", err)
	}
	a.exec, err = a.applications()
	if err == nil {
		err = a.knowHost()
	}
	if err != nil {
		return nil, errors.Join(err, a.db.Close())
	}
	primary, _ := hostinfo.Platform()
	a.ctx, a.end = context.WithCancel(context.Background())
	client := httpclient.New(httpclient.Logged(speaking{cfg.Transport, &a.language}, cfg.Log))
	agent := fmt.Sprintf("BOINC client (%s %d.%d.%d) (Starling %s)", primary,
		protocol.CompatVersion.Major, protocol.CompatVersion.Minor, protocol.CompatVersion.Release, cfg.Version)
	a.xfer = &filexfer.Client{HTTP: client, UserAgent: agent, Down: filexfer.NewPace(), Up: filexfer.NewPace()}
	a.sched = &schedulerop.Client{HTTP: client, UserAgent: agent}
	return a, nil
}

// knowHost looks at the computer, and gives it an identity and measured speeds
// if it has none yet.
func (a *Agent) knowHost() error {
	a.host = a.cfg.probe()
	h, known := a.db.Hosts.Get(state.Self)
	machine := hostinfo.Machine()
	copied := h.Machine != "" && machine != "" && machine != h.Machine
	if !known || copied {
		var id [16]byte
		_, _ = rand.Read(id[:])
		h.CPID = hex.EncodeToString(id[:])
	}
	if !known {
		h.InstalledAt = time.Now()
	}
	if machine != "" {
		h.Machine = machine
	}
	if copied {
		a.log.Warn("the data directory was copied from another computer: this one is new to its projects, and tasks that came along are reported by it; if the other computer still runs, both compute them", "data", a.cfg.DataDir)
	}
	if h.Fpops == 0 {
		s := hostinfo.Measure()
		h.Fpops, h.Iops, h.Measured = s.Fpops, s.Iops, time.Now()
		a.log.Info("computer measured", "gflops_per_cpu", s.Fpops/1e9, "giops_per_cpu", s.Iops/1e9)
	}
	a.host.HostCPID, a.host.Fpops, a.host.Iops, a.host.Calculated = h.CPID, h.Fpops, h.Iops, h.Measured
	a.host.Membw = 1e9 // what BOINC's clients send; nothing reads it
	a.probed = a.host
	a.nameHost()
	return a.db.Update(func(tx *state.Tx) {
		a.db.Hosts.Put(tx, state.Self, h)
		for u, p := range a.db.Projects.All() {
			if copied { // the id is the other computer's
				p.HostID, p.RPCSeqno = 0, 0
				a.db.Projects.Put(tx, u, p)
			}
		}
	})
}

// Run works until ctx ends, or until nothing is left to do if so configured. It
// then stops the applications, so that they may write a checkpoint, and closes
// the data directory.
func (a *Agent) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, a.shutdown()) }()

	if err := a.exec.KillLeftovers(ctx); err != nil {
		return err
	}
	a.tellRepair()
	a.suspect(time.Now())
	a.clearSlots()
	a.findCheckpoints()
	watch := settings.Watch(a.cfg.DataDir)
	if err := a.readFiles(); err != nil {
		a.log.Error("some settings are invalid; the previous values stay in effect", "err", err)
	}
	a.log.Info("agent started", "version", a.cfg.Version, "data", a.cfg.DataDir, "cpus", a.cpus(), "projects", len(a.accounts))
	a.announce(time.Now())
	a.openLedger(time.Now())
	a.openUptime(time.Now())
	a.findTrickles()
	if a.cfg.Watch {
		go watch(a.ctx, func() { a.post(a.changed) })
	}
	if a.cfg.Sensors != nil {
		go a.sense(a.ctx)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.quitting:
			return nil
		case look := <-a.looks:
			look()
			continue
		case event := <-a.events:
			event()
			a.drain()
		case <-timer.C:
		}
		now := time.Now()
		wake := a.step(now)
		if a.cfg.ExitWhenIdle && a.idle() {
			a.log.Info("nothing left to do")
			return nil
		}
		timer.Reset(max(0, min(wake.Sub(now), a.cfg.tick())))
	}
}

// drain applies what else has been reported, so that a burst costs one pass.
func (a *Agent) drain() {
	for {
		select {
		case event := <-a.events:
			event()
		default:
			return
		}
	}
}

// step does all that can be done now and returns when to look again.
func (a *Agent) step(now time.Time) time.Time {
	w := waker{now.Add(a.cfg.tick())}
	a.detachDone()
	a.giveUp(now, &w)
	a.abortDue(now, &w)
	a.measureDisk(now, &w)
	a.advance(now)
	a.startTransfers(now, &w)
	d := a.decide(now)
	a.act(d, now)
	a.keepDebts(now)
	a.keepState(now, &w)
	a.trust(now)
	a.collect()
	a.askNewer(now, &w)
	a.followManager(now, &w)
	w.by(d.Plan.Again)
	if a.saveAgain.After(now) {
		w.by(a.saveAgain)
	}
	return w.at
}

// A waker finds the earliest of several times.
type waker struct{ at time.Time }

func (w *waker) by(t time.Time) {
	if t.Before(w.at) {
		w.at = t
	}
}

// post hands an event to the loop. After the loop has ended it is dropped: what
// it tells is found again at the next start.
func (a *Agent) post(event func()) {
	select {
	case a.events <- event:
	case <-a.ctx.Done():
	}
}

// saveAgain is how long after a failed save no task is started: its end could not be
// recorded either.
const saveAgain = 10 * time.Second

// save makes a change durable. When it cannot, nothing has changed; the same
// will be tried again, and the volunteer is told.
func (a *Agent) save(change func(tx *state.Tx)) bool {
	if err := a.db.Update(change); err != nil {
		a.log.Error("cannot save the state; is the disk full? Trying again within a minute, nothing is lost", "error", err)
		a.saveAgain = time.Now().Add(saveAgain)
		return false
	}
	return true
}

// shutdown stops what runs and closes the state.
func (a *Agent) shutdown() error {
	a.log.Info("agent stopping", "running", len(a.running))
	stopped := make(chan error, 1)
	go func() { stopped <- a.exec.Stop(context.Background()) }()
	var err error
	for waiting := true; waiting; { // applications that end now are not run again
		select {
		case look := <-a.looks:
			look()
		case event := <-a.events:
			event()
		case err = <-stopped:
			waiting = false
		}
	}
	a.drain()
	a.end()
	a.decide(time.Now())
	a.save(func(tx *state.Tx) {
		a.putDebts(tx)
		a.putTimes(tx)
	})
	if err := a.db.Keeper()(); err != nil {
		a.log.Warn("the state could not be copied", "error", err)
	}
	return errors.Join(err, a.db.Close())
}

// Close gives back the data directory of an agent that was never run.
func (a *Agent) Close() error {
	a.end()
	return a.db.Close()
}

// platforms are those whose programs can be run here, the computer's own first.
func (a *Agent) platforms() (primary string, others []string) {
	primary, others = hostinfo.Platform()
	if a.cfg.Modules {
		others = append(others, wasmhost.Platform)
	}
	return primary, others
}

// cpus is how many CPUs may be used while the computer is in use.
func (a *Agent) cpus() int { return a.prefs.CPUs(a.host.NCPUs, true) }

// projectDir is where a project's files lie.
func (a *Agent) projectDir(project string) string {
	return filepath.Join(a.cfg.DataDir, projectsDir, protocol.EscapeURL(project))
}

// openProject opens that folder, making it if it is not there.
func (a *Agent) openProject(project string) (*os.Root, error) {
	dir := a.projectDir(project)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.OpenRoot(dir)
}
