package agent

import (
	"log/slog"
	"time"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

// suspended has the times since when computing and the use of the network have been suspended. A
// zero time means not suspended.
type suspended struct{ computing, network time.Time }

// log logs when something is suspended and why, when the cause changes, and when it is resumed. A
// volunteer who wants to find out in the morning what happened during the night finds the answer in
// the log at its default level.
func (s *suspended) log(l *slog.Logger, before, d decide.Snapshot) {
	l = l.With(logflag.Key, logflag.Task)
	is, now := d.Compute, d.Now
	switch begins := s.computing.IsZero(); {
	case is.Denied() && (begins || is.Code != before.Compute.Code):
		if begins {
			s.computing = now
		}
		l.Info("computing suspended", until(is, now)...)
	case !is.Denied() && !begins:
		l.Info("computing resumed", "after", words.Span(now.Sub(s.computing)))
		s.computing = time.Time{}
	}
	is = d.Network
	switch begins := s.network.IsZero(); {
	case is.Denied() && (begins || is.Code != before.Network.Code):
		if begins {
			s.network = now
		}
		l.Info("network activity suspended", until(is, now)...)
	case !is.Denied() && !begins:
		l.Info("network activity resumed", "after", words.Span(now.Sub(s.network)))
		s.network = time.Time{}
	}
}

// until returns why something is suspended and, if that is known, for how long.
func until(is prefs.Permission, now time.Time) []any {
	attrs := []any{"code", is.Code, "why", is.Why}
	if !is.Until.IsZero() {
		attrs = append(attrs, "until", words.Time(is.Until, now))
	}
	return attrs
}
