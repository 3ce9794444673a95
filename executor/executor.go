// Package executor runs results in slots: it fills slots/N, starts the application, speaks BOINC's
// application interface with it, and judges how it ended.
//
// It makes no decisions. Its caller decides which result runs and when one is suspended, and is
// responsible for downloads, uploads and the durable state. The executor enforces the bounds of
// each task and the [Allowance]. It trusts neither servers nor applications with file names:
// everything is opened through os.Root.
//
// On Windows each run is a job object. Programs that ignore messages are suspended process by
// process, and all of them end with the agent.
package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/starling-grid/starling/executor/image"
	"github.com/starling-grid/starling/internal/busyfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol/appipc"
)

// A Task is one result to be run.
type Task struct {
	// Result identifies the run in calls and events, and the owner of the slot. Names of results
	// are unique only within their project, so a caller with several projects adds the project's
	// name. The application gets Init.ResultName instead, or Result if that is empty.
	Result     string
	ProjectURL string // the master URL as the task's state file contains it
	Slot       int
	ProjectDir string   // absolute path of projects/<escaped url> in the data directory
	Program    string   // file name of the main program in ProjectDir
	Runner     Runner   // how the main program is run, where nil means Native
	Image      *Image   // the container image in which it is run, or nil
	Args       []string // see appipc.SplitCommandLine
	Files      []File   // inputs, outputs and the app version's files
	FLOPS      float64  // operations a second that the app version is expected to do, which with Init.RscFPOpsBound limit the elapsed time. 0: no such limit
	// Paths that the task may open in its sandbox beyond those that every application may: files of
	// devices, files and folders to read, and folders whose names may be listed.
	Devices, Reads, Lists []string
	CPUs                  []int // the numbers of the CPUs on which it may run, on Linux, where nil means all
	Unthrottled           bool  // it computes all the time, whatever limit is set on CPU time
	// Init is the data that the application receives. Start sets its paths, slot, process and
	// channels, and raises its times to the times of the last checkpoint in the slot. In a new slot
	// they become 0.
	Init appipc.InitData
}

// A File is a file that the application opens under a logical name.
type File struct {
	Physical string // name in the project's folder
	Logical  string // name in the slot, or empty if it is Physical
	Copy     bool   // a copy instead of a link. An output is moved to the project's folder at the end.
	Output   bool
	Optional bool   // may be missing
	MD5      string // hexadecimal checksum of an input, checked at the start, or "" if it is not checked
	MaxBytes int64  // maximum size of an output. A larger one is an error.
	Gzip     bool   // an output is compressed when the task has ended, and keeps its name
	Spare    bool   // an output that is only of use to later tasks: it is not reported, and the task does not fail for lack of it
}

func (f File) logical() string {
	if f.Logical == "" {
		return f.Physical
	}
	return f.Logical
}

// files returns the task's files and a link to its main program, which BOINC's client makes, too.
func (t Task) files() []File {
	for _, f := range t.Files {
		if f.Physical == t.Program || f.logical() == t.Program {
			return t.Files
		}
	}
	return append([]File{{Physical: t.Program}}, t.Files...)
}

func (t Task) runner() Runner {
	if t.Runner == nil {
		return Native{}
	}
	return t.Runner
}

// Errors that callers distinguish.
var (
	ErrNotRunning = errors.New("result is not running")
	ErrBusy       = errors.New("result or slot is in use")
	ErrStopped    = errors.New("executor is stopped")
	ErrUnusable   = errors.New("cannot be run") // neither now nor later: the fault is the task's
)

// An Executor runs results in the slots of one data directory. Its methods may be called from any
// goroutine.
type Executor struct {
	dir       string // absolute, without symbolic links
	root      *os.Root
	place     os.FileInfo // identifies dir, whatever name it has elsewhere
	log       *slog.Logger
	report    func(Event)
	timing    timing
	sandboxed *Sandbox
	images    *image.Store // see UseImages
	named     []string     // see PassEnvironment
	tree      processTree
	groups    groups
	lowered   sessions
	woken     wakeups
	checked   checks
	census    census
	asked     atomic.Pointer[time.Time] // when Watch was called last

	ctx    context.Context // ends when nothing may take long anymore
	cancel context.CancelFunc
	// starting ends when nothing is started anymore.
	starting   context.Context
	stopStarts context.CancelFunc

	mu      sync.Mutex
	runs    map[string]*run
	clears  map[int]chan struct{} // slots that are being emptied. Each channel is closed at the end.
	allowed Allowance
	stopped bool
	ended   sync.WaitGroup
}

