package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/protocol/bxml"
)

// jobFile is the logical name of the description of a job, in the form that BOINC's wrapper reads.
const jobFile = "job.xml"

// maxJob is the maximum size of a description, in bytes.
const maxJob = 16 << 20

// programName is the logical name of the program of a job without description.
const programName = "starling_program"

// projectDir starts the application of a step that is named by its file.
const projectDir = "$PROJECT_DIR"

// A job is a sequence of programs.
type job struct {
	steps   []step   // run one after the other
	daemons []step   // run during all steps
	unzip   []string // logical names of archives that are unpacked first
	zip     archive  // made last

	image *protocol.Image // with the programs, or nil
}

// A step is one run of a program. Files have logical names.
type step struct {
	application           string   // the program, or $PROJECT_DIR/ and the name of its file
	args                  []string //
	dir                   string   // in which it runs ("": the slot)
	env                   []string // NAME=VALUE, added to the wrapper's
	stdin, stdout, stderr string   // "": the wrapper's
	fresh                 bool     // stdout starts again instead of being continued
	checkpoints           []string // a change of one of these files completes a checkpoint
	progress              string   // file whose last number is the fraction done
	pattern               *regexp.Regexp
	weight                float64       // relative to other steps
	limit                 time.Duration // after which it is ended, and the next one starts (0 if none)
	image                 *protocol.Image
}

// An archive is a zip file of what steps have made.
type archive struct {
	name     string // "": none
	patterns []*regexp.Regexp
}

// plain returns the job without a description: one program.
func plain(args []string) job {
	return job{steps: []step{{application: programName, args: args, stdout: appipc.StdoutFile, fresh: true, weight: 1}}}
}

// readJob reads the description in the slot. args are the wrapper's own arguments. A file with the
// name that is not of the app version is an input like others: it could set LD_PRELOAD, and is not
// signed.
//
// Source of the form: BOINC samples/wrapper/wrapper.cpp. Different from there, setenv adds to the
// environment, checkpoint_filename may be repeated, and fraction_done_pattern is ours.
func readJob(resolve func(string) (string, error), d appipc.InitData, args []string) (job, error) {
	path, err := resolve(jobFile)
	if err != nil {
		return job{}, err
	}
	text, err := foreigndir.ReadFile(path, maxJob)
	if errors.Is(err, fs.ErrNotExist) {
		return plain(args), nil
	}
	if err != nil {
		return job{}, err
	}
	if ours, err := signed(path, d); err != nil || !ours {
		return plain(args), err
	}
	fill, err := macros(d, args)
	if err != nil {
		return job{}, err
	}
	var j job
	wrong := bxml.NewScanner(text).Decode("job_desc", func(x bxml.Codec) {
		if s := x.Reading("task"); s != nil {
			st, daemon, wrong := readStep(s, fill, resolve, args)
			err = errors.Join(err, wrong)
			if daemon {
				j.daemons = append(j.daemons, st)
			} else {
				j.steps = append(j.steps, st)
			}
		}
		x.Element("unzip_input", func(x bxml.Codec) { texts(x, "zipfilename", &j.unzip) })
		if s := x.Reading("zip_output"); s != nil {
			err = errors.Join(err, j.zip.read(s))
		}
	})
	if err = errors.Join(err, wrong); err == nil && len(j.steps) == 0 {
		err = errors.New("it has no task")
	}
	if err != nil {
		return job{}, fmt.Errorf("%s: %w", jobFile, err)
	}
	return j, nil
}

func readStep(s *bxml.Scanner, fill *strings.Replacer, resolve func(string) (string, error), args []string) (st step, daemon bool, err error) {
	st.weight = 1
	line, add, limit, pattern := "", false, 0.0, ""
	s.Fields(func(x bxml.Codec) {
		x.Text("application", &st.application)
		x.Text("command_line", &line)
		x.Flag("append_cmdline_args", &add)
		x.Text("exec_dir", &st.dir)
		texts(x, "setenv", &st.env)
		x.Text("stdin_filename", &st.stdin)
		x.Text("stdout_filename", &st.stdout)
		x.Text("stderr_filename", &st.stderr)
		texts(x, "checkpoint_filename", &st.checkpoints)
		x.Text("fraction_done_filename", &st.progress)
		x.Text("fraction_done_pattern", &pattern)
		x.Float("weight", &st.weight)
		x.Float("time_limit", &limit)
		x.Flag("daemon", &daemon)
	})
	st.dir = fill.Replace(st.dir)
	for i, set := range st.env {
		st.env[i] = fill.Replace(set)
	}
	if st.application == "" {
		err = errors.New("a task has no application")
	}
	if !(st.weight > 0) {
		err = errors.Join(err, fmt.Errorf("the weight of %s is %v, want more than 0", st.application, st.weight))
	}
	if pattern != "" {
		var wrong error
		if st.pattern, wrong = regexp.Compile(pattern); wrong != nil {
			err = errors.Join(err, wrong)
		} else if st.pattern.NumSubexp() < 1 {
			err = errors.Join(err, fmt.Errorf("fraction_done_pattern %q has no group for the number", pattern))
		}
	}
	st.limit = protocol.Seconds(limit)
	line, wrong := resolved(fill.Replace(line), resolve)
	st.args = appipc.SplitCommandLine(line)
	if add {
		st.args = append(st.args, args...)
	}
	return st, daemon, errors.Join(err, wrong)
}

