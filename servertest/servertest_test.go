package servertest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/testprogram"
	"github.com/starling-grid/starling/internal/tests3"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/workgen"
	"github.com/starling-grid/starling/servertest"
)

func upper(_ context.Context, t *servertest.Task) error {
	t.Output("out", bytes.ToUpper(t.Input("in")))
	return nil
}

func Example() {
	tb := servertest.Outside(context.Background()) // in a test: t
	defer tb.Close()
	p := servertest.Start(tb)
	p.App("upper", func(_ context.Context, task *servertest.Task) error {
		task.Output("out", bytes.ToUpper(task.Input("in")))
		return nil
	})
	p.Volunteer("ada")
	done := p.Submit("upper", []byte("hello")).Wait(context.Background())
	fmt.Printf("%s\n", done.Files["out"])
	// Output: HELLO
}

// Two volunteers have to agree. One of three is wrong, and the others are asked.
func ExampleQuorum() {
	tb := servertest.Outside(context.Background())
	defer tb.Close()
	p := servertest.Start(tb)
	p.App("upper", upper)
	p.VolunteerWho("liar", func(_ context.Context, task *servertest.Task) error {
		task.Output("out", []byte("nonsense"))
		return nil
	})
	p.Volunteer("ada")
	p.Volunteer("grace")
	done := p.Submit("upper", []byte("hello"), servertest.Quorum(2)).Wait(context.Background())
	fmt.Printf("%s\n", done.Files["out"])
	// Output: HELLO
}

func TestOnBothDatabases(t *testing.T) {
	for name, option := range map[string]func(t *testing.T) []servertest.Option{
		"SQLite": func(*testing.T) []servertest.Option { return nil },
		"PostgreSQL": func(t *testing.T) []servertest.Option {
			return []servertest.Option{servertest.Database(testpg.Start(t).Database(t))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			p := servertest.Start(t, option(t)...)
			p.App("upper", upper, func(a *operate.NewApp) { a.Credit = "fixed:7" })
			for i := range 3 {
				p.Volunteer(fmt.Sprint("v", i))
			}
			var jobs []*servertest.Job
			for i := range 10 {
				jobs = append(jobs, p.Submit("upper", fmt.Append(nil, "text ", i), servertest.Quorum(2)))
			}
			for i, j := range jobs {
				o := j.Wait(t.Context())
				if got, want := string(o.Files["out"]), fmt.Sprint("TEXT ", i); got != want || o.Credit != 7 || o.Canonical == "" || len(o.Errors) > 0 {
					t.Errorf("%s: %q, want %q: %+v", j.Name, got, want, o)
				}
				if i == 0 {
					t.Logf("the first of ten took %v with all that comes before it", time.Since(began))
				}
			}
		})
	}
}

// A job that fails everywhere is given up, and its outcome has the reason.
func TestAFailingApplication(t *testing.T) {
	p := servertest.Start(t)
	p.App("fails", func(context.Context, *servertest.Task) error { return errors.New("division by zero") })
	for i := range 4 {
		p.Volunteer(fmt.Sprint("v", i))
	}
	o := p.Submit("fails", []byte("x"), func(s *workgen.Spec) { s.MaxErrorResults = 2 }).Wait(t.Context())
	if o.Canonical != "" || len(o.Errors) == 0 {
		t.Fatalf("%+v", o)
	}
	failed := slices.DeleteFunc(slices.Clone(o.Results), func(r servertest.Result) bool { return r.ExitStatus != 1 })
	if len(failed) != 3 {
		t.Errorf("%d results failed, want 3: %+v", len(failed), o.Results)
	}
}

func TestCommandLineReachesTheTask(t *testing.T) {
	p := servertest.Start(t)
	p.App("echo", func(_ context.Context, task *servertest.Task) error {
		task.Output("out", []byte(task.CommandLine))
		return nil
	})
	p.Volunteer("ada")
	o := p.Submit("echo", nil, servertest.CommandLine("--seed 7")).Wait(t.Context())
	if got := strings.TrimSpace(string(o.Files["out"])); got != "--seed 7" {
		t.Errorf("got %q", got)
	}
}

// A job that failed on every computer, and that no computer can compute again, ends the test with
// the errors.
func TestAHopelessJob(t *testing.T) {
	t.Parallel()
	p := servertest.Start(rec{t})
	p.App("fails", func(context.Context, *servertest.Task) error { return errors.New("division by zero") })
	p.Volunteer("ada")
	j := p.Submit("fails", []byte("x"))
	defer func() {
		got := fmt.Sprint(recover())
		for _, want := range []string{"failed on every computer", "start one more volunteer", "_0 is over", "exit status 1", `stderr "division by zero"`, "_1 is unsent"} {
			if !strings.Contains(got, want) {
				t.Errorf("got %q, want %q in it", got, want)
			}
		}
	}()
	j.Wait(t.Context())
}

