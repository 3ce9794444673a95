package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
)

// Files in the slot, which are named and written as by BOINC's wrapper.
const (
	stateFile   = "wrapper_checkpoint.txt" // the number of steps that are done, and times
	initialFile = "initial_file_list"      // names of the files before the first step
)

// begin prepares a job, unless that was done before, and returns how many of its steps are done.
func (w *wrapper) begin(j job) (done int, err error) {
	for _, name := range j.unzip {
		if err := unpack(name, w.app.Resolve); err != nil {
			return 0, err
		}
	}
	text, err := foreigndir.ReadFile(stateFile, 1000)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if j.zip.name != "" {
			if err := writeList(); err != nil {
				return 0, err
			}
		}
		return 0, nil
	case err != nil:
		return 0, err
	}
	if _, err := fmt.Sscan(string(text), &done); err != nil || done < 0 || done > len(j.steps) {
		return 0, fmt.Errorf("%s says %q, and the job has %d steps", stateFile, strings.TrimSpace(string(text)), len(j.steps))
	}
	return done, nil
}

// completed records that so many steps are done.
func (w *wrapper) completed(steps int) error {
	cpu := w.app.InitData().WUCPUTime + w.crew.cpuTime()
	if err := atomicfile.Write(stateFile, fmt.Appendf(nil, "%d %f %f\n", steps, cpu.Seconds(), 0.0), 0o644); err != nil {
		return err
	}
	w.app.CheckpointCompleted()
	return nil
}

// writeList writes the names of the files in the slot into initialFile.
func writeList() error {
	entries, err := os.ReadDir(".")
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name() + "\n")
	}
	return atomicfile.Write(initialFile, []byte(b.String()), 0o644)
}
