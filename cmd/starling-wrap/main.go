// Starling-wrap lets programs run under any BOINC client that were not written for BOINC. It is the
// main program of an app version. The programs are other files of it.
//
// The file job.xml describes the job, in the format of BOINC's wrapper. It lists programs that run
// one after the other, with arguments, environments, files for their input and output, and weights.
// It can also list programs that run at the same time as them, archives to unpack and to make, and
// the files in which a program writes its progress and its checkpoints. Without job.xml, the file
// with open_name starling_program is run with the wrapper's arguments. Its standard output is
// written to stdout.txt, or to the output with that logical name, and its errors to the task's
// stderr.
//
// Programs find their inputs under their logical names if these are copies (copy_file), which is
// also how their outputs are found.
//
// In a container image, a program that is not a file of the app version is a program of the image. The
// image's command takes the place of starling_program.
//
// The wrapper pauses and ends the programs as the client wishes. A program that was interrupted is
// started again in the same folder. Finished programs are not. Exit status 0 is success, and any
// other becomes the task's.
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
	var c crew
	app, err := boincapi.Init(boincapi.Options{CPUTime: c.cpuTime, Suspended: c.suspend})
	if err != nil {
		fmt.Fprintln(os.Stderr, "starling-wrap:", err)
		os.Exit(exitInitFailure)
	}
	if err := app.Yield(); err != nil { // a task may be started suspended
		app.Exit(err)
	}
	w := wrapper{app: app, crew: &c, signals: make(chan os.Signal, 1)}
	signal.Notify(w.signals, os.Interrupt, syscall.SIGTERM)
	if err := w.run(); err != nil {
		fmt.Fprintln(os.Stderr, "starling-wrap:", err)
		c.kill()
		app.Finish(exitChildFailed, "")
	}
	c.kill()
	app.FractionDone(1)
	app.Finish(0, "")
}

// A wrapper runs a job. An error of its methods fails the task.
type wrapper struct {
	app     *boincapi.App
	crew    *crew
	signals chan os.Signal // the host shuts down
}

func (w *wrapper) run() error {
	j, err := readJob(w.app.Resolve, w.app.InitData(), os.Args[1:])
	if err != nil {
		return err
	}
	m, err := readImage(w.app.Resolve, w.app.InitData())
	if err != nil {
		return err
	}
	if m != nil {
		j.inImage(m)
		if err := link(m); err != nil {
			return err
		}
	}
	done, err := w.begin(j)
	if err != nil {
		return err
	}
	for _, st := range j.daemons {
		if _, err := w.crew.start(w.app, st); err != nil {
			return err
		}
	}
	whole, before := 0.0, 0.0
	for _, st := range j.steps {
		whole += st.weight
	}
	for i, st := range j.steps {
		if i >= done {
			if err := w.step(st, before/whole, st.weight/whole); err != nil {
				return err
			}
			if err := w.completed(i + 1); err != nil {
				return err
			}
		}
		before += st.weight
	}
	return j.zip.make(w.app.Resolve)
}

// step runs a program to its end. It is the part of the job from begin to begin+share, of 1.
func (w *wrapper) step(st step, begin, share float64) error {
	if st.progress != "" {
		_ = os.Remove(st.progress) // of a run before
	}
	saved := newCheckpoints(st.checkpoints)
	k, err := w.crew.start(w.app, st)
	if err != nil {
		return err
	}
	w.app.SetOtherPID(k.pid())
	defer w.app.SetOtherPID(0)
	guess := newEstimate(w.app.InitData(), share)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-k.exited:
			return w.ended(k.ended())
		case <-w.app.Context().Done():
			w.crew.kill()
			w.app.Exit(w.app.Yield())
		case <-w.signals:
			w.crew.kill()
			w.app.Exit(boincapi.ErrQuit)
		case now := <-tick.C:
			f := guess.fraction(now, w.crew.isSuspended())
			if st.tells() {
				f = st.fraction(w.app.Resolve)
			}
			w.app.FractionDone(begin + share*f)
			if saved.changed() {
				w.app.CheckpointCompleted()
			}
			if st.limit > 0 && guess.elapsed > st.limit {
				fmt.Fprintf(os.Stderr, "starling-wrap: %s was ended after its time limit of %v\n", st.application, st.limit)
				k.kill()
				return nil
			}
		}
	}
}

// ended returns nil if a program has succeeded. A program that was killed from outside, by a
// shutdown or a system short of memory, is started again, as a client does with its own
// applications. A program that crashed has failed.
func (w *wrapper) ended(end ending) error {
	switch {
	case end.killed:
		fmt.Fprintln(os.Stderr, "starling-wrap: program was killed:", end.text)
		w.crew.kill()
		w.app.Exit(boincapi.ErrQuit)
	case end.crashed:
		fmt.Fprintln(os.Stderr, "starling-wrap: program crashed:", end.text)
		w.crew.kill()
		w.app.Finish(exitSignal, "")
	case end.status != 0:
		fmt.Fprintln(os.Stderr, "starling-wrap: program failed:", end.text)
		w.crew.kill()
		w.app.Finish(end.status, "")
	}
	return nil
}
