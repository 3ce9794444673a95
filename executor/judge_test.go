package executor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/reason"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	finish := &appipc.Finish{}
	later := &appipc.TemporaryExit{Delay: time.Minute, Reason: "no GPU"}
	for _, c := range []struct {
		name   string
		ending ending
		want   Verdict
		status int
	}{
		{"finished", ending{Finish: finish}, Success, 0},
		{"finished, whatever the file says", ending{Finish: &appipc.Finish{Status: 5}}, Success, 0},
		{"finished with an error", ending{Finish: finish, Code: 3}, ComputeError, 3},
		{"left without a word", ending{}, WillRestart, 0},
		{"left for the 99th time", ending{PrematureExits: 98}, WillRestart, 0},
		{"left for the 100th time", ending{PrematureExits: 99}, ComputeError, -226},
		{"exit status", ending{Code: 195}, ComputeError, 195},
		{"asked to quit", ending{Quit: true}, WillRestart, 0},
		{"asked to quit for the 100th time", ending{Quit: true, PrematureExits: 99}, WillRestart, 0},
		{"failed when asked to quit", ending{Quit: true, Code: 1}, WillRestart, 0},
		{"killed since it did not quit", ending{Quit: true, Signal: 9}, WillRestart, 0},
		{"had finished when asked to quit", ending{Quit: true, Finish: finish}, Success, 0},
		{"killed after it had finished, when asked to quit", ending{Quit: true, Finish: finish, Signal: 9}, WillRestart, 0},
		{"aborted", ending{Abort: true, AbortStatus: 203, Code: 194}, Aborted, 203},
		{"aborted, though it had finished", ending{Abort: true, AbortStatus: 197, Finish: finish}, Aborted, 197},
		{"aborted after it was asked to quit", ending{Abort: true, Quit: true, AbortStatus: 203}, Aborted, 203},
		{"postponed", ending{Temporary: later}, Postponed, 0},
		{"postponed for the 100th time", ending{Temporary: later, PrematureExits: 99}, ComputeError, -226},
		{"postponed when asked to quit", ending{Temporary: later, Quit: true}, WillRestart, 0},
		{"killed by the system", ending{Signal: 9, WaitStatus: 9}, WillRestart, 0},
		{"killed by the system for the 100th time", ending{Signal: 9, PrematureExits: 99}, ComputeError, -226},
		{"terminated at shutdown", ending{Signal: 15, WaitStatus: 15}, WillRestart, 0},
		{"crashed on Windows", ending{Code: -1073741819}, ComputeError, -1073741819},
		{"crashed on Windows after it had finished", ending{Code: -1073741819, Finish: finish}, ComputeError, -1073741819},
		{"stopped from outside on Windows", ending{Code: -1073741510}, WillRestart, 0},
		{"stopped from outside for the 100th time", ending{Code: -1073741510, PrematureExits: 99}, ComputeError, -226},
		{"ended by Windows", ending{Code: 0x40010004}, WillRestart, 0},
		{"killed since it did not quit, on Windows", ending{Quit: true, Code: -1073741510}, WillRestart, 0},
		{"crashed", ending{Signal: 11, WaitStatus: 139}, ComputeError, 139},
		{"crashed after it had finished", ending{Signal: 11, WaitStatus: 139, Finish: finish}, ComputeError, 139},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := judge(c.ending)
			if got.Verdict != c.want || got.ExitStatus != c.status {
				t.Errorf("got %v %d, want %v %d", got.Verdict, got.ExitStatus, c.want, c.status)
			}
			if got.Verdict.Over() && got.Premature {
				t.Error("a result that is over counts exits")
			}
		})
	}
	if got := judge(ending{Temporary: later}); got.Delay != time.Minute || got.Message != "no GPU" || !got.Premature {
		t.Errorf("postponed: got %+v", got)
	}
	for _, c := range []struct {
		of    ending
		code  reason.Code
		about string
	}{
		{ending{Signal: 11}, reason.Crashed, "signal 11, segmentation fault"},
		{ending{Signal: 42}, reason.Crashed, "signal 42"},
		{ending{Code: 3}, reason.ExitStatus, "exit status 3"},
		{ending{Code: 3, Finish: &appipc.Finish{Message: "no memory.\nmore"}}, reason.ExitStatus, "exit status 3: no memory"},
		{ending{Code: -1073741515}, reason.Crashed, "0xc0000135, a library is missing"},
		{ending{Code: -1073740286}, reason.ExitStatus, "exit status -1073740286"},
		{ending{Abort: true, AbortCode: reason.ManyProcesses}, reason.ManyProcesses, ""},
		{ending{Abort: true, AbortStatus: 203}, "", ""},
		{ending{PrematureExits: maxPrematureExits}, reason.NeverFinished, ""},
		{ending{Temporary: later}, reason.ApplicationWaits, "no GPU"},
	} {
		if got := judge(c.of).Reason; got.Code != c.code || got.About != c.about {
			t.Errorf("%+v: got %+v, want %s about %q", c.of, got, c.code, c.about)
		}
	}
	if got := judge(ending{Code: -1073741819}).Message; got != "process exited with code -1073741819 (0xc0000005): access violation" {
		t.Errorf("message: got %q", got)
	}
	if got := judge(ending{Code: 246}).Message; got != "process exited with code 246 (0xf6, -10)" {
		t.Errorf("message: got %q", got)
	}
}

