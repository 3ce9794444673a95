package main

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
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
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"until": until},
	})
}

// until PATTERN PROGRAM ARG… runs a program again and again until its standard
// output matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN PROGRAM ARG…")
	}
	want := regexp.MustCompile(args[0])
	out := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if out = ts.ReadFile("stdout"); err == nil && want.MatchString(out) {
			return
		}
	}
	ts.Fatalf("%q never matched %s; last: %s", args[1:], args[0], out)
}
