//go:build unix

package main

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/protocol/appipc"
)

// newJob makes a slot with a description of a job and its scripts, by logical name.
func newJob(t *testing.T, tasks string, scripts map[string]string, args ...string) *task {
	t.Helper()
	k := newTask(t, "exit 99", args...)
	k.write(jobFile, "<job_desc>\n"+tasks+"\n</job_desc>\n")
	for name, text := range scripts {
		k.write(name+"_1", "#!/bin/sh\n"+text)
		k.write(name, string(appipc.SoftLink("./"+name+"_1")))
	}
	return k
}

// again prepares another run in the same slot.
func (k *task) again() *task {
	cmd := *k.cmd
	next := *k
	next.cmd = newTask(k.t, "", cmd.Args[1:]...).cmd
	next.cmd.Dir = k.dir
	_ = os.Remove(filepath.Join(k.dir, appipc.LockFile))
	return &next
}

func (k *task) succeed() {
	k.t.Helper()
	k.start()
	if got := k.wait(); got != 0 || k.read(appipc.FinishFile) != "0\n" {
		k.t.Fatalf("status %d, finish file %q: %s", got, k.read(appipc.FinishFile), k.read("stderr.txt"))
	}
}

// Programs run one after the other, as BOINC's wrapper runs them.
func TestJob(t *testing.T) {
	k := newJob(t, `
	<task>
		<application>first</application>
		<command_line>--threads $NTHREADS "two words" boinc_resolve(table) $PWD</command_line>
		<stdin_filename>in</stdin_filename><stdout_filename>middle</stdout_filename>
		<setenv>GREETING=hello</setenv><weight>3</weight>
	</task>
	<task>
		<application>second</application>
		<stdin_filename>middle</stdin_filename><stdout_filename>out</stdout_filename><stderr_filename>errors</stderr_filename>
		<command_line>-x</command_line><append_cmdline_args/><exec_dir>$PWD/sub</exec_dir>
	</task>
	<priority>7</priority>`, map[string]string{
		"first":  `echo "$GREETING $# $1 $2 $3 $4 $5"; cat; mkdir sub`,
		"second": `cat; pwd; echo "$*"; echo oops >&2`,
	}, "--nthreads", "4")
	k.write("in", string(appipc.SoftLink("in_7")))
	k.write("in_7", "text\n")
	k.write("table", string(appipc.SoftLink("../../projects/p/table_3")))
	k.write("out", string(appipc.SoftLink("result_0")))
	k.succeed()
	dir, _ := filepath.EvalSymlinks(k.dir)
	want := "hello 5 --threads 4 two words ../../projects/p/table_3 " + dir + "\ntext\n" + dir + "/sub\n-x --nthreads 4\n"
	if got := k.read("result_0"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := k.read("errors"); got != "oops\n" {
		t.Errorf("errors: %q", got)
	}
	if got := k.read(stateFile); !strings.HasPrefix(got, "2 ") {
		t.Errorf("state %q", got)
	}
}

// After the task was ended, finished steps are not repeated. The unfinished one is started again
// with the files that it left. A checkpoint is reported when a file changes.
func TestJobIsResumed(t *testing.T) {
	k := newJob(t, `
	<task><application>first</application><stdout_filename>out</stdout_filename></task>
	<task><application>second</application><stdout_filename>out</stdout_filename><checkpoint_filename>saved</checkpoint_filename></task>`, map[string]string{
		"first": "echo first",
		"second": `echo second
[ -f saved ] && exit 0
i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done
echo 1 > saved
echo $$ > pid.new; mv pid.new pid
sleep 1000`,
	})
	k.start()
	k.pid()
	var st appipc.Status
	testwait.Until(t, "a checkpoint", func() bool {
		if text, ok := k.ipc.Receive(appipc.AppStatus); ok {
			st = appipc.ParseStatus(text)
		}
		return st.CheckpointCPUTime > 0
	})
	k.say(appipc.Quit)
	if got := k.wait(); got != 0 || k.read(appipc.FinishFile) != "absent" {
		t.Fatalf("status %d, finish file %q", got, k.read(appipc.FinishFile))
	}
	k.again().succeed()
	if got := k.read("out"); got != "first\nsecond\nsecond\n" {
		t.Errorf("out: %q", got)
	}
}

// A program reports its progress by a file or by its output. Of several programs, each is a part.
func TestProgress(t *testing.T) {
	for _, tt := range []struct {
		name, tells, script string
		want                float64
	}{
		{"a file", "<fraction_done_filename>done</fraction_done_filename>", "echo 0.1 > done; echo 0.5 >> done", 0.625},
		{"a pattern of percents", `<fraction_done_pattern>([0-9.]+) ?%</fraction_done_pattern>`, "echo 'at 10 %'; echo 'at 50 %, 7 left'", 0.625},
		{"a pattern of fractions", `<fraction_done_pattern>done: ([0-9.]+)</fraction_done_pattern>`, "echo done: 0.5", 0.625},
		{"a pattern of steps and their number", `<fraction_done_pattern>step ([0-9]+) of ([0-9]+)</fraction_done_pattern>`, "echo step 4 of 8 '(50 %)'", 0.625},
		{"a pattern of what goes to the task's stderr", `<fraction_done_pattern>([0-9.]+)%</fraction_done_pattern>`, `printf '10%%\r50%%\r' >&2`, 0.625},
		{"too much", "<fraction_done_filename>done</fraction_done_filename>", "echo 7 > done", 1},
		{"a named pipe", "<fraction_done_filename>done</fraction_done_filename>", "mkfifo done", 0.25},
		{"output that is a named pipe now", `<fraction_done_pattern>([0-9.]+)%</fraction_done_pattern>`, "rm out; mkfifo out", 0.25},
		{"nonsense", "<fraction_done_filename>done</fraction_done_filename>", "echo NaN none > done", 0.25},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := newJob(t, `<task><application>first</application></task>
	<task><application>second</application><weight>3</weight><stdout_filename>out</stdout_filename>`+tt.tells+`</task>`,
				map[string]string{"first": "exit 0", "second": tt.script + "\nsleep 1000"})
			k.start()
			testwait.Until(t, fmt.Sprint("a fraction of ", tt.want), func() bool {
				text, ok := k.ipc.Receive(appipc.AppStatus)
				return ok && appipc.ParseStatus(text).FractionDone == tt.want
			})
		})
	}
}

