package reason

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// The reasons for which a project sent no work that policies distinguish. All of them are in
// Refusals: the element <starling_refusal> of a reply, see docs/protocol.md. BOINC's servers give
// sentences only.
const (
	RefusedMemory Code = "memory" // bytes
	RefusedDisk   Code = "disk"   // bytes
	NotSent       Code = "other"  // also of the codes of newer servers
)

const (
	something      = "{tasks} need something that this computer does not have"
	itEnds         = "Wait: this ends without your help."
	compiled       = "Only the project can change that. " + Elsewhere
	virtual        = "Find the reason with: starling doctor"
	longer         = "Leave the computer on for longer, or allow computing at more hours."
	ownPreferences = "Change your preferences for the project on its web site."
)

// Refusals are the reasons for which a project sent no work.
var Refusals = []Entry{
	{"no_tasks", "The project is out of tasks.", "", ""},
	{"platform", "{tasks} need a program for another kind of computer.", "", compiled},
	{"plan_class", "{tasks} need {detail}.", something + ".", compiled},
	{"virtualbox", "{tasks} need {detail}.", something + ".", virtual},
	{"containers", "{tasks} need {detail}.", something + ".", virtual},
	{"images", "{tasks} are in container images, which this computer does not run.", "", virtual},
	{"image_gpu", "{tasks} are in container images, in which this computer's GPU cannot be used.", "", virtual},
	{"client_version", "{tasks} need {detail}, and this computer runs {have}.", something + ", and this computer runs {have}.", "Install a newer version of this program."},
	{RefusedMemory, "{tasks} need {need} of memory, and may use {have} here.", "", ""},
	{RefusedDisk, "{tasks} need {need} of disk space, and may use {have} here.", "", ""},
	{"bandwidth", "{tasks} need a download speed of {need} a second, and this computer has {have} a second.", "", compiled},
	{"deadline", "{tasks} would take this computer {need}, and are due after {have}.", "", longer},
	{"daily_quota", "This computer has had the {have} tasks that the project allows it {until}. The number rises with each valid result.", "", itEnds},
	{"tasks_in_progress", "This computer has the {have} tasks of the project{gpus} that it may have at a time.", "", "Wait: more can be fetched once some are reported."},
	{"too_recent", "The project wants a pause of {need} between requests, and the last one was {have} ago.", "", itEnds},
	{"code_sign_key", "The project has changed its security key.", "", ""},
	{"excluded", "{detail}.", "The project does not send tasks to this computer.", "Ask the project why, on its web site."},
	{"has_one", "{left} belong to workunits of which this computer already has or had one.", "", itEnds},
	{"committed", "{left} are for computers of another kind, so that results can be compared.", "", itEnds},
	{"reserved", "{left} are reserved for the computers that have their files.", "", itEnds},
	{"chain", "The next task of a chain follows once the result that this computer reported is validated.", "", itEnds},
	{"unreliable", "{left} are reserved for computers with a good record.", "", "Wait: each valid result improves this computer's record, and after 24 hours any computer may have them."},
	{"trusted", "{left} check doubtful results, and are reserved for accounts that the project trusts.", "", itEnds},
	{"app_stopped", "The project has stopped sending tasks for now.", "", itEnds},
	{"gpu", "Its tasks do not use this computer's GPUs.", "", ""},
	{"processor", "{left} compute on processors for which no work was requested.", "", itEnds},
	{"unconfirmed", "The project sends tasks only after the e-mail address of your account is confirmed.", "", "Open the link in the e-mail that the project sent you, or log in on its web site to have it sent again."},
	{"preferences", "Your preferences for the project {detail}.", "Your preferences for the project exclude its tasks.", ownPreferences},
	{"app_info", "{tasks} {detail} (app_info.xml).", "{tasks} need a version that this computer can use (app_info.xml).", "Add such a version to app_info.xml, or remove the file to use the project's programs."},
	{NotSent, "The remaining tasks could not be sent to this computer.", "", itEnds},
}

// units are the units of Need and Have, by code. All others are numbers of tasks.
var units = map[Code]func(float64) words.Text{
	"client_version": release,
	RefusedMemory:    words.Bytes[float64],
	RefusedDisk:      words.Bytes[float64],
	"bandwidth":      words.Bytes[float64],
	"deadline":       span,
	"too_recent":     span,
}

func number(v float64) words.Text { return words.Number(int64(v)) }

func span(seconds float64) words.Text {
	return words.Plain(words.Span(time.Duration(seconds * float64(time.Second))))
}

// release returns a version of a client, which is 10000·major + 100·minor + release.
func release(v float64) words.Text {
	n := int(v)
	return words.Plain(fmt.Sprintf("%d.%d.%d", n/10000, n/100%100, n%100))
}
