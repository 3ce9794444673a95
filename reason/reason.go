// Package reason has every "no" of the agent. A problem with a project, a failed task, a file or a
// start that has to wait and a server's refusal to send work are Reasons, and each of their codes has
// its sentence and its cure in one table. Why a task runs and why a project is asked for work, or
// not, are Explanations. It is policy: values in, values out.
//
// It does not classify errors: scheduler_op.Diagnose, executor and agent/life give codes. Sentences
// with figures of a decision are made where the decision is, in jobsched and workfetch.
package reason

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// A Code identifies a reason. The codes are in the state on disk and in JSON, so existing ones must
// not change.
type Code string

// A Reason is why something did not happen. The zero value means that all is well. Its form in
// JSON is also its form on disk, so existing names must not change.
type Reason struct {
	Code Code `json:"code,omitempty"`
	// About is the host, HTTP status, file, signal or message that the sentence names.
	About string `json:"about,omitempty"`
	// Detail is the original error or the last lines of a failed application, for experts. Of a
	// refusal it is the missing resource, as a part of a sentence.
	Detail string `json:"detail,omitempty"`

	Task string  `json:"task,omitempty"` // the name of the task
	App  string  `json:"app,omitempty"`  // of a refusal ("": all)
	Kind string  `json:"kind,omitempty"` // of coprocessor
	Need float64 `json:"need,omitempty"` // in the unit of the code
	Have float64 `json:"have,omitempty"` // likewise

	Since time.Time `json:"since,omitzero"` // the first time in a row
	Until time.Time `json:"until,omitzero"` // when it ends without action (zero if unknown)
}

// An Explanation is a reason in the words that people read, with the figures of the decision that it
// explains.
type Explanation struct {
	Code  Code       `json:"code"`
	Text  words.Text `json:"text"`
	Cure  words.Text `json:"cure,omitzero"`  // the remedy (empty if nothing needs to be done)
	Until time.Time  `json:"until,omitzero"` // when it changes (zero if unknown)
}

// An Entry has the texts for people about a code. They are templates, see Text and Cure.
type Entry struct {
	Code    Code
	Text    string
	Unnamed string // the text if About or Detail is unknown ("": it names nothing)
	Cure    string // "": nothing needs to be done
}

// made is an Entry with the texts that are the same for all reasons.
type made struct {
	Entry
	text, unnamed words.Text // of those without values
	sentences     []string   // of the cure
}

// table has the texts for each code.
var table = func() map[Code]*made {
	all := make(map[Code]*made)
	for _, part := range [][]Entry{Troubles, Managers, Failures, Obstacles, Refusals, Requests, Tasks} {
		for _, e := range part {
			all[e.Code] = &made{e, words.T(e.Text), words.T(e.Unnamed), Sentences(e.Cure)}
		}
	}
	return all
}()

// Is reports whether there is a reason.
func (r Reason) Is() bool { return r.Code != "" }

// Or returns r, with another code if this version lacks a text for its code. Later versions and newer
// servers may have more codes.
func (r Reason) Or(code Code) Reason {
	if r.Is() && table[r.Code] == nil {
		r.Code = code
	}
	return r
}

// Text returns the reason as a sentence, for a failure as the end of one. It is empty without a
// reason.
func (r Reason) Text(now time.Time) words.Text {
	e := table[r.Code]
	if e == nil {
		return words.Text{}
	}
	text, whole := e.Text, e.text
	if r.About == "" && strings.Contains(text, "{about}") || r.Detail == "" && strings.Contains(text, "{detail}") {
		text, whole = e.Unnamed, e.unnamed
	}
	if !strings.Contains(text, "{") {
		return whole
	}
	tasks, left, until, amount := words.T("Its tasks"), words.T("The remaining tasks"), words.T("today"), units[r.Code]
	if r.App != "" {
		tasks, left = words.T("Tasks of {app}", "app", r.App), words.T("The remaining tasks of {app}", "app", r.App)
	}
	var gpus words.Text
	if r.Kind != "" {
		gpus = words.T(" for its {kind} GPUs", "kind", r.Kind)
	}
	if !r.Until.IsZero() {
		until = words.T("until {time}", "time", words.Time(r.Until, now))
	}
	if amount == nil {
		amount = number
	}
	about := any(r.About)
	if r.Code == Detached { // a word of ours
		about = words.T(r.About)
	}
	return words.T(text, "about", about, "detail", words.T(r.Detail), "tasks", tasks, "left", left, "kind", r.Kind, "gpus", gpus,
		"need", amount(r.Need), "have", amount(r.Have), "until", until)
}

// Cure returns the remedy, which is empty if nothing needs to be done. masterURL is the project's
// address. It is "" if a contact with the project does not help, as for a file that cannot be
// transferred.
func (r Reason) Cure(masterURL string) words.Text {
	e := table[r.Code]
	if e == nil {
		return words.Text{}
	}
	var all []words.Text
	for _, sentence := range e.sentences {
		if sentence != tryNow || masterURL != "" {
			all = append(all, words.T(sentence, "url", masterURL, "task", r.Task))
		}
	}
	return words.And(all...)
}

// endings are the sentences at the end of several cures.
var endings = []string{tryNow, syncNow, leaveIt, keeps, nomore, retries, Elsewhere, detach}

// Sentences divides the template of a cure before its usual endings, which are translated once.
func Sentences(cure string) []string {
	for _, end := range endings {
		if before, ok := strings.CutSuffix(cure, " "+end); ok {
			return append(Sentences(before), end)
		}
	}
	if cure == "" {
		return nil
	}
	return []string{cure}
}

// In returns the explanation in a language.
func (e Explanation) In(l words.Language) Explanation {
	e.Text, e.Cure = e.Text.Only(l), e.Cure.Only(l)
	return e
}

// Explain returns the reason in words, see Text and Cure.
func (r Reason) Explain(masterURL string, now time.Time) Explanation {
	return Explanation{r.Code, r.Text(now), r.Cure(masterURL), r.Until}
}
