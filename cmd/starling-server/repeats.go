package main

import (
	"context"
	"log/slog"
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
// before these has the attribute more, and the first one after them left_out, their number.
type repeatLimit struct {
	slog.Handler
	counts *repeatCounts
}

func limitRepeats(h slog.Handler) slog.Handler { return repeatLimit{h, new(repeatCounts)} }

// Handle implements slog.Handler.
func (l repeatLimit) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return l.Handler.Handle(ctx, r)
	}
	n, before := l.counts.add(r.Message, r.Time)
	if n > maxRepeats {
		return nil
	}
	r = r.Clone()
	if before > 0 {
		r.AddAttrs(slog.Int("left_out", before))
	}
	if n == maxRepeats {
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
	mu    sync.Mutex
	since time.Time
	of    map[string]int
	last  map[string]int // of the window before
}

// add counts a message. It returns how many it is in this window. For the first one it also returns
// how many were left out in the window before.
func (c *repeatCounts) add(message string, now time.Time) (n, before int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.since) >= repeatWindow {
		c.since, c.of, c.last = now, make(map[string]int), c.of
	}
	c.of[message]++
	if n = c.of[message]; n == 1 {
		before = max(0, c.last[message]-maxRepeats)
	}
	return n, before
}
