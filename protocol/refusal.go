package protocol

import (
	"slices"
	"strconv"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A RefusalCode names a reason for which a scheduler sends no task of an
// application. The set is closed; a reader must take a code that it does not
// know for RefusedOther.
type RefusalCode string

// What Need and Have of a Refusal are is said beside each code; where nothing is
// said, they are 0.
const (
	RefusedNoTasks       RefusalCode = "no_tasks"          // there is nothing to send
	RefusedPlatform      RefusalCode = "platform"          // no program for this kind of computer
	RefusedPlanClass     RefusalCode = "plan_class"        // the computer lacks what the program's plan class wants
	RefusedVirtualBox    RefusalCode = "virtualbox"        // the program needs VirtualBox, or another version of it
	RefusedContainers    RefusalCode = "containers"        // the program needs Podman or Docker
	RefusedClientVersion RefusalCode = "client_version"    // 10000·major + 100·minor + release
	RefusedMemory        RefusalCode = "memory"            // bytes
	RefusedDisk          RefusalCode = "disk"              // bytes
	RefusedBandwidth     RefusalCode = "bandwidth"         // bytes a second
	RefusedDeadline      RefusalCode = "deadline"          // seconds: until it would be done, and allowed
	RefusedQuota         RefusalCode = "daily_quota"       // tasks: with one more, and allowed today
	RefusedInProgress    RefusalCode = "tasks_in_progress" // tasks: with one more, and allowed on the computer
	RefusedTooRecent     RefusalCode = "too_recent"        // seconds: to wait between requests, and passed
	RefusedKey           RefusalCode = "code_sign_key"     // the computer trusts another key
	RefusedExcluded      RefusalCode = "excluded"          // the project gives this computer nothing
	RefusedHasOne        RefusalCode = "has_one"           // left are only jobs of which it has or had a task
	RefusedCommitted     RefusalCode = "committed"         // left are only jobs for computers of another kind
	RefusedReserved      RefusalCode = "reserved"          // for now kept for the computer that holds their files
	RefusedChain         RefusalCode = "chain"             // the next job of a chain waits for the outcome of one that this computer has reported
	RefusedUnreliable    RefusalCode = "unreliable"        // kept for computers with a good record
	RefusedStopped       RefusalCode = "app_stopped"       // the project sends no tasks of the application for now
	RefusedGPU           RefusalCode = "gpu"               // the project has no program for the coprocessors for which alone work was wanted
	RefusedProcessor     RefusalCode = "processor"         // left are only tasks for a kind of processor for which none were wanted
	RefusedUnconfirmed   RefusalCode = "unconfirmed"       // the e-mail address of the account is not confirmed
	RefusedPreferences   RefusalCode = "preferences"       // the volunteer's preferences for the project exclude the application or the processors; or tasks: on the computer, and wanted
	RefusedAppInfo       RefusalCode = "app_info"          // the volunteer's own programs (app_info.xml) have no version of the application that could be used
	RefusedOther         RefusalCode = "other"
)

// A Refusal says why a request for work brought nothing, or nothing of one
// application. It is Starling's own element, <starling_refusal>, beside the
// messages, which are for people; BOINC's clients pass over it.
type Refusal struct {
	Code  RefusalCode
	App   string  // name of the application; "" all
	Kind  string  // of coprocessor that it is about, by BOINC's name; "" the CPUs, or all
	Count int     // tasks passed over for this reason; 0 it is about none in particular
	Need  float64 // what would be needed; of several tasks the least
	Have  float64 // what there is
	// Until is when it ends by itself, to the second; zero: not known.
	Until time.Time

	Detail string // what is missing, in a few words for people; "" where the numbers say it
}

const refusalTag = "starling_refusal"

// write writes one empty element: BOINC's clients read the children of an
// element that they do not know at the top of a reply as if they stood there.
func (r Refusal) write(w *bxml.Writer) {
	var b []byte
	attr := func(name, value string) {
		b = append(b, ' ')
		b = append(b, name...)
		b = append(b, '=')
		b = append(b, '"')
		b = append(b, bxml.EscapeAttr(value)...)
		b = append(b, '"')
	}
	attr("code", string(r.Code))
	if r.App != "" {
		attr("app", r.App)
	}
	if r.Kind != "" {
		attr("kind", r.Kind)
	}
	if r.Count != 0 {
		attr("count", strconv.Itoa(r.Count))
	}
	if r.Need != 0 || r.Have != 0 {
		attr("need", strconv.FormatFloat(r.Need, 'f', -1, 64))
		attr("have", strconv.FormatFloat(r.Have, 'f', -1, 64))
	}
	if !r.Until.IsZero() {
		attr("until", strconv.FormatInt(r.Until.Unix(), 10))
	}
	if r.Detail != "" {
		attr("detail", r.Detail[:min(len(r.Detail), maxDetail)])
	}
	w.Raw("<" + refusalTag + string(b) + "/>")
}

func scanRefusal(s *bxml.Scanner) Refusal {
	number := func(name string) float64 {
		f, err := strconv.ParseFloat(s.Attr(name), 64)
		if err != nil || f != f || f < 0 || f > maxAmount {
			return 0
		}
		return f
	}
	r := Refusal{
		Code: RefusalCode(s.Attr("code")), App: s.Attr("app"), Kind: s.Attr("kind"),
		Count: int(min(number("count"), maxList)), Need: number("need"), Have: number("have"),
		Detail: s.Attr("detail"),
	}
	if at := int64(number("until")); at > 0 && at < maxUntil {
		r.Until = time.Unix(at, 0)
	}
	if !r.Code.known() {
		r.Code = RefusedOther
	}
	s.Skip()
	return r
}

const (
	maxAmount = 1e18    // bounds the numbers of a refusal
	maxUntil  = 1 << 36 // seconds, in the year 4147
	maxDetail = 200     // bytes; BOINC's clients keep 1 023 of all attributes of an element
)

// RefusalCodes are all of them. The slice is not to be changed.
var RefusalCodes = []RefusalCode{
	RefusedNoTasks, RefusedPlatform, RefusedPlanClass, RefusedVirtualBox, RefusedContainers, RefusedClientVersion, RefusedMemory, RefusedDisk,
	RefusedBandwidth, RefusedDeadline, RefusedQuota, RefusedInProgress, RefusedTooRecent, RefusedKey,
	RefusedExcluded, RefusedHasOne, RefusedCommitted, RefusedReserved, RefusedChain, RefusedUnreliable, RefusedStopped, RefusedGPU, RefusedProcessor,
	RefusedPreferences, RefusedUnconfirmed, RefusedAppInfo, RefusedOther,
}

func (c RefusalCode) known() bool { return slices.Contains(RefusalCodes, c) }
