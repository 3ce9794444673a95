package installer

import (
	"context"
	"log/slog"
	"strings"
)

// A record is a log handler that writes errors to the system's log, as text. It may be used
// concurrently if write may.
type record struct {
	write func(text string)
	own   string // attributes of the logger, a line each
}

func (record) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (r record) Handle(_ context.Context, e slog.Record) error {
	var b strings.Builder
	b.WriteString(e.Message + r.own)
	e.Attrs(func(a slog.Attr) bool {
		b.WriteString(line(a))
		return true
	})
	r.write(b.String())
	return nil
}

func (r record) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		r.own += line(a)
	}
	return r
}

func (r record) WithGroup(string) slog.Handler { return r } // not used in this log

func line(a slog.Attr) string { return "\n" + a.Key + ": " + a.Value.Resolve().String() }
