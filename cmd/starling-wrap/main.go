// Starling-wrap lets a program that knows nothing of BOINC run under any BOINC
// client. It is the main program of an app version; the plain program is
// another file of it, whose open_name is starling_program.
//
// The program runs in the slot with the wrapper's arguments. What it prints
// goes to stdout.txt, or to the output whose logical name that is; its errors
// go to the task's stderr. It finds its inputs under their logical names if
// these are copies (copy_file), which is also how its outputs are found.
//
// The wrapper pauses and ends it as the client wishes. A program that was ended
// starts from the beginning the next time: there are no checkpoints. Status 0
// is success; any other is passed on as the task's.
//
// It does not run several programs one after the other, unpack archives or set
// environments; for that, BOINC has its own wrapper.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/starling-grid/starling/boincapi"
)

// Exit statuses of BOINC.
const (
	exitSignal      = 193
	exitChildFailed = 195
	exitInitFailure = 206
)

func init() {
	// The kernel ends the child when the thread that made it ends, so that must
	// be the one that lives as long as the process. See ownGroup.
	runtime.LockOSThread()
}

func main() {
	var c child
	app, err := boincapi.Init(boincapi.Options{CPUTime: c.cpuTime, Suspended: c.suspend})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starling-wrap:", err)
		os.Exit(exitInitFailure)
	}
	if err := app.Yield(); err != nil { // a task may be started suspended
		app.Exit(err)
	}
	if err := c.start(app, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "starling-wrap:", err)
		app.Finish(exitChildFailed, "")
	}
	app.SetOtherPID(c.pid())

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	guess := newEstimate(app.InitData())
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-c.exited:
			c.kill() // whom it has left behind
			app.SetOtherPID(0)
			finish(app, c.ended())
		case <-app.Context().Done():
			c.kill()
			<-c.exited
			app.Exit(app.Yield())
		case <-signals: // the host shuts down
			c.kill()
			<-c.exited
			app.Exit(boincapi.ErrQuit)
		case now := <-tick.C:
			app.FractionDone(guess.fraction(now, c.isSuspended()))
		}
	}
}

// finish ends the task as its program ended. A program killed from outside, by
// a shutdown or a system short of memory, is started again, as a client does
// with an application of its own; one that crashed has failed.
func finish(app *boincapi.App, end ending) {
	switch {
	case end.killed:
		fmt.Fprintln(os.Stderr, "starling-wrap: program was killed:", end.text)
		app.Exit(boincapi.ErrQuit)
	case end.crashed:
		fmt.Fprintln(os.Stderr, "starling-wrap: program crashed:", end.text)
		app.Finish(exitSignal, "")
	case end.status != 0:
		fmt.Fprintln(os.Stderr, "starling-wrap: program failed:", end.text)
		app.Finish(end.status, "")
	}
	app.FractionDone(1)
	app.Finish(0, "")
}
