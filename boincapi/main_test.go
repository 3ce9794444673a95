package boincapi

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// quick are short intervals for tests of behavior that upstream shows only after many seconds.
var quick = timing{
	poll:         2 * time.Millisecond,
	status:       2,
	clientCheck:  5,
	heartbeatGap: 25,
	grace:        20 * time.Millisecond,
	lockWait:     50 * time.Millisecond,
}

// TestMain makes the test binary run as the application. The first argument after the marker
// selects its behavior.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "application" {
		application(os.Args[2])
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each application takes a second to end under -race
	os.Exit(m.Run())
}

func application(what string) {
	suspensions := 0
	app, err := initialize(Options{
		Suspended: func(v bool) {
			suspensions++
			fmt.Println("suspended", v)
		},
		CPUTime: func() time.Duration { return 3 * time.Second },
	}, quick)
	if err != nil {
		fmt.Println("init:", err)
		os.Exit(exitInitFailure)
	}
	fmt.Println("started", app.Standalone(), runtime.GOMAXPROCS(0))
	switch what {
	case "finish":
		in, err := app.Resolve("in")
		if err != nil {
			app.Exit(err)
		}
		text, err := os.ReadFile(in)
		if err != nil {
			app.Exit(err)
		}
		out, _ := app.Resolve("out")
		app.FractionDone(0.5)
		app.CheckpointCompleted()
		if err := os.WriteFile(out, append([]byte("did "), text...), 0o600); err != nil {
			app.Exit(err)
		}
		app.Exit(nil)
	case "work": // until it is asked to exit
		for n := 0; ; n++ {
			if err := app.Yield(); err != nil {
				fmt.Println("yield:", err)
				app.Exit(fmt.Errorf("after %d steps: %w", n, err))
			}
			app.FractionDone(0.25)
			time.Sleep(time.Millisecond)
		}
	case "deaf": // never calls Yield
		<-make(chan int)
	case "fail":
		app.Exit(errors.New("input is no number"))
	case "status":
		app.Exit(fmt.Errorf("wrapped: %w", status(42)))
	case "later":
		app.TemporaryExit(time.Minute, "no GPU")
	}
}

type status int

func (s status) Error() string   { return "status " + strconv.Itoa(int(s)) }
func (s status) ExitStatus() int { return int(s) }
