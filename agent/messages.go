package agent

import (
	"context"
	"log/slog"
	"sync"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/guirpc"
)

// A journal keeps the last lines of the log for tools, and passes all on.
type journal struct {
	next slog.Handler
	kept *kept
	own  []slog.Attr // of loggers made with With
}

type kept struct {
	mu    sync.Mutex
	lines []control.Message
	seqno int
}

func newJournal(next slog.Handler) *journal { return &journal{next: next, kept: new(kept)} }

// Enabled reports whether a level is written down or kept.
func (j *journal) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelInfo || j.next.Enabled(ctx, l)
}

// Handle keeps a record and passes it on.
func (j *journal) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		j.keep(r)
	}
	if !j.next.Enabled(ctx, r.Level) {
		return nil
	}
	return j.next.Handle(ctx, r)
}

// WithAttrs is for loggers made with With.
func (j *journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	own := append(append([]slog.Attr(nil), j.own...), attrs...)
	return &journal{j.next.WithAttrs(attrs), j.kept, own}
}

// WithGroup is not used for what people read.
func (j *journal) WithGroup(name string) slog.Handler {
	return &journal{j.next.WithGroup(name), j.kept, j.own}
}

func (j *journal) keep(r slog.Record) {
	m := control.NewMessage(r, j.own)
	k := j.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seqno++
	m.Seqno = k.seqno
	k.lines = append(k.lines, m)
	if len(k.lines) > guirpc.MaxMessages {
		k.lines = append(k.lines[:0:0], k.lines[len(k.lines)-guirpc.MaxMessages:]...)
	}
}

// Logger writes to the agent's log: by the log flags, and kept for tools.
func (a *Agent) Logger() *slog.Logger { return a.log }

// Log returns the kept lines of the log with numbers above after; a negative one
// returns the last line alone.
func (a *Agent) Log(_ context.Context, after int) (control.Log, error) {
	k := a.journal.kept
	k.mu.Lock()
	defer k.mu.Unlock()
	i := 0
	if after < 0 {
		i = max(0, len(k.lines)-1)
	}
	for i < len(k.lines) && k.lines[i].Seqno <= after {
		i++
	}
	return control.Log{Since: a.since, Messages: append([]control.Message(nil), k.lines[i:]...)}, nil
}

// Messages returns the same for BOINC's tools.
func (a *Agent) Messages(after int) []guirpc.Message {
	l, _ := a.Log(context.Background(), after)
	lines := make([]guirpc.Message, len(l.Messages))
	for i, m := range l.Messages {
		lines[i] = guirpc.Message{Seqno: m.Seqno, Time: m.Time, Project: m.Project, Priority: 1, Text: m.Text}
		if m.Level != slog.LevelInfo.String() {
			lines[i].Priority = 2
		}
	}
	return lines
}
