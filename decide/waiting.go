package decide

import (
	"cmp"
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// A Transfer is a file transfer that failed and will be tried again.
type Transfer struct {
	File string    `json:"file"`
	Next time.Time `json:"next"` // the next attempt
	reason.Reason
}

// after returns a sentence that names the files a result waits for, followed by the reason for the
// wait.
func (t Transfer) after(sentence string, now time.Time) string {
	if t.File == "" {
		return sentence
	}
	return fmt.Sprintf("%s %s Trying %s again %s.", sentence, cmp.Or(t.Text(now), "The transfer failed."), t.File, words.When(t.Next, now))
}

// OveruseCure is the remedy for tasks of a project that need more CPU time than it claims.
const OveruseCure = "Ask the project to correct its application. The tasks run in addition to others again once they use less than a tenth of a CPU. " +
	"To fetch no more of them: starling nomorework %s"

// overuse returns a sentence to add to a result's reason if its project's claim of low CPU use is
// ignored.
func (r *Result) overuse() string {
	if r.Overuse <= 0 {
		return ""
	}
	return fmt.Sprintf(" Its project says that its tasks need little CPU time, but they used %.2g CPUs on average, so they take turns with others.", r.Overuse)
}

// expected is the computing time that a task may take before its missing progress is worth
// mentioning. After stuck times its estimate it may never end.
const (
	expected = time.Minute
	stuck    = 5
)

// overdue reports whether it has computed for several times its estimate and reports nothing.
func (r *Result) overdue() bool {
	return r.Fraction == 0 && r.Elapsed > stuck*max(r.Stated, expected)
}

// silence returns the consequence, for a running task, of reporting no progress. It is "" if the
// task reports progress, or need not yet.
func (r *Result) silence() string {
	switch {
	case r.overdue():
		return fmt.Sprintf("It has computed for %s instead of the estimated %s, and its application reports no progress: it may never end.", words.Span(r.Elapsed), words.Span(r.Stated))
	case r.Fraction == 0 && r.Elapsed > max(r.Stated, expected):
		return "Its application reports no progress, so its progress and the time remaining are guesses."
	}
	return ""
}

// Cure returns the remedy for the obstacle to the result's files or to its start, or for its
// project's false claim about CPU time, given the project's URL. It is "" if nothing needs to be
// done.
func (r *Result) Cure(project string) string {
	cure := cmp.Or(r.Transfer.Cure(""), r.Obstacle.Cure(""))
	if cure == "" && r.Overuse > 0 {
		cure = fmt.Sprintf(OveruseCure, project)
	}
	return cure
}

const seeFiles = "See the files with: starling transfers"

// Waiting returns the reason for which a result waits for its files to be transferred, and why that
// takes so long if an attempt failed. It returns a reason without code for all other results.
func (r *Result) Waiting(now time.Time) reason.Explanation {
	switch r.Phase {
	case Fetching:
		return reason.Explanation{Code: reason.WaitsForFiles, Text: r.Transfer.after("Waiting for its input files.", now), Cure: cmp.Or(r.Transfer.Cure(""), seeFiles)}
	case Sending:
		return reason.Explanation{Code: reason.SendsFiles, Text: r.Transfer.after("Uploading its output files.", now), Cure: cmp.Or(r.Transfer.Cure(""), seeFiles)}
	}
	return reason.Explanation{}
}
