package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/state"
)

func TestMain(m *testing.M) {
	if strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test") { // else it is a command of a script
		_ = os.Setenv("LC_ALL", "C") // tests read its English texts
	}
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
			if path, err := exec.LookPath("starling"); err == nil {
				env.Setenv("STARLING", path) // where PATH is another
			}
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each program built with -race ends with a second of sleep
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, fmt.Errorf("unknown condition %s", cond)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"running": running, "past": past},
	})
}

// running waits until the agent of the data directory answers. (status would
// look into its files as long as it does not, and keep it from opening them.)
func running(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: running")
	}
	client := control.NewClient(ts.Getenv("STARLING_DATA"))
	ts.Check(testwait.Poll(context.Background(), func() error {
		_, err := client.Status(context.Background())
		return err
	}))
}

// past gives the agent of the data directory a history: of this hour, so that tables read
// the same whenever a test runs.
func past(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: past")
	}
	dir := ts.Getenv("STARLING_DATA")
	ts.Check(os.MkdirAll(dir, 0o700))
	db, err := state.Open(filepath.Join(dir, "state.db"))
	ts.Check(err)
	now := time.Now()
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	end := func(tx *state.Tx, project, name, task string, finished int, change func(*state.EndedTask)) {
		e := state.EndedTask{
			Project: project, ProjectName: name, Name: task, Outcome: state.TaskFinished, App: "app", VersionNum: 102,
			Received: ago(24 * 60), Started: ago(finished + 60), Finished: ago(finished), Reported: ago(finished - 10), Deadline: ago(-24 * 60),
			Elapsed: time.Hour, CPUTime: 10 * time.Hour,
		}
		change(&e)
		db.End(tx, e)
	}
	const alpha, beta = "http://alpha.example/", "http://beta.example/"
	ts.Check(db.Update(func(tx *state.Tx) {
		db.Projects.Put(tx, alpha, state.Project{MasterURL: alpha, Name: "Alpha"})
		db.Projects.Put(tx, beta, state.Project{MasterURL: beta, Name: "Beta"})
		for i, n := range []state.Notice{
			{Project: beta, Title: "Old", HTML: "Long ago.", Created: ago(20 * 24 * 60)},
			{Project: alpha, Title: "Prime <found>", HTML: "<p>Dear all,</p>it is \x1b<script>x</script><li>a prime of many digits.", Link: alpha + "news", Created: ago(120)},
			{Project: alpha, HTML: "Use a newer driver.", Created: ago(60)},
		} {
			if n.Seqno, n.Dated = i+1, true; n.Title != "" {
				n.Feed = "f"
			}
			db.Notices.Put(tx, n.Key(), n)
		}
		end(tx, alpha, "Alpha", "alpha_1", 300, func(*state.EndedTask) {})
		end(tx, alpha, "Alpha", "alpha_2", 200, func(e *state.EndedTask) {
			e.Outcome, e.Code, e.Text, e.ExitStatus = state.TaskFailed, "exit_status", "Its application reported an error (exit status 3).", 3
			e.Stderr = "starting\n+1+1 \x1b[31mred"
		})
		end(tx, alpha, "Alpha", "alpha_3", 150, func(e *state.EndedTask) { e.Deadline, e.PeakRSS = e.Reported.Add(-2*time.Hour), 5<<20 })
		end(tx, beta, "Beta", "=beta_1", 60, func(e *state.EndedTask) {
			e.Outcome, e.By, e.Code, e.Text, e.CPUTime = state.TaskAborted, state.ByProject, "aborted_by_project", "The project no longer needs it and aborted it.", 0
		})
		end(tx, beta, "Beta", "=beta_2", 30, func(e *state.EndedTask) {
			e.Outcome, e.By, e.Code, e.Text, e.CPUTime, e.Reported = state.TaskAborted, state.ByUser, "aborted_by_user", "You aborted it.", 0, time.Time{}
			e.App, e.Stderr = "@app", "+1+1"
		})
		db.AddSpans(tx, false,
			state.Span{Activity: state.Computing, Start: ago(180), End: ago(120)},
			state.Span{Activity: state.Suspended, Code: "on_battery", Why: "The computer is running on battery power (run_on_batteries).", Start: ago(120), End: ago(60)},
			state.Span{Activity: state.Computing, Start: ago(60), Open: true})
		db.Hosts.Put(tx, state.Self, state.Host{CPID: strings.Repeat("c", 32), LastSeen: ago(30)})
	}))
	ts.Check(db.Close())
}
