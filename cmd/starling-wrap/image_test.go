//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

// newImage makes a slot with the description of an image, in which the programs of this computer
// are. The description is a file of the app version.
func newImage(t *testing.T, m protocol.Image, tasks string) (*task, protocol.Image) {
	t.Helper()
	k := newTask(t, "exit 99", "--last", "two words")
	must(t, os.Remove(filepath.Join(k.dir, programName)))
	m.Layers = []protocol.ImageLayer{{DiffID: strings.Repeat("0a", 32), NBytes: 1}}
	text, err := json.Marshal(m)
	must(t, err)
	d := appipc.DefaultInitData()
	d.ClientPID, d.ProjectDir, d.AppFiles = os.Getpid(), t.TempDir(), []string{"image_1", "job_1", "tool_1"}
	k.write(appipc.InitDataFile, string(d.Encode()))
	for name, content := range map[string]string{"image_1": string(text), "job_1": "<job_desc>" + tasks + "</job_desc>", "tool_1": "#!/bin/sh\necho tool\n"} {
		must(t, os.WriteFile(filepath.Join(d.ProjectDir, name), []byte(content), 0o700))
	}
	k.write(protocol.ImageFile, string(appipc.SoftLink(d.ProjectDir+"/image_1")))
	k.write("tool", string(appipc.SoftLink(d.ProjectDir+"/tool_1")))
	if tasks != "" {
		k.write(jobFile, string(appipc.SoftLink(d.ProjectDir+"/job_1")))
	}
	k.cmd.Env = append(k.cmd.Env, appipc.ImageVariable+"="+m.ID(), "LD_LIBRARY_PATH=../agent")
	return k, m
}

// The command of an image runs with its arguments, its environment and the files of its working
// directory, in the task's folder.
func TestImage(t *testing.T) {
	work := t.TempDir()
	for name, text := range map[string]string{"table": "of the image", "in": "of the image"} {
		must(t, os.WriteFile(filepath.Join(work, name), []byte(text), 0o600))
	}
	k, _ := newImage(t, protocol.Image{
		Command: []string{"sh", "-c", `printf '%s.' "$@" "$GREETING" "$HOME_SWEET" "$LD_LIBRARY_PATH" "$(cat table)" "$(cat in)"; pwd >where`, "sh", "it's \"quoted\" $NTHREADS"},
		Env:     []string{"GREETING=hello world", "PATH=/none:/usr/bin:/bin"}, Dir: work,
	}, "")
	k.write("in", "of the task")
	k.succeed()
	if got, want := k.read("stdout.txt"), `it's "quoted" $NTHREADS.--last.two words.hello world...of the image.of the task.`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := strings.TrimSpace(k.read("where")); filepath.Base(got) != filepath.Base(k.dir) {
		t.Errorf("it ran in %s", got)
	}
}

// Programs of an image find a driver's libraries after the image's own.
func TestDriverOfAnImage(t *testing.T) {
	for own, want := range map[string]string{"": "/driver", "LD_LIBRARY_PATH=": "/driver", "LD_LIBRARY_PATH=/of/the/image": "/of/the/image:/driver"} {
		k, _ := newImage(t, protocol.Image{Command: []string{"/bin/sh", "-c", `echo "$LD_LIBRARY_PATH"`}, Env: []string{cmp.Or(own, "A=b")}}, "")
		k.cmd.Env = append(k.cmd.Env, appipc.ImageLibraries+"=/driver")
		k.succeed()
		if got := k.read("stdout.txt"); got != want+"\n" {
			t.Errorf("%q: got %q, want %q", own, got, want)
		}
	}
}

// A job runs programs of the image and files of the version, and may add to the environment.
func TestJobInAnImage(t *testing.T) {
	k, _ := newImage(t, protocol.Image{Command: []string{"/bin/echo", "command"}, Env: []string{"A=image", "B=image"}}, `
	<task><application>starling_program</application><append_cmdline_args/><stdout_filename>out</stdout_filename></task>
	<task><application>tool</application><stdout_filename>out</stdout_filename></task>
	<task><application>/bin/sh</application><command_line>-c 'echo $A $B'</command_line><setenv>B=job</setenv><stdout_filename>out</stdout_filename></task>
	<task><application>env</application><command_line>echo found</command_line><stdout_filename>out</stdout_filename></task>`)
	k.succeed()
	if got, want := k.read("out"), "command --last two words\ntool\nimage job\nfound\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Without an agent that runs images, the programs of its command would be the volunteer's. An input
// is never a description.
func TestImageElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		change  func(k *task, m protocol.Image)
		want    string // in stderr
	}{
		"no image":            {[]string{"/bin/sh"}, func(k *task, _ protocol.Image) { k.cmd.Env = append(k.cmd.Env, appipc.ImageVariable+"=") }, "does not run container images"},
		"another image":       {[]string{"/bin/sh"}, func(k *task, _ protocol.Image) { k.cmd.Env = append(k.cmd.Env, appipc.ImageVariable+"=0a") }, "does not run container images"},
		"an input":            {[]string{"/bin/sh"}, func(k *task, m protocol.Image) { text, _ := json.Marshal(m); k.write(protocol.ImageFile, string(text)) }, "must have a file with open_name starling_program"},
		"no such program":     {[]string{"no_such_program"}, func(*task, protocol.Image) {}, "the image has no program no_such_program in its PATH"},
		"no such path":        {[]string{"/no/such"}, func(*task, protocol.Image) {}, "the image has no program /no/such"},
		"a folder":            {[]string{"/bin"}, func(*task, protocol.Image) {}, "the image has no program /bin"},
		"an input as program": {[]string{"input"}, func(k *task, _ protocol.Image) { k.write("input", "#!/bin/sh\n") }, "the image has no program input in its PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			k, m := newImage(t, protocol.Image{Command: c.command}, "")
			c.change(k, m)
			k.start()
			if got := k.wait(); got == 0 || !strings.Contains(k.read("stderr.txt"), c.want) {
				t.Errorf("status %d: %s", got, k.read("stderr.txt"))
			}
		})
	}
}
