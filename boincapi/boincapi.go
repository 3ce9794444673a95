//go:build !wasip1

// Package boincapi is the application's side of BOINC's runtime. With it a scientist can write an
// application in pure Go that any BOINC client can run, suspend, checkpoint and stop.
//
//	func main() {
//		boincapi.Run(func(app *boincapi.App) error {
//			in, err := app.Resolve("in") // the file's real path
//			…
//			for i := start; i < n; i++ {
//				if err := app.Yield(); err != nil {
//					return err // the client wants us to leave
//				}
//				step(i)
//				app.FractionDone(float64(i) / n)
//				if app.TimeToCheckpoint() {
//					save(i)
//					app.CheckpointCompleted()
//				}
//			}
//			return nil
//		})
//	}
//
// Started by hand, without a client, the same program runs in standalone mode: it uses the files in
// the working directory and does not report anything.
//
// A Go program cannot be stopped from outside between two instructions, so suspending is
// cooperative: the application must call Yield a few times a second while it computes. It is not
// interrupted between two calls, so there are no critical sections. A program that does not call
// Yield keeps computing while suspended, and is ended some seconds after a request to exit.
//
// It uses no more CPUs than the client gives to the task, unless $GOMAXPROCS is set.
//
// The package does not support trickle messages, graphics or intermediate uploads.
package boincapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

// Reasons for which Yield asks the application to exit. The application returns the error from its
// work function, or passes it to App.Exit.
var (
	ErrQuit       = errors.New("client asked to quit")
	ErrAborted    = errors.New("client aborted the task")
	ErrClientLost = errors.New("client has exited")
)

// Options adapt the runtime to programs whose work is done by other processes. For all other
// programs use the zero value.
type Options struct {
	// CPUTime returns the CPU time used since the start of this process. It is called about once a
	// second and may be called concurrently. nil means this process's own CPU time.
	CPUTime func() time.Duration
	// Suspended is called when the client suspends (true) or resumes the task,
	// at most once for each change. It must not call the App's methods.
	Suspended func(bool)
}

// An App is the running application. Its methods may be called from any
// goroutine.
type App struct {
	init       appipc.InitData
	standalone bool
	opts       Options
	timing     timing
	ipc        appipc.Channels
	lock       *os.File
	ctx        context.Context
	cancel     context.CancelCauseFunc
	fraction   atomic.Uint64 // bits of a float64
	otherPID   atomic.Int64
	brisk      atomic.Bool // no pending requests: Yield may return at once
	news       atomic.Bool // a checkpoint was written: report without delay

	mu         sync.Mutex
	wake       *sync.Cond // suspended or leaving has changed
	suspended  bool
	leaving    error
	checkpoint time.Duration // CPU time at the last checkpoint
	lastSaved  time.Time     // time of the last checkpoint

	exit sync.Mutex // held by the goroutine that ends the process
}

// timing contains upstream's intervals. Tests shorten them.
type timing struct {
	poll         time.Duration // control messages
	status       int           // polls between two status messages
	clientCheck  int           // polls between two checks of the client's process
	heartbeatGap int           // polls without a heartbeat after which the client counts as lost
	grace        time.Duration // for work that does not call Yield after a request to exit
	lockWait     time.Duration // for another instance to leave the slot
}

var standardTiming = timing{
	poll:         100 * time.Millisecond,
	status:       10,
	clientCheck:  100,
	heartbeatGap: 300,
	grace:        10 * time.Second,
	lockWait:     35 * time.Second,
}

// Run is an application's main function. It calls Init, then work, and ends the process according
// to the returned error, see App.Exit. It does not return.
func Run(work func(*App) error) {
	app, err := Init(Options{})
	if err != nil {
		logf("%v", err)
		os.Exit(exitInitFailure)
	}
	app.Exit(work(app))
}

