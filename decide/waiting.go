package decide

import (
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
func (t Transfer) after(sentence words.Text, now time.Time) words.Text {
	if t.File == "" {
		return sentence
	}
	return words.And(sentence, words.Or(t.Text(now), words.T("The transfer failed.")), words.T("Trying {file} again {when}.", "file", t.File, "when", words.When(t.Next, now)))
}

// OveruseCure is the remedy for tasks of a project that need more CPU time than it claims.
func OveruseCure(project string) words.Text {
	return words.And(words.T("Ask the project to correct its application. The tasks run in addition to others again once they use less than a tenth of a CPU."),
		words.T("To fetch no more of them: starling nomorework {url}", "url", project))
}

// overuse returns a sentence to add to a result's reason if its project's claim of low CPU use is
// ignored.
func (r *Result) overuse() words.Text {
	if r.Overuse <= 0 {
		return words.Text{}
	}
	return words.T("Its project says that its tasks need little CPU time, but they used {cpus} CPUs on average, so they take turns with others.", "cpus", fmt.Sprintf("%.2g", r.Overuse))
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

// silence returns the consequence, for a running task, of reporting no progress. It is empty if the
// task reports progress, or need not yet.
func (r *Result) silence() words.Text {
	switch {
	case r.overdue():
		return words.T("It has computed for {elapsed} instead of the estimated {stated}, and its application reports no progress: it may never end.", "elapsed", words.Span(r.Elapsed), "stated", words.Span(r.Stated))
	case r.Fraction == 0 && r.Elapsed > max(r.Stated, expected):
		return words.T("Its application reports no progress, so its progress and the time remaining are guesses.")
	}
	return words.Text{}
}

// Cure returns the remedy for the obstacle to the result's files or to its start, or for its
// project's false claim about CPU time, given the project's URL. It is empty if nothing needs to be
// done.
func (r *Result) Cure(project string) words.Text {
	cure := words.Or(r.Transfer.Cure(""), r.Obstacle.Cure(""))
	if !cure.Is() && r.Overuse > 0 {
		cure = OveruseCure(project)
	}
	return cure
}

var seeFiles = words.T("See the files with: starling transfers")

// Waiting returns the reason for which a result waits for its files to be transferred, and why that
// takes so long if an attempt failed. It returns a reason without code for all other results.
func (r *Result) Waiting(now time.Time) reason.Explanation {
	switch r.Phase {
	case Fetching:
		return reason.Explanation{Code: reason.WaitsForFiles, Text: r.Transfer.after(words.T("Waiting for its input files."), now), Cure: words.Or(r.Transfer.Cure(""), seeFiles)}
	case Sending:
		return reason.Explanation{Code: reason.SendsFiles, Text: r.Transfer.after(words.T("Uploading its output files."), now), Cure: words.Or(r.Transfer.Cure(""), seeFiles)}
	}
	return reason.Explanation{}
}
