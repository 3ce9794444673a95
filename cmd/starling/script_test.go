package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"starling": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// The socket in it needs a short path.
			dir, err := os.MkdirTemp("", "starling") //nolint:usetesting // see above
			if err != nil {
				return err
			}
			env.Defer(func() { _ = os.RemoveAll(dir) })
			env.Setenv("STARLING_DATA", dir+"/d")
			env.Setenv("STARLING_RUN_DIR", dir) // where this script's agents notice each other
			port, err := testhost.FreePort()
			if err != nil {
				return err
			}
			env.Setenv("PORT", strconv.Itoa(port))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program built with -race ends with a second of sleep
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("unknown condition %s", cond)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"running": running},
	})
}

// running waits until the agent of the data directory answers. (status would
// look into its files as long as it does not, and keep it from opening them.)
func running(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: running")
	}
	client := control.NewClient(ts.Getenv("STARLING_DATA"))
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err = client.Status(context.Background()); err == nil {
			return
		}
	}
	ts.Fatalf("the agent never answered: %v", err)
}
