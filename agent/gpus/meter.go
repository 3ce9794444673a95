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

// ReadEvery is the interval at which sensors are read.
const ReadEvery = 10 * time.Second

// silence is the maximum time for which a starling-detect that reads sensors may print nothing.
// pause is the time after a failed one before another is started.
const (
	silence = time.Minute
	pause   = 10 * time.Minute
)

// A Meter reads the sensors of the computer's GPUs. Some are in the system's files. For those of
// NVIDIA's driver it runs a starling-detect as long as they are wanted. That may crash or hang. It
// is then started again after a while, and its GPUs have no readings until then. The zero value is
// ready. Its methods are not for concurrent use.
type Meter struct {
	Detector Detector

	child *sensorChild // nil: none runs
	again time.Time    // none is started before
}

// Read returns readings that are at most [ReadEvery] old. nvidia is set if readings of NVIDIA's
// driver are wanted. A child that was started ends with ctx.
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
		return // detection has reported that
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

// A sensorChild is a starling-detect that prints readings.
type sensorChild struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended

	mu       sync.Mutex
	partial  []byte // of the line that it is printing
	since    time.Time
	at       time.Time // of the last reply (zero: none yet)
	readings []Reading
}

// Write handles the output of the child.
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

// heard returns the time of its last output, or of its start.
func (c *sensorChild) heard() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.IsZero() {
		return c.since
	}
	return c.at
}

// last returns its last readings, unless they are old.
func (c *sensorChild) last() []Reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.at) > silence {
		return nil
	}
	return c.readings
}
