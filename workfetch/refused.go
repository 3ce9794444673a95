package workfetch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// A Refused is one reason for which a project sent no work, as its server gave it: the element
// <starling_refusal> of a reply. BOINC's servers give sentences only.
type Refused struct {
	Code   RefusedCode `json:"code"`
	App    string      `json:"app,omitempty"`    // "": all
	Kind   string      `json:"kind,omitempty"`   // of coprocessor
	Need   float64     `json:"need,omitempty"`   // in the unit of the code
	Have   float64     `json:"have,omitempty"`   // likewise
	Until  time.Time   `json:"until,omitzero"`   // when it ends without action (zero if unknown)
	Detail string      `json:"detail,omitempty"` // the missing resource, as a part of a sentence
}

// A RefusedCode is a code of the protocol. See docs/protocol.md.
type RefusedCode string

// Codes that the agent acts on.
const (
	refusedMemory RefusedCode = "memory" // bytes
	refusedDisk   RefusedCode = "disk"   // bytes
)

// MaxRefused is the maximum number of reasons that are kept of an answer.
const MaxRefused = 8

// mostRefused is the maximum number of reasons in a sentence about a project.
const mostRefused = 3

const (
	itEnds      = "Wait: this ends without your help."
	compiled    = "Only the project can change that. " + elsewhere
	virtual     = "Find the reason with: starling doctor"
	longer      = "Leave the computer on for longer, or allow computing at more hours."
	preferences = "Change your preferences for the project on its web site."
)

type refusal struct {
	text, cure string
	amount     func(float64) string // nil: whole
}

// refusals has a sentence and a cure for each code. amount is the unit of need and have.
var refusals = map[RefusedCode]refusal{
	"no_tasks":          {text: "The project is out of tasks."},
	"platform":          {text: "{tasks} need a program for another kind of computer.", cure: compiled},
	"plan_class":        {text: "{tasks} need {detail}.", cure: compiled},
	"virtualbox":        {text: "{tasks} need {detail}.", cure: virtual},
	"containers":        {text: "{tasks} need {detail}.", cure: virtual},
	"images":            {text: "{tasks} are in container images, which this computer does not run.", cure: virtual},
	"client_version":    {text: "{tasks} need {detail}, and this computer runs {have}.", cure: "Install a newer version of this program.", amount: release},
	refusedMemory:       {text: "{tasks} need {need} of memory, and may use {have} here.", amount: words.Bytes[float64]},
	refusedDisk:         {text: "{tasks} need {need} of disk space, and may use {have} here.", amount: words.Bytes[float64]},
	"bandwidth":         {text: "{tasks} need a download speed of {need} a second, and this computer has {have} a second.", cure: compiled, amount: words.Bytes[float64]},
	"deadline":          {text: "{tasks} would take this computer {need}, and are due after {have}.", cure: longer, amount: span},
	"daily_quota":       {text: "This computer has had the {have} tasks that the project allows it {until}. The number rises with each valid result.", cure: itEnds, amount: whole},
	"tasks_in_progress": {text: "This computer has the {have} tasks of the project{kind} that it may have at a time.", cure: "Wait: more can be fetched once some are reported.", amount: whole},
	"too_recent":        {text: "The project wants a pause of {need} between requests, and the last one was {have} ago.", cure: itEnds, amount: span},
	"code_sign_key":     {text: "The project has changed its security key."},
	"excluded":          {text: "{detail}.", cure: "Ask the project why, on its web site."},
	"has_one":           {text: "{left} belong to workunits of which this computer already has or had one.", cure: itEnds},
	"committed":         {text: "{left} are for computers of another kind, so that results can be compared.", cure: itEnds},
	"reserved":          {text: "{left} are reserved for the computers that have their files.", cure: itEnds},
	"chain":             {text: "The next task of a chain follows once the result that this computer reported is validated.", cure: itEnds},
	"unreliable":        {text: "{left} are reserved for computers with a good record.", cure: "Wait: each valid result improves this computer's record."},
	"trusted":           {text: "{left} check doubtful results, and are reserved for accounts that the project trusts.", cure: itEnds},
	"app_stopped":       {text: "The project has stopped sending tasks for now.", cure: itEnds},
	"gpu":               {text: "Its tasks do not use this computer's GPUs."},
	"processor":         {text: "{left} compute on processors for which no work was requested.", cure: itEnds},
	"unconfirmed":       {text: "The project sends tasks only after the e-mail address of your account is confirmed.", cure: "Open the link in the e-mail that the project sent you, or log in on its web site to have it sent again."},
	"preferences":       {text: "Your preferences for the project {detail}.", cure: preferences},
	"app_info":          {text: "{tasks} {detail} (app_info.xml).", cure: "Add such a version to app_info.xml, or remove the file to use the project's programs."},
	"other":             {text: "The remaining tasks could not be sent to this computer.", cure: itEnds},
}

// saying returns the texts for a reason. A code that is only used by newer servers gets the texts
// of "other".
func (r Refused) saying() refusal {
	if s, known := refusals[r.Code]; known {
		return s
	}
	return refusals["other"]
}

// Text returns the reason as a sentence.
func (r Refused) Text(now time.Time) string {
	s := r.saying()
	tasks, left, amount := "Its tasks", "The remaining tasks", s.amount
	if r.App != "" {
		tasks, left = "Tasks of "+r.App, left+" of "+r.App
	}
	if amount == nil {
		amount = whole
	}
	detail, kind, until := r.Detail, "", "today"
	if !r.Until.IsZero() {
		until = "until " + words.Time(r.Until, now)
	}
	if r.Kind != "" {
		kind = " for its " + r.Kind + " GPUs"
	}
	switch {
	case detail != "":
	case r.Code == "excluded":
		detail = "The project does not send tasks to this computer"
	case r.Code == "app_info":
		detail = "need a version that this computer can use"
	default:
		detail = "something that this computer does not have"
	}
	return strings.NewReplacer("{tasks}", tasks, "{left}", left, "{need}", amount(r.Need), "{have}", amount(r.Have), "{detail}", detail, "{kind}", kind, "{until}", until).Replace(s.text)
}

// Cure returns the remedy, or "" if there is none for this reason in particular.
func (r Refused) Cure() string { return r.saying().cure }

// refused returns sentences for the first few reasons for which a project sent no work, without
// repetition, and the remedy for the first of them.
func refused(all []Refused, now time.Time) (text, cure string) {
	var list []string
	for _, r := range all {
		if s := r.Text(now); len(list) < mostRefused && !slices.Contains(list, s) {
			list, cure = append(list, s), cmp.Or(cure, r.Cure())
		}
	}
	return strings.Join(list, " "), cure
}

// needs returns the least amount of a resource that refused tasks need, by the code of the refusal.
// It returns 0 if no task was refused for that reason.
func needs(all []Refused, code RefusedCode) (least int64) {
	for _, r := range all {
		if n := int64(min(r.Need, 1<<62)); r.Code == code && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

func whole(v float64) string { return words.Number(int64(v)) }

// release returns a version of a client, which is 10000·major + 100·minor + release.
func release(v float64) string {
	n := int(v)
	return fmt.Sprintf("%d.%d.%d", n/10000, n/100%100, n%100)
}
