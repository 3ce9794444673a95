//go:build unix

package executor

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/starling-grid/starling/protocol/appipc"
)

func TestHowTheProgramIsStarted(t *testing.T) {
	t.Setenv("LD_LIBRARY_PATH", "/opt/lib")
	b := newBench(t)
	task := b.task("plain", "two words")
	task.Files[1].Copy = true
	task.Result = "example.org_p/r_0" // two projects may both have an r_0
	task.Init.ResultName = "r_0"
	b.start(task)
	if e := b.exited(); e.Verdict != Success || e.Result != task.Result {
		t.Fatalf("got %+v", e)
	}
	want := "[\"two words\"]\n../../projects/example.org_p/app_1.0\n../../projects/example.org_p:.:../..:/opt/lib\n"
	if got := b.read(filepath.Join(b.project, "r_0_0")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := b.read(b.slotFile("in")); got != "<soft_link>../../projects/example.org_p/in_1</soft_link>\n" {
		t.Errorf("soft link: got %q", got)
	}
	d, err := appipc.ParseInitData([]byte(b.read(b.slotFile("init_data.xml"))))
	if err != nil || d.ClientPID != os.Getpid() || d.SHMKey != -1 || d.ResultName != "r_0" || d.ProjectDir != b.project || d.BoincDir != b.data {
		t.Errorf("init data: %+v %v", d, err)
	}
	if b.read(b.slotFile("app_1.0")) == "absent" {
		t.Error("no link to the main program")
	}
}

// An application gets only the variables of the agent's environment that it needs.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C", "TZ": "UTC", "GORACE": "atexit_sleep_ms=0", "HOME": "/home/ada",
		"NAMED": "by the volunteer", "AWS_SECRET_ACCESS_KEY": "secret", "http_proxy": "http://ada:secret@proxy/", "STARLING_DATA": "/data",
	} {
		t.Setenv(name, value)
	}
	b := newBench(t)
	task := b.task("environment")
	task.Files[1].Copy = true
	b.start(task)
	b.ends(Success)
	got := strings.Split(b.read(filepath.Join(b.project, "r_0_0")), "\n")
	slot := filepath.Dir(b.slotFile("x"))
	want := []string{
		"GORACE=atexit_sleep_ms=0", "HOME=" + slot, "LANG=C.UTF-8", "LC_ALL=C", "LD_LIBRARY_PATH=../../projects/example.org_p:.:../..",
		"NAMED=by the volunteer", "PATH=/usr/bin:/bin", "STARLING_SLOT=" + slot, "TMPDIR=" + slot, "TZ=UTC",
	}
	slices.Sort(got)
	got = slices.DeleteFunc(got, func(v string) bool { // other variables of this kind on the test machine
		name, _, _ := strings.Cut(v, "=")
		return name == "LANGUAGE" || name == "TZDIR" || strings.HasPrefix(name, "LC_") && name != "LC_ALL"
	})
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPriority(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.program("#!/bin/sh\n: >working\nsleep 1000\n")
	task := b.task()
	task.Init.NoPriorityChange = false
	b.start(task)
	b.appears("working")
	n, err := syscall.Getpriority(syscall.PRIO_PROCESS, b.Progress()["r_0"].PID)
	if runtime.GOOS == "linux" {
		n = 20 - n // the system call returns 20 minus the niceness
	}
	if err != nil || n != 19 {
		t.Errorf("niceness %d, %v", n, err)
	}
}
