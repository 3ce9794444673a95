package decide

import (
	"cmp"
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/obstacle"
)

// A Transfer is a file transfer that failed and is tried again.
type Transfer struct {
	File string    `json:"file"`
	Next time.Time `json:"next"` // the next attempt
	obstacle.Obstacle
}

// after returns the sentence about the wait of a result, followed by the reason for it.
func (t Transfer) after(sentence string, now time.Time) string {
	if t.File == "" {
		return sentence
	}
	return fmt.Sprintf("%s %s Trying %s again %s.", sentence, cmp.Or(t.Cause(), "The transfer failed."), t.File, words.When(t.Next, now))
}

// BeliedCure is the cure for tasks that need more CPU time than their project declares.
const BeliedCure = "Ask the project to correct its application. The tasks run beside others again once they use less than a tenth of a CPU. " +
	"To fetch no more of them: starling nomorework %s"

// belied returns the addition to a result's reason if its project's declaration is not believed.
func (r *Result) belied() string {
	if r.Belied <= 0 {
		return ""
	}
	return fmt.Sprintf(" Its project says that its tasks need little CPU time, but they used %.2g CPUs on average, so they take turns with others.", r.Belied)
}

// expected is the computing time that a task may take before its silence is worth a word, and
// stuck how many times its estimate it takes before it may never end.
const (
	expected = time.Minute
	stuck    = 5
)

// overdue reports whether it has computed for several times its estimate and reports nothing.
func (r *Result) overdue() bool {
	return r.Fraction == 0 && r.Elapsed > stuck*max(r.Stated, expected)
}

// silence returns the consequences for a running task that does not report its progress, or "" if
// it does or need not yet.
func (r *Result) silence() string {
	switch {
	case r.overdue():
		return fmt.Sprintf("It has computed for %s instead of the estimated %s, and its application reports no progress: it may never end.", words.Span(r.Elapsed), words.Span(r.Stated))
	case r.Fraction == 0 && r.Elapsed > max(r.Stated, expected):
		return "Its application reports no progress, so its progress and the time remaining are guesses."
	}
	return ""
}

// Cure returns the cure for an obstacle to the result's files or its start, or for a false
// declaration of its project, given the project's URL. It returns "" if nothing needs to be done.
func (r *Result) Cure(project string) string {
	cure := cmp.Or(r.Transfer.Cure(), r.Obstacle.Cure())
	if cure == "" && r.Belied > 0 {
		cure = fmt.Sprintf(BeliedCure, project)
	}
	return cure
}

const seeFiles = "See the files with: starling transfers"

// Waiting returns the reason why a result waits for its files, with the cause if an attempt failed.
// It returns a reason without code for all other results.
func (r *Result) Waiting(now time.Time) jobsched.Reason {
	switch r.Phase {
	case Fetching:
		return jobsched.Reason{Code: WaitsForFiles, Text: r.Transfer.after("Waiting for its input files.", now), Cure: cmp.Or(r.Transfer.Cure(), seeFiles)}
	case Sending:
		return jobsched.Reason{Code: SendsFiles, Text: r.Transfer.after("Uploading its output files.", now), Cure: cmp.Or(r.Transfer.Cure(), seeFiles)}
	}
	return jobsched.Reason{}
}