func TestMatched(t *testing.T) {
	for _, tt := range []struct {
		pattern, output string
		want            float64
		ok              bool
	}{
		{`([0-9]+)/([0-9]+)`, "3/4", 0.75, true},
		{`([0-9]+)/([0-9]+).*%`, "3/4 (80 %)", 0.75, true},
		{`([0-9]+)/([0-9]+)`, "5/4", 1, true},
		{`([0-9]+)/([0-9]+)`, "0/0", 0, false},
		{`step ([0-9]+)(?: of ([0-9]+))?`, "step 3", 0, false},
		{`([0-9a-f]+)%`, "ff%", 0, false},
	} {
		if got, ok := matched(regexp.MustCompile(tt.pattern).FindSubmatch([]byte(tt.output))); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s in %q: %v, %v, want %v, %v", tt.pattern, tt.output, got, ok, tt.want, tt.ok)
		}
	}
}

// A step with a time limit is ended after it, and the next one runs. A daemon runs at the same time
// as the steps and ends with them.
func TestTimeLimitAndDaemon(t *testing.T) {
	k := newJob(t, `
	<task><application>beside</application><daemon/></task>
	<task><application>long</application><time_limit>1</time_limit></task>
	<task><application>last</application></task>`, map[string]string{
		"beside": "echo $$ > pid; exec sleep 1000", "long": "sleep 1000", "last": "[ -f pid ] && echo reached > out",
	})
	k.succeed()
	if got := k.read("out"); got != "reached\n" {
		t.Errorf("out: %q; %s", got, k.read("stderr.txt"))
	}
	state(t, k.pid(), "")
}

