package main

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// The maximum number of warnings and errors with one message that are logged, and in which time. While
// a database is away, every request fails with the same message, and the log would fill the disk.
const (
	maxRepeats   = 20
	repeatWindow = time.Minute
)

// A repeatLimit is a log handler that leaves out further lines with the same message. The last line
// before these has the attribute more, and at the end of the time a line has left_out, their number.
type repeatLimit struct {
	slog.Handler
	counts *repeatCounts
}

func limitRepeats(h slog.Handler) slog.Handler { return repeatLimit{h, &repeatCounts{to: h}} }

// Handle implements slog.Handler.
func (l repeatLimit) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return l.Handler.Handle(ctx, r)
	}
	n := l.counts.add(r.Message)
	if n > maxRepeats {
		return nil
	}
	if n == maxRepeats {
		r = r.Clone()
		r.AddAttrs(slog.String("more", "left out for up to "+repeatWindow.String()))
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l repeatLimit) WithAttrs(attrs []slog.Attr) slog.Handler {
	return repeatLimit{l.Handler.WithAttrs(attrs), l.counts}
}

// WithGroup implements slog.Handler.
func (l repeatLimit) WithGroup(name string) slog.Handler {
	return repeatLimit{l.Handler.WithGroup(name), l.counts}
}

// repeatCounts has the messages of this window. Its methods may be called concurrently.
type repeatCounts struct {
	to slog.Handler
	mu sync.Mutex
	of map[string]int // nil between windows
}

// add counts a message, and returns its number in this window.
func (c *repeatCounts) add(message string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[string]int)
		time.AfterFunc(repeatWindow, c.end)
	}
	c.of[message]++
	return c.of[message]
}

// end ends the window, and logs how many lines were left out in it.
func (c *repeatCounts) end() {
	c.mu.Lock()
	of := c.of
	c.of = nil
	c.mu.Unlock()
	for _, message := range slices.Sorted(maps.Keys(of)) {
		if left := of[message] - maxRepeats; left > 0 {
			slog.New(c.to).Warn("lines left out", "left_out", left, "message", message)
		}
	}
}
