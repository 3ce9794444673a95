package servertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// A Job is a workunit that was submitted.
type Job struct {
	Name string
	p    *Project
}

// An Outcome is the outcome of a job.
type Outcome struct {
	Canonical string            // name of the result that is the answer ("": the job was given up)
	Errors    []string          // why it was given up
	Files     map[string][]byte // of the canonical result, by their logical names
	Credit    float64           // of the canonical result
	Results   []Result
}

// A Result is one of those that a job was computed by.
type Result struct {
	Name          string  `json:"name"`
	HostID        int64   `json:"hostid"` // 0: it was never sent
	Outcome       string  `json:"outcome"`
	ValidateState string  `json:"validate_state"`
	ExitStatus    int     `json:"exit_status"`
	Credit        float64 `json:"granted_credit"`
}

// Quorum requires the results of n volunteers to agree on a job.
func Quorum(n int) func(*workgen.Spec) {
	return func(s *workgen.Spec) { s.MinQuorum, s.TargetNResults = n, n }
}

// CommandLine gives the program arguments.
func CommandLine(args string) func(*workgen.Spec) {
	return func(s *workgen.Spec) { s.CommandLine = args }
}

// Submit creates a workunit with one input file, "in", unless in is nil. change may set any field
// of a workunit.
func (p *Project) Submit(app string, in []byte, change ...func(*workgen.Spec)) *Job {
	p.tb.Helper()
	var s workgen.Spec
	if in != nil {
		path := filepath.Join(p.tb.TempDir(), "in")
		p.check(os.WriteFile(path, in, 0o600))
		s.Inputs = []workgen.Given{{Path: path, Logical: "in"}}
	}
	for _, f := range change {
		f(&s)
	}
	g, err := operate.Generator(p.tb.Context(), p.p, app, time.Now())
	p.check(err)
	names, err := g.Create(p.tb.Context(), []workgen.Spec{s}, time.Now())
	p.check(err)
	p.step()
	return &Job{Name: names[0], p: p}
}

const (
	look = 5 * time.Millisecond // interval at which Wait looks
	// hopeless is the time that Wait waits for another computer after all computers have failed.
	hopeless = 5 * time.Second
)

// Wait waits until a job is done or given up, its outcome has been taken and the credit
// granted. It ends the test with the states of the job's results if ctx ends before, or if the job
// failed on every computer of the project, so that no computer is left for it. The
// application's assimilator has to be "copy", as it is by default.
func (j *Job) Wait(ctx context.Context) Outcome {
	p := j.p
	p.tb.Helper()
	tick := time.NewTicker(look)
	defer tick.Stop()
	begin := time.Now()
	for {
		var wu store.Workunit
		var results []store.Result
		hosts := int64(0)
		p.check(p.p.Store.View(p.ctx, func(tx *store.View) (err error) {
			if wu, err = tx.WorkunitByName(j.Name); err != nil {
				return err
			}
			if results, err = tx.ResultsOf(wu.ID); err != nil || !failed(results) {
				return err
			}
			st, err := tx.Status(0)
			hosts = st.Hosts
			return err
		}))
		if wu.AssimilateState == store.AssimilateDone {
			return j.outcome(wu)
		}
		if !failed(results) || int(hosts) > had(results) {
			begin = time.Now()
		} else if time.Since(begin) > hopeless {
			p.tb.Fatalf("job %s failed on every computer, and another is needed: start one more volunteer, or let it be given up sooner "+
				"(MaxErrorResults); %s", j.Name, describe(results))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			p.tb.Fatalf("job %s is not done: %v; %s", j.Name, context.Cause(ctx), describe(results))
		}
	}
}

// failed reports whether results failed and the remaining ones wait for a computer.
func failed(results []store.Result) bool {
	some := false
	for _, r := range results {
		if r.ServerState == store.InProgress || r.ServerState == store.Over && r.Outcome == store.Success {
			return false
		}
		some = some || r.ServerState == store.Over && r.HostID != 0
	}
	return some
}

// had is the number of computers that had one of the results.
func had(results []store.Result) int {
	hosts := make(map[int64]bool)
	for _, r := range results {
		if r.HostID != 0 {
			hosts[r.HostID] = true
		}
	}
	return len(hosts)
}

// describe returns the states of results, with exit status and stderr of those that failed.
func describe(results []store.Result) string {
	if len(results) == 0 {
		return "it has no results yet"
	}
	var states []string
	for _, r := range results {
		state := fmt.Sprintf("%s is %v, outcome %v", r.Name, r.ServerState, r.Outcome)
		if r.ServerState == store.Over && r.Outcome != store.Success && r.HostID != 0 {
			state += fmt.Sprintf(" on host %d, exit status %d", r.HostID, r.ExitStatus)
			if text := strings.TrimSpace(r.StderrOut); text != "" {
				state += fmt.Sprintf(", stderr %q", text[max(0, len(text)-mostStderr):])
			}
		}
		states = append(states, state)
	}
	return strings.Join(states, "; ")
}

// mostStderr is the number of bytes quoted from the end of a result's stderr.
const mostStderr = 500

// outcome reads the files that the assimilator has written.
func (j *Job) outcome(wu store.Workunit) Outcome {
	p := j.p
	p.tb.Helper()
	dir := assimilator.Folder(filepath.Join(p.Dir, project.ResultsDir), p.p.Config.ResultsFolders, wu)
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	p.check(err)
	var info struct {
		Canonical struct {
			Result string
			Credit float64
		}
		Errors  []string
		Files   []string
		Results []Result
	}
	p.check(json.Unmarshal(text, &info))
	o := Outcome{
		Canonical: info.Canonical.Result, Credit: info.Canonical.Credit, Errors: info.Errors, Results: info.Results,
		Files: make(map[string][]byte),
	}
	for _, name := range info.Files {
		o.Files[name], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		p.check(err)
	}
	return o
}