// With faults on purpose every job is done all the same, once.
func TestFaults(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	t.Run("met", func(t *testing.T) { // its server has ended when the log is read
		p := servertest.Start(t, servertest.Faults("lose-request=0.1,lose-reply=0.15,5xx=0.1,cut=0.15", 1), servertest.Log(slog.New(slog.NewTextHandler(&log, nil))))
		p.App("upper", upper, func(a *operate.NewApp) { a.Credit = "fixed:7" })
		// A host whose first answer is lost attaches again, and the results of that answer are given up:
		// another host has to compute these.
		p.Volunteer("ada")
		p.Volunteer("bob")
		var jobs []*servertest.Job
		for i := range 10 {
			jobs = append(jobs, p.Submit("upper", fmt.Append(nil, "text ", i)))
		}
		for i, j := range jobs {
			o := j.Wait(t.Context())
			done := slices.DeleteFunc(slices.Clone(o.Results), func(r servertest.Result) bool { return r.Outcome == "client_detached" })
			if got, want := string(o.Files["out"]), fmt.Sprint("TEXT ", i); got != want || o.Credit != 7 || len(done) != 1 {
				t.Errorf("%s: %q, want %q: %+v", j.Name, got, want, o)
			}
		}
	})
	for _, fault := range []string{"lose-request", "lose-reply", "5xx", "cut"} {
		if !strings.Contains(log.String(), "fault="+fault) {
			t.Errorf("no request met %s", fault)
		}
	}
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, `fault "mischief": want one of`) {
			t.Errorf("got %q", got)
		}
	}()
	servertest.Start(rec{t}, servertest.Faults("mischief", 1))
}

// TestFiles: a project whose files are in a bucket gives its outcome from there.
func TestFiles(t *testing.T) {
	s3 := tests3.Start(t)
	place := s3.Bucket(t)
	p := servertest.Start(t, servertest.Files(place))
	p.App("upper", upper)
	p.Volunteer("ada")
	o := p.Submit("upper", []byte("hello")).Wait(t.Context())
	if got := string(o.Files["out"]); got != "HELLO" {
		t.Errorf("got %q: %+v", got, o)
	}
	for _, name := range []string{"download", "upload"} {
		err := filepath.WalkDir(filepath.Join(p.Dir, name), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				t.Errorf("%s is in the project's folder", path)
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// Wait reports the reason why a job waits.
func TestWaitEnds(t *testing.T) {
	p := servertest.Start(rec{t})
	p.App("upper", upper)
	j := p.Submit("upper", []byte("x"))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("enough"))
	defer cancel()
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "is not done: enough") || !strings.Contains(got, "unsent") {
			t.Errorf("got %q", got)
		}
	}()
	j.Wait(ctx)
}

// rec panics instead of ending the test.
type rec struct{ *testing.T }

func (rec) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// The real agent computes with a real program, in addition to the volunteers.
func TestAgent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program is a script")
	}
	p := servertest.Start(t)
	script := filepath.Join(t.TempDir(), "upper.sh")
	if err := os.WriteFile(script, []byte(`#!/bin/sh
path() { sed -n 's|.*<soft_link>\(.*\)</soft_link>.*|\1|p' "$1"; }
tr a-z A-Z <"$(path in)" >"$(path out)" && echo 0 >boinc_finish_called
`), 0o700); err != nil {
		t.Fatal(err)
	}
	p.Program("script", script, func(a *operate.NewApp) {})
	p.Agent("ada", slog.New(slog.NewTextHandler(t.Output(), nil)))
	o := p.Submit("script", []byte("hello")).Wait(t.Context())
	if got := string(o.Files["out"]); got != "HELLO" {
		t.Errorf("got %q: %+v", got, o)
	}
}

// The real agent runs a program that does not use BOINC's API.
func TestPlain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the program is a script")
	}
	dir := t.TempDir()
	if err := testprogram.Build(t.Context(), dir, nil, "cmd/starling-wrap"); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "upper.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntr a-z A-Z <in >out\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := servertest.Start(t)
	p.Plain("upper", script, filepath.Join(dir, "starling-wrap"))
	p.Agent("ada", slog.New(slog.NewTextHandler(t.Output(), nil)))
	o := p.Submit("upper", []byte("hello")).Wait(t.Context())
	if got := string(o.Files["out"]); got != "HELLO" {
		t.Errorf("got %q: %+v", got, o)
	}
}

// Settings of server.toml can be changed, and a name that none has is refused.
func TestSettings(t *testing.T) {
	var log bytes.Buffer
	t.Run("known", func(t *testing.T) {
		p := servertest.Start(t, servertest.Setting("long_name", `"Prime numbers"`), servertest.Log(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		p.App("upper", upper)
		p.Volunteer("ada")
		p.Submit("upper", []byte("x")).Wait(t.Context())
		text, err := os.ReadFile(filepath.Join(p.Dir, "server.toml"))
		if err != nil || !strings.Contains(string(text), `long_name = "Prime numbers"`) {
			t.Errorf("%v, %s", err, text)
		}
	})
	if !strings.Contains(log.String(), "scheduler request") {
		t.Errorf("logged: %s", log.String())
	}
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, `no setting "no_such"`) {
			t.Errorf("got %q", got)
		}
	}()
	servertest.Start(rec{t}, servertest.Setting("no_such", "1"))
}
