package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
)

// A span is the numbers from First on, Count of them.
type span struct{ First, Count uint64 }

// largest is the largest number that can be asked about: none up to it grows beyond 64
// bits on its way.
const largest = 1 << 33

// parseRange reads two numbers: the first, and how many.
func parseRange(text string) (r span, err error) {
	if _, err := fmt.Sscan(text, &r.First, &r.Count); err != nil {
		return r, fmt.Errorf("in: want the first number and how many: %w", err)
	}
	if r.First < 1 || r.Count < 1 || r.First > largest || r.Count > largest-r.First+1 {
		return r, fmt.Errorf("in: %d and the %d numbers from there on are not all between 1 and %d", r.First, r.Count, uint64(largest))
	}
	return r, nil
}

// A state is all that is needed to resume.
type state struct {
	Of      span
	Done    uint64 // numbers that were counted
	Total   uint64 // steps of all
	Longest uint64 // the first of the numbers with the most steps
	Steps   uint64 // that it takes
}

// runtime has the methods of boincapi.App that the search needs.
type runtime interface {
	Yield() error
	FractionDone(f float64)
	TimeToCheckpoint() bool
	CheckpointCompleted()
}

// search counts all of a span, resuming from the checkpoint if there is one, and returns
// the text of the output.
func search(r span, count counts, app runtime) (string, error) {
	s := load(r)
	steps := make([]uint64, batch)
	for s.Done < r.Count {
		if err := app.Yield(); err != nil {
			return "", err
		}
		some := steps[:min(batch, r.Count-s.Done)]
		if err := count(r.First+s.Done, some); err != nil {
			return "", err
		}
		for i, n := range some {
			at := r.First + s.Done + uint64(i)
			if n == tooMany {
				return "", fmt.Errorf("%d grows beyond 64 bits, which it does not: the device computes wrongly", at)
			}
			s.Total += n
			if n > s.Steps || s.Longest == 0 {
				s.Longest, s.Steps = at, n
			}
		}
		s.Done += uint64(len(some))
		app.FractionDone(float64(s.Done) / float64(r.Count))
		if app.TimeToCheckpoint() {
			if err := s.save(); err != nil {
				return "", fmt.Errorf("write checkpoint: %w", err)
			}
			app.CheckpointCompleted()
		}
	}
	return fmt.Sprintf("numbers %d to %d\nlongest %d with %d steps\ntotal %d steps\n", r.First, r.First+r.Count-1, s.Longest, s.Steps, s.Total), nil
}

// file is in the slot, where only this program uses it.
const file = "checkpoint"

// save replaces the checkpoint in one step: a kill leaves the old one or the new one.
func (s state) save() error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	f, err := os.Create(file + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// load returns the saved state of a span, or the state of a new start.
func load(r span) state {
	var s state
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		log.Printf("checkpoint ignored: %v", err)
	case s.Of != r || s.Done > r.Count:
		log.Print("checkpoint ignored: it belongs to another input")
	default:
		return s
	}
	return state{Of: r}
}