// read reads zip_output.
func (a *archive) read(s *bxml.Scanner) (err error) {
	s.Fields(func(x bxml.Codec) {
		x.Text("zipfilename", &a.name)
		if s := x.Reading("filename"); s != nil {
			p, wrong := regexp.Compile(s.Text())
			a.patterns = append(a.patterns, p)
			err = errors.Join(err, wrong)
		}
	})
	return err
}

// texts reads a list of texts.
func texts(x bxml.Codec, name string, list *[]string) {
	if s := x.Reading(name); s != nil {
		*list = append(*list, s.Text())
	}
}

// macros replaces the variables that a description may contain, such as $NTHREADS.
func macros(d appipc.InitData, args []string) (*strings.Replacer, error) {
	pwd, err := os.Getwd()
	threads, device := max(1, int(d.NCPUs)), d.GPUDeviceNum
	for i := 0; i+1 < len(args); i++ {
		n, err := strconv.Atoi(args[i+1])
		switch {
		case err != nil:
		case args[i] == "--nthreads":
			threads = n
		case args[i] == "--device" && device < 0:
			device = n
		}
	}
	pairs := []string{projectDir, cmp.Or(d.ProjectDir, "."), "$NTHREADS", strconv.Itoa(threads), "$PWD", pwd}
	if device >= 0 {
		pairs = append(pairs, "$GPU_DEVICE_NUM", strconv.Itoa(device))
	}
	return strings.NewReplacer(pairs...), err
}

var logicalName = regexp.MustCompile(`boinc_resolve\(([^)]*)\)`)

// resolved replaces boinc_resolve(NAME) by the path of the file with that logical name.
func resolved(line string, resolve func(string) (string, error)) (string, error) {
	var err error
	return logicalName.ReplaceAllStringFunc(line, func(call string) string {
		path, wrong := resolve(logicalName.FindStringSubmatch(call)[1])
		err = errors.Join(err, wrong)
		return path
	}), err
}

// signed reports whether a path leads to a file of the app version: these are signed, and input
// files are not. Without a client, or with one that does not list them, all files count.
func signed(path string, d appipc.InitData) (bool, error) {
	if len(d.AppFiles) == 0 || d.ProjectDir == "" {
		return true, nil
	}
	here, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return false, err
	}
	there, err := os.Stat(d.ProjectDir)
	if err != nil {
		return false, err
	}
	return os.SameFile(here, there) && slices.Contains(d.AppFiles, filepath.Base(path)), nil
}

// program returns the absolute path of a step's program, which must be signed, or is in the image,
// whose layers are signed.
func (st step) program(resolve func(string) (string, error), d appipc.InitData) (string, error) {
	path, err := st.file(resolve, d)
	if st.image != nil && !strings.HasPrefix(st.application, projectDir) && (err != nil || strings.Contains(st.application, "/")) {
		return st.find(st.application)
	}
	return path, err
}

// file returns the absolute path of a program that is a file of the app version.
func (st step) file(resolve func(string) (string, error), d appipc.InitData) (string, error) {
	path, below := strings.CutPrefix(st.application, projectDir)
	if below {
		path = filepath.Join(d.ProjectDir, filepath.FromSlash(path))
	} else {
		var err error
		if path, err = resolve(st.application); err != nil {
			return "", err
		}
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the app version must have a file with open_name %s: %w", st.application, err)
	}
	ours, err := signed(path, d)
	if err == nil && !ours {
		err = fmt.Errorf("%s is not a file of the app version, whose files are signed: it is not run", st.application)
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(path) // the step may run in another folder, and PATH is not searched
}
