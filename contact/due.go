package contact

import (
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// When finished results are reported.
//
// Source: BOINC client/cs_scheduler.cpp.
const (
	maxReportDelay   = 24 * time.Hour
	reportAtLeast    = 64
	deadlineCushion  = 24 * time.Hour
	uploadGraceDelay = 5 * time.Minute // a result about to be uploaded is waited for
)

// Finished is the input of the decision to report, about a result that is ready to be reported.
type Finished struct {
	Deadline    time.Time
	Completed   time.Time
	Received    time.Time // when the host got it
	Immediately bool
	// OnUntilDeadline is the time for which the computer will be on before the deadline, by its
	// habit (0 if unknown).
	OnUntilDeadline time.Duration
}

// Backlog is a project's finished work.
type Backlog struct {
	Ready       []Finished
	Unfinished  int  // results that still compute or upload
	NothingElse bool // no other project has work here
	NoMoreWork  bool // the volunteer wants no new work
	Eager       bool // results are reported as soon as they are ready
	// LastUpload is the start of the latest upload in progress (zero if none).
	LastUpload time.Time
	// OnFrac is the part of the time that the computer is on (0 means 1). If it is off most of the
	// time, it takes longer until another reason for a session turns up.
	OnFrac float64
}

// Due reports whether results must be reported now rather than with the next request for work, and
// why. It differs from BOINC's client in one way: when nothing else of the project is left on the
// host, it does not wait.
func Due(b Backlog, now time.Time) (reason words.Text, due bool) {
	if len(b.Ready) == 0 {
		return words.Text{}, false
	}
	if !b.LastUpload.IsZero() && now.Sub(b.LastUpload) < uploadGraceDelay {
		return words.Text{}, false
	}
	switch {
	case b.Eager:
		return words.T("results are reported immediately"), true
	case b.NoMoreWork:
		return words.T("the project is set to fetch no more work"), true
	case b.Unfinished == 0 && b.NothingElse:
		return words.T("there is nothing else to do"), true
	case len(b.Ready) >= reportAtLeast:
		return words.T("many results are ready"), true
	}
	delay := maxReportDelay
	if b.OnFrac > 0 && b.OnFrac < 1 {
		delay = time.Duration(float64(maxReportDelay) / max(b.OnFrac, 1.0/7))
	}
	for _, r := range b.Ready {
		switch {
		case r.Immediately:
			return words.T("the project asked for it immediately"), true
		case now.After(r.Deadline.Add(-cushion(r))):
			return words.T("a deadline is near"), true
		case r.OnUntilDeadline > 0 && r.OnUntilDeadline < time.Duration(b.OnFrac*float64(24*time.Hour)):
			return words.T("the computer will be on for less than a day's time before a deadline"), true
		case now.After(r.Completed.Add(delay)):
			return words.T("a result has been ready for a long time"), true
		}
	}
	return words.Text{}, false
}

// cushion returns the minimum time before its deadline at which a result is reported: a twelfth of
// the time that its project allows, at most a day. With a fixed day, as in BOINC's client, each
// result of a project with short deadlines would cost a separate session. A result that seems to have
// come after its deadline was received while the computer's clock was wrong.
func cushion(r Finished) time.Duration {
	if r.Received.IsZero() || r.Received.After(r.Deadline) {
		return deadlineCushion
	}
	return min(deadlineCushion, r.Deadline.Sub(r.Received)/12)
}
