package agent_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/reason"
)

// TestATaskThatFailsIsExplained makes a recorded job fail in every possible way, with real programs
// and files, and checks what people read while its project is left alone.
func TestATaskThatFailsIsExplained(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the recorded job is for x86_64-pc-linux-gnu")
	}
	const program = "plain_1.00_x86_64-pc-linux-gnu"
	swap := func(a answer) answer { // as long, and not the same
		a.body = bytes.Clone(a.body)
		a.body[len(a.body)-2] ^= 1
		return a
	}
	for _, tt := range []struct {
		name    string
		program string
		spoil   func(map[string][]answer)
		code    reason.Code
		text    string // in the sentence
		stderr  string
	}{
		{
			"an error", "#!/bin/sh\necho starting >&2\necho 'cannot allocate the frobnicator' >&2\nexit 3\n", nil,
			"exit_status", "its application reported an error (exit status 3)", "cannot allocate the frobnicator",
		},
		{
			"a crash", "#!/bin/sh\nkill -11 $$\n", nil,
			"crashed", "its application crashed (signal 11, segmentation fault)", "",
		},
		{
			"no input on the server", plainProgram,
			func(all map[string][]answer) { all["in_1"] = []answer{{code: 404}} },
			"input_missing", "its input file in_1 (HTTP 404 Not Found) is not on the project's server", "",
		},
		{
			"another input than announced", plainProgram,
			func(all map[string][]answer) { all["in_1"][0] = swap(all["in_1"][0]) },
			"input_damaged", "its file in_1 differs from what the project announced", "",
		},
		{
			"a program that nobody signed", plainProgram,
			func(all map[string][]answer) { all[program][0] = swap(all[program][0]) },
			"bad_signature", "its program file " + program + " has no valid signature, so it was not run", "",
		},
		{
			"an interpreter that is not here", "#!/no/such/interpreter -u\n", nil,
			"interpreter_missing", "/no/such/interpreter, which its program needs to be started, is not on this computer", "",
		},
		{
			"a program for other computers", "MZ\n", nil,
			"not_for_this_computer", "its program is not made for this kind of computer", "",
		},
		{
			"no output", "#!/bin/sh\necho 0 >boinc_finish_called\n", nil,
			"output_wrong", "its application left no usable output", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := plainWorld(t, tt.program)
			if tt.spoil != nil {
				tt.spoil(w.answers)
			}
			w.start(t)
			defer w.stop()
			f := w.failing(t)
			if f.Code != tt.code || f.Count != 1 || f.Task == "" || f.Cure == "" || !strings.Contains(f.Text, tt.text) || !strings.Contains(f.Text, f.Task) {
				t.Errorf("got %+v, want %s with %q", f, tt.code, tt.text)
			}
			if !strings.HasSuffix(f.Stderr, tt.stderr) || tt.stderr == "" && f.Stderr != "" {
				t.Errorf("its last words are %q, want %q", f.Stderr, tt.stderr)
			}
			for s := w.after(t, 0); len(s.Tasks) > 0; s = w.after(t, 20*time.Millisecond) { // until it is reported
				why := s.Tasks[0].Why
				if reported := !strings.Contains(why, tt.text) && strings.HasPrefix(why, "Failed"); reported {
					t.Fatalf("the task says %q", why)
				}
			}
			plainWords(t, f.Text)
			if p := w.project(t, 0); p.Failing == nil || !strings.Contains(p.Failing.Text, tt.text) {
				t.Errorf("forgotten with the report: %+v", p.Failing)
			}
		})
	}
}

// plainWorld returns a world with the recorded job of one input file, computed by a program.
func plainWorld(t *testing.T, program string) *world {
	t.Helper()
	rec := func(name string) answer { return recorded(t, "debian-7.20.5/plain/"+name+".response.http") }
	answers := withMaster(t, demoURL, resigned(t, rec("002-scheduler"), program), rec("006-scheduler"))
	answers["plain_1.00_x86_64-pc-linux-gnu"] = []answer{{code: 200, body: []byte(program)}}
	answers["in_1"] = []answer{rec("003-download-in_1")}
	return newWorld(t, demoURL, answers, nil)
}

// failing waits until a task has failed, and returns what people read.
func (w *world) failing(t *testing.T) *control.Failing {
	t.Helper()
	var p control.Project
	testwait.Until(t, "a task to fail", func() bool {
		p = w.project(t, 0)
		return p.Failing != nil
	})
	return p.Failing
}