// Init connects the process to the client that started it. It must be called once, before anything
// else in this package, with the slot as the working directory. If that has no init_data.xml, the
// App is standalone.
//
// If another instance is still using the slot, Init waits for it. If that takes too long, Init ends
// the process and asks the client to start it again in ten minutes. If the client is so old that it
// does not offer a mapped file, the App runs without receiving or reporting anything, and writes a
// message about this to stderr.
func Init(opts Options) (*App, error) { return initialize(opts, standardTiming) }

func initialize(opts Options, t timing) (*App, error) {
	a := &App{opts: opts, timing: t, lastSaved: time.Now()}
	a.wake = sync.NewCond(&a.mu)
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	a.brisk.Store(true)
	if a.opts.CPUTime == nil {
		a.opts.CPUTime = ownCPUTime
	}
	text, err := os.ReadFile(appipc.InitDataFile)
	if errors.Is(err, os.ErrNotExist) {
		logf("no %s: running in standalone mode", appipc.InitDataFile)
		a.standalone, a.init = true, appipc.DefaultInitData()
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	if a.init, err = appipc.ParseInitData(text); err != nil {
		return nil, err
	}
	a.checkpoint = a.init.WUCPUTime
	keepTo(a.init.NCPUs)
	if err := a.lockSlot(); err != nil {
		return nil, err
	}
	if err := a.attach(); err != nil {
		logf("%v: cannot receive messages from the client, continuing without it", err)
		return a, nil
	}
	go a.serve()
	return a, nil
}

// keepTo makes the program use no more CPUs than the client has given it, unless $GOMAXPROCS is set. Go's runtime
// would use all of the computer's: its garbage collector takes them from other tasks, and threads with a low
// priority that wake each other on different CPUs leave one of them unused for a while.
func keepTo(cpus float64) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(int(min(max(1, math.Ceil(cpus)), float64(runtime.NumCPU()))))
	}
}

// Standalone reports whether this process was started without a client.
func (a *App) Standalone() bool { return a.standalone }

// InitData returns the data from the client at the start or, in standalone mode, the defaults.
func (a *App) InitData() appipc.InitData { return a.init }

// Context is canceled when the client asks the application to exit or has exited itself. Its cause
// is the error that Yield returns from then on.
func (a *App) Context() context.Context { return a.ctx }

// Resolve returns the path of the file with that logical name. The file does not have to exist yet:
// for an output, the path is where to write it.
func (a *App) Resolve(logical string) (string, error) { return resolve(logical) }

// FractionDone sets the fraction of the work that is done, 0 to 1. It is cheap.
func (a *App) FractionDone(f float64) { a.fraction.Store(bitsOf(f)) }

// SetOtherPID reports a process to the client that must be killed together with this one, or 0 for
// none.
func (a *App) SetOtherPID(pid int) { a.otherPID.Store(int64(pid)) }

// Yield carries out the client's requests. It returns nil at once if there are none, blocks while
// the task is suspended, and returns ErrQuit, ErrAborted or ErrClientLost if the application has to
// exit. It is cheap enough to be called thousands of times a second.
func (a *App) Yield() error {
	if a.brisk.Load() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.suspended && a.leaving == nil {
		a.wake.Wait()
	}
	return a.leaving
}

// TimeToCheckpoint reports whether the interval that the user prefers has passed since the start or
// the last CheckpointCompleted. Without a preference, as in standalone mode, the interval is five
// minutes.
func (a *App) TimeToCheckpoint() bool {
	period := a.init.CheckpointPeriod
	if period <= 0 {
		period = 300 * time.Second
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Since(a.lastSaved) >= period
}

// CheckpointCompleted reports that the work so far survives a restart.
func (a *App) CheckpointCompleted() {
	cpu := a.cpuTime()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.checkpoint, a.lastSaved = cpu, time.Now()
	a.news.Store(true)
}

// cpuTime returns the CPU time over all runs of the result.
func (a *App) cpuTime() time.Duration { return a.init.WUCPUTime + a.opts.CPUTime() }

// logf writes to stderr, which is sent to the project's server, in the same form as other BOINC
// applications.
func logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s (%d): %s\n", time.Now().Format(time.DateTime), os.Getpid(), fmt.Sprintf(format, args...))
}
