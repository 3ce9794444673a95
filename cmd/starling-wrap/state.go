package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Files in the slot, which are named and written as by BOINC's wrapper.
const (
	stateFile   = "wrapper_checkpoint.txt" // the number of steps that are done, and times
	initialFile = "initial_file_list"      // what was there before the first step
)

// begin prepares a job, unless that was done before, and returns how many of its steps are done.
func (w *wrapper) begin(j job) (done int, err error) {
	for _, name := range j.unzip {
		if err := unpack(name, w.app.Resolve); err != nil {
			return 0, err
		}
	}
	text, err := os.ReadFile(stateFile)
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
	if err := replace(stateFile, fmt.Sprintf("%d %f %f\n", steps, cpu.Seconds(), 0.0)); err != nil {
		return err
	}
	w.app.CheckpointCompleted()
	return nil
}

// writeList notes what is in the slot.
func writeList() error {
	entries, err := os.ReadDir(".")
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name() + "\n")
	}
	return replace(initialFile, b.String())
}

// replace writes a file so that it is there whole or not at all.
func replace(name, text string) error {
	if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil { //nolint:gosec // the client may be another user
		return err
	}
	return os.Rename(name+".new", name)
}
