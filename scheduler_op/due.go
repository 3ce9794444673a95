package schedulerop

import "time"

// When finished results are reported.
//
// Source: BOINC client/cs_scheduler.cpp.
const (
	maxReportDelay   = time.Hour
	reportAtLeast    = 64
	deadlineCushion  = 24 * time.Hour
	uploadGraceDelay = 5 * time.Minute // a result about to be uploaded is waited for
)

// Finished is what the decision to report needs to know of a result that is
// ready to be reported.
type Finished struct {
	Deadline    time.Time
	Completed   time.Time
	Immediately bool
}

// Backlog is a project's finished work.
type Backlog struct {
	Ready      []Finished
	Unfinished int  // results that still compute or upload
	NoMoreWork bool // the volunteer wants no new work
	Eager      bool // results are reported as soon as they are ready
	// LastUpload is the start of the youngest upload under way; zero: none.
	LastUpload time.Time
	WorkBuffer time.Duration // how long a report may wait for the next fetch
}

// ReportDue tells whether results must be reported now rather than with the
// next request for work, and why. It differs from BOINC's client in one thing:
// when nothing else of the project is left on the host there is nothing to wait
// for.
func ReportDue(b Backlog, now time.Time) (reason string, due bool) {
	if len(b.Ready) == 0 {
		return "", false
	}
	if !b.LastUpload.IsZero() && now.Sub(b.LastUpload) < uploadGraceDelay {
		return "", false
	}
	switch {
	case b.Eager:
		return "results are reported at once", true
	case b.NoMoreWork:
		return "no new work is wanted", true
	case b.Unfinished == 0:
		return "nothing else of the project is left", true
	case len(b.Ready) >= reportAtLeast:
		return "many results are ready", true
	}
	cushion := max(deadlineCushion, b.WorkBuffer)
	for _, r := range b.Ready {
		switch {
		case r.Immediately:
			return "the project wants it at once", true
		case now.After(r.Deadline.Add(-cushion)):
			return "a deadline is near", true
		case now.After(r.Completed.Add(maxReportDelay)):
			return "a result has been ready for an hour", true
		}
	}
	return "", false
}