// pack makes a zip file.
func (k *task) pack(name string, files ...[2]string) {
	k.t.Helper()
	f, err := os.Create(filepath.Join(k.dir, name))
	if err != nil {
		k.t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for _, x := range files {
		h := &zip.FileHeader{Name: x[0]}
		h.SetMode(0o755)
		if strings.HasPrefix(x[1], "->") {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		part, err := w.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(part, x[1])
		}
		if err != nil {
			k.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		k.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		k.t.Fatal(err)
	}
}

// Archives are unpacked before and made after.
func TestArchives(t *testing.T) {
	k := newJob(t, `
	<unzip_input><zipfilename>bundle</zipfilename></unzip_input>
	<task><application>work</application></task>
	<zip_output><zipfilename>all.zip</zipfilename><filename>^out_.*$</filename><filename>log</filename></zip_output>`,
		map[string]string{"work": "tr a-z A-Z <data/a >out_a; echo b >out_b; echo x >other; data/tool >log"})
	k.pack("bundle_1", [2]string{"data/a", "text\n"}, [2]string{"data/tool", "#!/bin/sh\necho tool\n"}, [2]string{"out_0", "was there"})
	k.write("bundle", string(appipc.SoftLink("bundle_1")))
	k.write("all.zip", string(appipc.SoftLink("result_0")))
	k.succeed()
	r, err := zip.OpenReader(filepath.Join(k.dir, "result_0"))
	must(t, err)
	defer r.Close()
	var got []string
	for _, f := range r.File {
		part, err := f.Open()
		must(t, err)
		text, err := io.ReadAll(part)
		must(t, err)
		got = append(got, f.Name+"="+string(text))
	}
	if want := []string{"log=tool\n", "out_a=TEXT\n", "out_b=b\n"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if k.read("bundle") != "absent" {
		t.Error("the link to what was unpacked is left")
	}
}

// An archive does not replace the files of the client and the wrapper.
func TestArchivesOfReservedNames(t *testing.T) {
	for _, name := range []string{appipc.InitDataFile, "./" + appipc.FinishFile, "x/../" + appipc.MmapFile, strings.ToUpper(stateFile), initialFile, jobFile} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newJob(t, `<unzip_input><zipfilename>bundle</zipfilename></unzip_input><task><application>work</application></task>`,
				map[string]string{"work": "echo ran >ran"})
			k.pack("bundle", [2]string{name, "0\n"})
			k.start()
			if got := k.wait(); got != exitChildFailed || !strings.Contains(k.read(appipc.StderrFile), "has this name") || k.read("ran") != "absent" {
				t.Errorf("status %d: %s", got, k.read(appipc.StderrFile))
			}
		})
	}
}

// Named pipes in the place of the wrapper's files do not hold it up.
func TestNamedPipes(t *testing.T) {
	for name, want := range map[string]string{initialFile: "not a regular file", "all.zip": "not a regular file"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newJob(t, `<task><application>work</application></task><zip_output><zipfilename>all.zip</zipfilename><filename>.*</filename></zip_output>`,
				map[string]string{"work": "rm -f " + name + "; mkfifo " + name})
			k.start()
			if got := k.wait(); got != exitChildFailed || !strings.Contains(k.read(appipc.StderrFile), want) {
				t.Errorf("status %d: %s", got, k.read(appipc.StderrFile))
			}
		})
	}
}

// A job that cannot be run fails the task with a reason.
func TestRefusedJobs(t *testing.T) {
	const work = "<task><application>work</application>%s</task>"
	for _, tt := range []struct {
		name, tasks string
		prepare     func(k *task)
		want        string
	}{
		{"no task", "", nil, "it has no task"},
		{"no application", "<task/>", nil, "a task has no application"},
		{"a weight of 0", fmt.Sprintf(work, "<weight>0</weight>"), nil, "the weight of work is 0"},
		{"a pattern that is none", fmt.Sprintf(work, "<fraction_done_pattern>(</fraction_done_pattern>"), nil, "missing closing )"},
		{"a pattern without a group", fmt.Sprintf(work, "<fraction_done_pattern>done</fraction_done_pattern>"), nil, "has no group"},
		{"a program that is not there", "<task><application>other</application></task>", nil, "must have a file with open_name other"},
		{"an input that is not there", fmt.Sprintf(work, "<stdin_filename>in</stdin_filename>"), nil, "in: no such file"},
		{"no description", "", func(k *task) { k.write(jobFile, "text") }, "job_desc"},
		{"cut off", "", func(k *task) { k.write(jobFile, "<job_desc><task>") }, jobFile},
		{"a state of another job", fmt.Sprintf(work, ""), func(k *task) { k.write(stateFile, "2 0 0\n") }, "the job has 1 steps"},
		{"a state that is none", fmt.Sprintf(work, ""), func(k *task) { k.write(stateFile, "x\n") }, stateFile},
		{
			"a path out of the slot", "<unzip_input><zipfilename>z</zipfilename></unzip_input>" + fmt.Sprintf(work, ""),
			func(k *task) { k.pack("z", [2]string{"../evil", "x"}) }, "its path leads out of the slot",
		},
		{
			"an absolute path", "<unzip_input><zipfilename>z</zipfilename></unzip_input>" + fmt.Sprintf(work, ""),
			func(k *task) { k.pack("z", [2]string{"/tmp/evil", "x"}) }, "its path leads out of the slot",
		},
		{
			"a link", "<unzip_input><zipfilename>z</zipfilename></unzip_input>" + fmt.Sprintf(work, ""),
			func(k *task) { k.pack("z", [2]string{"evil", "->/etc/passwd"}) }, "it is no file but",
		},
		{
			"an archive that is none", "<unzip_input><zipfilename>z</zipfilename></unzip_input>" + fmt.Sprintf(work, ""),
			func(k *task) { k.write("z", "text") }, "archive z: zip: not a valid zip file",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := newJob(t, tt.tasks, map[string]string{"work": "echo ran > ran"})
			if tt.prepare != nil {
				tt.prepare(k)
			}
			k.start()
			if got := k.wait(); got != exitChildFailed || !strings.Contains(k.read("stderr.txt"), tt.want) {
				t.Errorf("status %d: %s", got, k.read("stderr.txt"))
			}
			if k.read("ran") != "absent" {
				t.Error("the program ran")
			}
		})
	}
}

