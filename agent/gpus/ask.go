package gpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Detector runs starling-detect.
type Detector struct {
	Program string        // "": where the installation has it
	Args    []string      // before the name of the library
	Limit   time.Duration // for one library (0: twenty seconds)
}

// limit is the maximum time for a driver's answer. CUDA's driver takes some seconds to wake several
// cards.
const limit = 20 * time.Second

// mostOutput is the maximum part of a reply that is read, in bytes.
const mostOutput = 1 << 20

// Detect asks all libraries at the same time. It always returns: what hangs is left behind.
func (d Detector) Detect(ctx context.Context) Report {
	if d.Limit == 0 {
		d.Limit = limit
	}
	r := Report{Cards: cards()}
	var err error
	if d.Program, err = d.program(); err != nil {
		r.OpenCL.Failure, r.NVIDIA.Failure = err.Error(), err.Error()
		return r
	}
	var both sync.WaitGroup
	both.Go(func() { r.OpenCL = d.ask(ctx, OpenCL) })
	both.Go(func() { r.NVIDIA = d.ask(ctx, NVIDIA) })
	both.Wait()
	return r
}

// program returns the file to run.
func (d Detector) program() (string, error) {
	if d.Program != "" {
		return d.Program, nil
	}
	return find()
}

// programName is the name of starling-detect's file.
const programName = "starling-detect"

// find returns the path of starling-detect: next to this program, or where packages install it.
func find() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	dir, name := filepath.Dir(self), programName
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, "..", "libexec", "starling", name)} {
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("the program %s is not installed; put it in %s, next to %s", name, dir, filepath.Base(self))
}

// ask asks one library.
func (d Detector) ask(ctx context.Context, library string) Answer {
	ctx, cancel := context.WithTimeout(ctx, d.Limit)
	defer cancel()
	answer := make(chan Answer, 1)
	go func() { answer <- d.run(ctx, library) }()
	// A process that hangs in a driver in the kernel cannot be killed, and waiting for it would
	// never end, so it is left behind.
	left := time.NewTimer(d.Limit + 2*grace)
	defer left.Stop()
	select {
	case a := <-answer:
		return a
	case <-left.C:
		return Answer{Failure: fmt.Sprintf("The driver hangs and cannot be ended (%s).", library)}
	}
}

// grace is the time for which processes started by a driver may keep the output open.
const grace = time.Second

func (d Detector) run(ctx context.Context, library string) Answer {
	var out, errs tail
	cmd := exec.CommandContext(ctx, d.Program, append(append([]string{}, d.Args...), library)...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay, cmd.Dir = &out, &errs, grace, os.TempDir()
	err := cmd.Run()
	if a, ok := parse(out.b); ok {
		return a
	}
	said := ""
	if text := strings.TrimSpace(strings.ToValidUTF8(string(errs.b), "")); text != "" {
		lines := strings.Split(text, "\n")
		said = " It said: " + strings.TrimSpace(lines[0])
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Answer{Failure: fmt.Sprintf("The driver did not answer within %v.%s", d.Limit, said)}
	case err != nil:
		return Answer{Failure: fmt.Sprintf("The driver failed when it was asked for its devices (%v).%s", err, said)}
	}
	return Answer{Failure: "The driver ended the program that asked it, without an answer." + said}
}

// parse finds the reply among other output that a driver may have printed.
func parse(out []byte) (Answer, bool) {
	lines := bytes.Split(out, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		var r struct {
			Starling bool `json:"starling"`
			Reply
		}
		at := bytes.Index(line, []byte(opening))
		if at >= 0 && json.Unmarshal(line[at:], &r) == nil && r.Starling {
			return Answer{Reply: r.Reply}, true
		}
	}
	return Answer{}, false
}

// opening is the start of a reply.
const opening = `{"starling":true,`

// Line returns a reply as starling-detect prints it, alone on a line.
func (r Reply) Line() ([]byte, error) {
	text, err := json.Marshal(struct {
		Starling bool `json:"starling"`
		Reply
	}{true, r})
	return append(append([]byte("\n"), text...), '\n'), err
}

// A tail keeps the end of the data written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if extra := len(t.b) - mostOutput; extra > 0 {
		t.b = t.b[extra:]
	}
	return len(p), nil
}
