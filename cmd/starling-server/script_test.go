package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testwait"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"starling-server": main})
}

func TestScripts(t *testing.T) { run(t, "testdata/script", func() string { return "" }) }

func TestScriptsOnPostgres(t *testing.T) {
	pg := testpg.Start(t)
	run(t, "testdata/postgres", func() string { return pg.Database(t) })
}

func run(t *testing.T, dir string, database func() string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Setup: func(env *testscript.Env) error {
			port, err := testhost.FreePort()
			if err != nil {
				return err
			}
			env.Setenv("ADDR", fmt.Sprint("127.0.0.1:", port))
			if port, err = testhost.FreePort(); err != nil {
				return err
			}
			env.Setenv("ADMIN", fmt.Sprint("127.0.0.1:", port))
			env.Setenv("DATABASE", database())
			client, err := filepath.Abs("../../examples/client/client.sh")
			if err != nil {
				return err
			}
			env.Setenv("CLIENT", client)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program built with -race ends with a second of sleep
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"get": get, "lose": lose, "reads": reads},
	})
}

// lose TREE NAME removes a file from a tree of files, as a disk might.
func lose(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: lose TREE NAME")
	}
	found, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*", args[1]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s is %d times in %s", args[1], len(found), args[0])
	}
	ts.Check(os.Remove(found[0]))
}

// reads FILE PATTERN waits until a file that another program writes matches.
func reads(ts *testscript.TestScript, _ bool, args []string) {
	await(ts, "reads FILE PATTERN", args, func(_ context.Context, name string) (string, error) {
		got, err := os.ReadFile(ts.MkAbs(name))
		return string(got), err
	})
}

// get URL PATTERN fetches a page again and again until it matches.
func get(ts *testscript.TestScript, _ bool, args []string) {
	await(ts, "get URL PATTERN", args, fetch)
}

// await reads args[0] again and again until it, or the error, matches the pattern args[1].
func await(ts *testscript.TestScript, usage string, args []string, read func(ctx context.Context, where string) (string, error)) {
	if len(args) != 2 {
		ts.Fatalf("usage: %s", usage)
	}
	want := regexp.MustCompile(args[1])
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ts.Check(testwait.Poll(ctx, func() error {
		got, err := read(ctx, args[0])
		if err != nil {
			got = err.Error()
		}
		if !want.MatchString(got) {
			return fmt.Errorf("%s does not match %s: %s", args[0], args[1], got)
		}
		return nil
	}))
}

func fetch(ctx context.Context, url string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return fmt.Sprintf("%d %s", res.StatusCode, b), err
}
