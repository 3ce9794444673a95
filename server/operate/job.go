package operate

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/workgen"
)

// jobName is the logical name under which wrappers, BOINC's and ours, find the description of the
// programs that they run.
const jobName = "job.xml"

// A PlainJob describes a plain program for our wrapper. The zero value is a program that writes no
// checkpoints and does not report its progress.
type PlainJob struct {
	File string // path of a job.xml for BOINC's wrapper, instead of the rest ("": none)

	Checkpoints []string // files that the program changes when it has made a checkpoint
	Progress    string   // file whose last number is the fraction done ("": none)
	Pattern     string   // regular expression for its output, see docs/plain-programs.md ("": none)
	Env         []string // NAME=VALUE

	command []string // the program and its first arguments, instead of the version's
}

func (j PlainJob) described() bool {
	return len(j.Checkpoints) > 0 || j.Progress != "" || j.Pattern != "" || len(j.Env) > 0 || len(j.command) > 0
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// check returns an error if a description is invalid.
func (j PlainJob) check(plain bool) error {
	var errs []error
	switch {
	case !plain && (j.File != "" || j.described()):
		errs = append(errs, errors.New("a job.xml, checkpoints, progress and environment are for plain programs (--plain): others use BOINC's API"))
	case j.File != "" && j.described():
		errs = append(errs, errors.New("with a job.xml, set checkpoints, progress and environment in that file"))
	case j.Progress != "" && j.Pattern != "":
		errs = append(errs, errors.New("the progress is in a file or in the program's output, not in both"))
	}
	for _, name := range append(slices.Clone(j.Checkpoints), j.Progress) {
		if name != "" && !filepath.IsLocal(name) {
			errs = append(errs, fmt.Errorf("%q: want a path below the folder in which the program runs", name))
		}
	}
	if j.Pattern != "" {
		p, err := regexp.Compile(j.Pattern)
		if err == nil && p.NumSubexp() < 1 {
			err = fmt.Errorf("%q has no group for the number, such as in 'step ([0-9]+) of ([0-9]+)' or '([0-9]+) %%'", j.Pattern)
		}
		errs = append(errs, err)
	}
	for _, e := range j.Env {
		if !variable.MatchString(e) {
			errs = append(errs, fmt.Errorf("environment %q: want NAME=VALUE", e))
		}
	}
	return errors.Join(errs...)
}

// write makes the job.xml of a description in dir.
func (j *PlainJob) write(dir string) error {
	type task struct {
		Application string   `xml:"application"`
		CommandLine string   `xml:"command_line,omitempty"`
		Stdout      string   `xml:"stdout_filename"`
		Checkpoints []string `xml:"checkpoint_filename"`
		Progress    string   `xml:"fraction_done_filename,omitempty"`
		Pattern     string   `xml:"fraction_done_pattern,omitempty"`
		Env         []string `xml:"setenv"`
		Append      int      `xml:"append_cmdline_args"`
	}
	program, args := programName, ""
	if len(j.command) > 0 {
		program, args = j.command[0], strings.Join(j.command[1:], " ")
	}
	text, err := xml.MarshalIndent(struct {
		XMLName xml.Name `xml:"job_desc"`
		Task    task     `xml:"task"`
	}{Task: task{program, args, "stdout.txt", j.Checkpoints, j.Progress, j.Pattern, j.Env, 1}}, "", "    ")
	if err != nil {
		return err
	}
	j.File = filepath.Join(dir, jobName)
	return atomicfile.Write(j.File, append(text, '\n'), 0o644)
}

// applications are the logical names of the programs that a job.xml runs.
func applications(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var names []string
	err = bxml.NewScanner(text).Decode("job_desc", func(x bxml.Codec) {
		x.Element("task", func(x bxml.Codec) {
			if s := x.Reading("application"); s != nil {
				names = append(names, s.Text())
			}
		})
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no task in it names an application", path)
	}
	return names, nil
}

// readJob reads from the job.xml of a version, if it has one, which programs run, and under which name the main
// program does. Each must be the main program or another file of the version, or is in its image.
func (v *NewVersion) readJob() (err error) {
	v.program = programName
	if v.Job.File == "" {
		return nil
	}
	if v.programs, err = applications(v.Job.File); err != nil {
		return err
	}
	given := make(map[string]bool)
	for _, g := range v.Files {
		given[logicalName(g)] = true
	}
	var missing []string
	for _, name := range v.programs {
		if !given[name] && !strings.HasPrefix(name, "$PROJECT_DIR") && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if v.Image != nil || len(missing) == 0 { // others are programs in the image
		return nil
	}
	for _, name := range []string{missing[0], programName, filepath.Base(v.Main)} { // the last one is preferred
		if slices.Contains(missing, name) {
			v.program = name
		}
	}
	missing = slices.DeleteFunc(missing, func(name string) bool { return name == v.program })
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s runs %s, but of these only %s is a file of the version: add --file PATH=%s",
		filepath.Base(v.Job.File), strings.Join(v.programs, ", "), v.program, missing[0])
}

// runs reports whether the version's job.xml runs a further file of it.
func (v *NewVersion) runs(g workgen.Given) bool { return slices.Contains(v.programs, logicalName(g)) }

func logicalName(g workgen.Given) string { return cmp.Or(g.Logical, filepath.Base(g.Path)) }

// fileRef returns the reference to a further file of a version. Plain programs find copies in their
// slot. Programs that the wrapper runs, and the image's description, are links, which show that they are
// signed.
func (v *NewVersion) fileRef(g workgen.Given) protocol.FileRef {
	name := logicalName(g)
	linked := name == protocol.ImageFile || v.runs(g)
	return protocol.FileRef{OpenName: name, CopyFile: v.Plain && !linked}
}