func TestJudgeOutputs(t *testing.T) {
	t.Parallel()
	bad := []Output{{Physical: "a"}, {Physical: "b", Logical: "out", Err: &OutputError{File: "b", Code: -131, Text: "file size too big"}}, {Physical: "c", Err: errors.New("disk")}}
	got := judgeOutputs(judgement{Verdict: Success}, bad)
	if got.Verdict != ComputeError || got.ExitStatus != 0 || !strings.Contains(got.Message, "-131 (file size too big)") || !strings.Contains(got.Message, "disk") || got.Reason.Code != reason.OutputWrong || got.Reason.About != "out: file size too big" {
		t.Errorf("got %+v", got)
	}
	if got := judgeOutputs(judgement{Verdict: Aborted, ExitStatus: 203}, bad); got.Verdict != Aborted {
		t.Errorf("an aborted result became %v", got.Verdict)
	}
	if got := judgeOutputs(judgement{Verdict: Success}, bad[:1]); got.Verdict != Success {
		t.Errorf("got %+v", got)
	}
}

func TestControlQueue(t *testing.T) {
	t.Parallel()
	const s, r, q, a = appipc.Suspend, appipc.Resume, appipc.Quit, appipc.Abort
	for _, c := range []struct {
		name string
		push []appipc.Control // "" lets the application read one message
		want string           // all messages that it has read in the end
	}{
		{"one after the other", []appipc.Control{s, "", r, "", q}, "<suspend/><resume/><quit/>"},
		{"a command undone before it was sent", []appipc.Control{s, "", r, s, r, "", q}, "<suspend/><resume/><quit/>"},
		{"said twice", []appipc.Control{s, s, r, r, q, q}, "<suspend/><resume/><quit/>"},
		{"quit of one that is suspended", []appipc.Control{s, "", q}, "<suspend/><resume/><quit/>"},
		{"abort of one that is suspended", []appipc.Control{s, "", a}, "<suspend/><resume/><abort/>"},
		{"abort overtakes a quit", []appipc.Control{s, q, a}, "<suspend/><resume/><abort/>"},
		{"nothing after a quit", []appipc.Control{s, q, s, r}, "<suspend/><resume/><quit/>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ipc, err := appipc.NewChannels(make([]byte, appipc.MmapSize))
			must(t, err)
			var queue controlQueue
			var got string
			read := func() bool {
				text, ok := ipc.Receive(appipc.ControlRequest)
				got += text
				return ok
			}
			for _, p := range c.push {
				if p == "" {
					read()
				} else {
					queue.push(p)
				}
				queue.flush(ipc)
			}
			for !queue.flush(ipc) {
				read()
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
