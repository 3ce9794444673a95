package control

import (
	"context"
	"log/slog"
	"sync"
)

// MaxMessages is the number of log lines that an agent keeps for tools.
const MaxMessages = 2000

// A Journal keeps the last lines of the log for tools, and passes all on. It may be
// used concurrently.
type Journal struct {
	next slog.Handler
	kept *kept
	own  []slog.Attr // of loggers made with With
}

type kept struct {
	mu    sync.Mutex
	most  int
	lines []Message
	seqno int
}

// NewJournal keeps the last lines of INFO and above, at most most.
func NewJournal(next slog.Handler, most int) *Journal {
	return &Journal{next: next, kept: &kept{most: most}}
}

// Enabled reports whether a level is written down or kept.
func (j *Journal) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || j.next.Enabled(ctx, l)
}

// Handle keeps a record and passes it on.
func (j *Journal) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		j.keep(r)
	}
	if !j.next.Enabled(ctx, r.Level) {
		return nil
	}
	return j.next.Handle(ctx, r)
}

// WithAttrs is for loggers made with With.
func (j *Journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	own := append(append([]slog.Attr(nil), j.own...), attrs...)
	return &Journal{j.next.WithAttrs(attrs), j.kept, own}
}

// WithGroup is not used for messages that people read.
func (j *Journal) WithGroup(name string) slog.Handler {
	return &Journal{j.next.WithGroup(name), j.kept, j.own}
}

func (j *Journal) keep(r slog.Record) {
	m := NewMessage(r, j.own)
	k := j.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seqno++
	m.Seqno = k.seqno
	k.lines = append(k.lines, m)
	if len(k.lines) > k.most+k.most/8 { // rarely, as all lines are copied
		k.lines = append(k.lines[:0:0], k.lines[len(k.lines)-k.most:]...)
	}
}

// After returns the kept lines with numbers above seqno, or for a negative number the last line
// alone.
func (j *Journal) After(seqno int) []Message {
	k := j.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	i := max(0, len(k.lines)-k.most)
	if seqno < 0 {
		i = max(0, len(k.lines)-1)
	}
	for i < len(k.lines) && k.lines[i].Seqno <= seqno {
		i++
	}
	return append([]Message(nil), k.lines[i:]...)
}
