package gpus

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// ReadEvery is how often sensors are read.
const ReadEvery = 10 * time.Second

// silence is how long a starling-detect that reads sensors may print nothing, and pause is
// how long none is started after one that failed.
const (
	silence = time.Minute
	pause   = 10 * time.Minute
)

// A Meter reads the sensors of the computer's GPUs: those that the system's files show, and
// those of NVIDIA's driver by a starling-detect that runs as long as they are wanted. That
// may crash or hang: it is started anew after a while, and its GPUs are not known until then.
// The zero value is ready. Its methods are not for concurrent use.
type Meter struct {
	Detector Detector

	child *sensorChild // nil: none runs
	again time.Time    // none is started before
}

// Read returns what sensors read at most [ReadEvery] ago; nvidia tells whether those of
// NVIDIA's driver are wanted. A child that was started ends with ctx.
func (m *Meter) Read(ctx context.Context, now time.Time, nvidia bool) []Reading {
	all := readings()
	switch {
	case m.child != nil && m.child.ended():
		m.child, m.again = nil, now.Add(pause)
	case m.child != nil && (!nvidia || now.Sub(m.child.heard()) > silence):
		m.child.cancel() // and no other one until it has ended: one that the kernel holds stays
	case m.child == nil && nvidia && !now.Before(m.again):
		m.start(ctx, now)
	}
	if m.child == nil || !nvidia {
		return all
	}
	return append(all, m.child.last()...)
}

// start runs a starling-detect.
func (m *Meter) start(ctx context.Context, now time.Time) {
	m.again = now.Add(pause)
	program, err := m.Detector.program()
	if err != nil {
		return // detection has said so
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &sensorChild{cancel: cancel, done: make(chan struct{}), since: now}
	cmd := exec.CommandContext(ctx, program, append(append([]string{}, m.Detector.Args...), NVIDIASensors)...)
	cmd.Stdout, cmd.WaitDelay, cmd.Dir = c, grace, os.TempDir()
	// It ends when its input does: with this process, however that ends.
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return
	}
	m.child = c
	go func() {
		defer cancel()
		defer func(w io.Closer) { _ = w.Close() }(input)
		_ = cmd.Wait()
		close(c.done)
	}()
}

// A sensorChild is a starling-detect that prints what it reads.
type sensorChild struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended

	mu       sync.Mutex
	partial  []byte // of the line that it is printing
	since    time.Time
	at       time.Time // of the last reply (zero: none yet)
	readings []Reading
}

// Write takes in what it prints.
func (c *sensorChild) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.partial = append(c.partial, p...)
	for {
		line, rest, whole := bytes.Cut(c.partial, []byte("\n"))
		if !whole {
			break
		}
		if a, ok := parse(line); ok {
			c.readings, c.at = a.Readings, time.Now()
		}
		c.partial = rest
	}
	if len(c.partial) > mostOutput {
		c.partial = nil
	}
	return len(p), nil
}

func (c *sensorChild) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// heard is when it last said something, or was started.
func (c *sensorChild) heard() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return c.since
	}
	return c.at
}

// last is what it last read, unless that is long ago.
func (c *sensorChild) last() []Reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) > silence {
		return nil
	}
	return c.readings
}