// timing contains upstream's intervals. Tests shorten them.
type timing struct {
	poll         time.Duration // between two heartbeats and status reports of a run that computes
	leave        time.Duration // for an application to exit after a quit or abort
	unread       time.Duration // for an application to read a control message
	afterFinish  time.Duration // for a process to end after it has written its finish file
	unresponsive time.Duration // without using the interface, after which a program counts as not using it
	disk         time.Duration // between two measurements of a slot's size
}

var standardTiming = timing{
	poll:         time.Second,
	leave:        60 * time.Second,
	unread:       180 * time.Second,
	afterFinish:  300 * time.Second,
	unresponsive: 5 * time.Second,
	disk:         30 * time.Second, // upstream: 300, enough for a program to fill a disk
}

// New returns an Executor for the folders projects and slots of a data directory. report is called
// for every event, from several goroutines, in order for each result. It must not block for long
// and may call the Executor.
func New(dataDir string, log *slog.Logger, report func(Event)) (*Executor, error) {
	dir, err := filepath.Abs(dataDir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	if utf8.RuneCountInString(dir) > longestDataDir {
		return nil, fmt.Errorf("the path of the data directory %s is longer than %d characters, and the system starts no program so deep; choose a shorter --data", dir, longestDataDir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	place, err := root.Stat(".")
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	if err := adoptOrphans(); err != nil {
		log.Debug("leftover processes of applications are found by their mark only", "err", err)
	}
	e := &Executor{
		dir: dir, root: root, place: place, log: log, report: report, timing: standardTiming,
		runs: make(map[string]*run), clears: make(map[int]chan struct{}),
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.starting, e.stopStarts = context.WithCancel(e.ctx)
	return e, nil
}

// PassEnvironment sets further variables of this process that applications get, in addition to the
// few that they always get. It must be called before the first Start.
func (e *Executor) PassEnvironment(names []string) { e.named = names }

// Start prepares the task's slot and starts its program. If the slot was left by the same result,
// the run continues in it. Any other content is removed. Start may take as long as copying the
// inputs does. The run takes commands from the first moment on. If it is to pause or to end before
// its program is started, the program is not started, and the run ends with an event. If Start
// returns an error, no process was started and no event follows. ErrBusy and ErrStopped leave the
// slot unchanged. ErrUnusable means that trying again is useless.
func (e *Executor) Start(t Task) error {
	if t.Init.ResultName == "" {
		t.Init.ResultName = t.Result
	}
	if err := t.check(); err != nil {
		return fmt.Errorf("start %s: %w: %w", t.Result, ErrUnusable, err)
	}
	r, err := e.reserve(t)
	if err != nil {
		return fmt.Errorf("start %s: %w", t.Result, err)
	}
	if err := busyfile.Retry(r.start); err != nil {
		r.carryOut(true)
		if !r.ending.Abort {
			e.release(r)
			e.ended.Done()
			return fmt.Errorf("start %s: %w", t.Result, err)
		}
		r.log.Warn("cannot start a result that is aborted", "err", err)
	}
	go r.serve()
	return nil
}

func (e *Executor) reserve(t Task) (*run, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return nil, ErrStopped
	}
	for _, r := range e.runs {
		if r.task.Result == t.Result || r.task.Slot == t.Slot {
			return nil, ErrBusy
		}
	}
	r := &run{
		e: e, task: t, processes: processes{tree: &e.tree, sessions: ownSessions{all: &e.lowered}}, dialogue: dialogue{ipc: appipc.FileChannels{}}, log: e.log.With("result", t.Result, "slot", t.Slot),
		commands: commands{arrived: make(chan struct{}, 1)}, cleared: e.clears[t.Slot],
	}
	r.hidden = r.inhabitants
	e.runs[t.Result] = r
	e.ended.Add(1)
	return r, nil
}

// release frees the result and its slot before the end is reported, so that a receiver of the event
// can use them at once.
func (e *Executor) release(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.runs, r.task.Result)
}

// Suspend asks the application to pause. It stays in memory. A run whose program has not been
// started yet ends as after Quit.
func (e *Executor) Suspend(result string) error {
	return e.toRun(result, "pause", func(r *run) { r.pause(true) })
}

// Resume lets a suspended application continue.
func (e *Executor) Resume(result string) error {
	return e.toRun(result, "pause", func(r *run) { r.pause(false) })
}

// Quit asks the application to exit, to be started again later. If it does not within a minute, it
// is killed. The verdict will be WillRestart, or Success if it has just finished.
func (e *Executor) Quit(result string) error {
	return e.toRun(result, "quit", (*run).quit)
}

// Abort ends the application like Quit, but for good. The verdict will be Aborted with this exit
// status and reason.
func (e *Executor) Abort(result string, status int, reason string) error {
	return e.toRun(result, "abort", func(r *run) { r.abort(status, reason, "") })
}

// toRun makes a run carry out a command, instead of a waiting one of the same kind. It returns
// ErrNotRunning if the result is not being run or has just ended.
func (e *Executor) toRun(result, kind string, f func(*run)) error {
	e.mu.Lock()
	r := e.runs[result]
	e.mu.Unlock()
	if r == nil || !r.commands.put(kind, f) {
		return fmt.Errorf("%s: %w", result, ErrNotRunning)
	}
	return nil
}

// Watch keeps the progress of runs up to date to the second for the next few seconds, because
// somebody is looking at it.
func (e *Executor) Watch() {
	now := time.Now()
	e.asked.Store(&now)
}

// Progress returns the progress of each run by result name, as of its last poll: a second ago while
// somebody watches, and a few seconds ago otherwise.
func (e *Executor) Progress() map[string]Progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make(map[string]Progress, len(e.runs))
	for name, r := range e.runs {
		all[name] = r.snapshot()
	}
	return all
}

// Clear removes slots/N with all its content. A missing slot is not an error. If the slot is in
// use, Clear returns ErrBusy. A Start in the slot waits until Clear is done, which may take long.
func (e *Executor) Clear(slot int) error {
	if err := e.reserveToClear(slot); err != nil {
		return fmt.Errorf("clear slot %d: %w", slot, err)
	}
	defer e.cleared(slot)
	if err := foreigndir.RemoveAll(e.root, slotName(slot)); err != nil {
		return fmt.Errorf("clear slot %d: %w", slot, err)
	}
	return nil
}

func (e *Executor) reserveToClear(slot int) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return ErrStopped
	}
	for _, r := range e.runs {
		if r.task.Slot == slot {
			return ErrBusy
		}
	}
	if e.clears[slot] != nil {
		return ErrBusy
	}
	e.clears[slot] = make(chan struct{})
	e.ended.Add(1)
	return nil
}

// cleared ends a reservation for Clear.
func (e *Executor) cleared(slot int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	close(e.clears[slot])
	delete(e.clears, slot)
	e.ended.Done()
}

// Stop asks every application to quit, kills those that are still running after a minute or when
// ctx ends, and returns when the end of all has been reported. Nothing can be started afterwards.
func (e *Executor) Stop(ctx context.Context) error {
	e.mu.Lock()
	e.stopped = true
	e.stopStarts()
	runs := make([]*run, 0, len(e.runs))
	for _, r := range e.runs {
		runs = append(runs, r)
	}
	e.mu.Unlock()
	for _, r := range runs {
		r.commands.put("quit", (*run).quit)
	}
	ended := make(chan struct{})
	go func() {
		e.ended.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		e.cancel()
		for _, r := range runs {
			r.commands.put("kill", func(r *run) {
				if r.cmd != nil {
					r.kill()
				}
			})
		}
		<-ended
	}
	e.cancel()
	if e.images != nil {
		_ = e.images.Close()
	}
	return e.root.Close()
}