// Only files of the app version are run, which are signed.
func TestSignedProgramsOnly(t *testing.T) {
	for _, tt := range []struct {
		name, link string
		runs       bool
	}{
		{"a file of the version", "PROJECT/tool_1", true},
		{"an input file", "PROJECT/input_1", false},
		{"a file elsewhere of the same name", "ELSEWHERE/tool_1", false},
		{"a file in the slot", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := newJob(t, "<task><application>tool</application></task>", nil)
			d := appipc.DefaultInitData()
			d.ClientPID, d.ProjectDir, d.AppFiles = os.Getpid(), t.TempDir(), []string{"wrap_1", "tool_1", "job_1"}
			k.write(appipc.InitDataFile, string(d.Encode()))
			must(t, os.Rename(filepath.Join(k.dir, jobFile), filepath.Join(d.ProjectDir, "job_1")))
			k.write(jobFile, string(appipc.SoftLink(d.ProjectDir+"/job_1")))
			elsewhere := t.TempDir()
			for _, path := range []string{filepath.Join(d.ProjectDir, "tool_1"), filepath.Join(d.ProjectDir, "input_1"), filepath.Join(elsewhere, "tool_1")} {
				must(t, os.WriteFile(path, []byte("#!/bin/sh\necho ran > ran\n"), 0o700))
			}
			k.write("tool", "#!/bin/sh\necho ran > ran\n")
			if tt.link != "" {
				k.write("tool", string(appipc.SoftLink(strings.NewReplacer("PROJECT", d.ProjectDir, "ELSEWHERE", elsewhere).Replace(tt.link))))
			}
			k.start()
			got := k.wait()
			if ran := k.read("ran") == "ran\n"; ran != tt.runs || (got == 0) != tt.runs {
				t.Errorf("ran: %v, status %d: %s", ran, got, k.read("stderr.txt"))
			}
			if !tt.runs && !strings.Contains(k.read("stderr.txt"), "it is not run") {
				t.Errorf("stderr: %s", k.read("stderr.txt"))
			}
		})
	}
}

// An input that is called job.xml determines neither the program to run nor its environment.
func TestADescriptionIsSigned(t *testing.T) {
	k := newJob(t, "<task><application>starling_program</application><setenv>EVIL=1</setenv></task>", nil)
	d := appipc.DefaultInitData()
	d.ClientPID, d.ProjectDir, d.AppFiles = os.Getpid(), t.TempDir(), []string{"wrap_1", "program_1"}
	k.write(appipc.InitDataFile, string(d.Encode()))
	must(t, os.WriteFile(filepath.Join(d.ProjectDir, "program_1"), []byte("#!/bin/sh\necho \"evil: $EVIL\"\n"), 0o700))
	k.write(programName, string(appipc.SoftLink(d.ProjectDir+"/program_1")))
	k.succeed()
	if got := k.read("stdout.txt"); got != "evil: \n" {
		t.Errorf("got %q", got)
	}
}
