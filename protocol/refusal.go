package protocol

import (
	"slices"
	"strconv"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A RefusalCode is the reason why a scheduler sends no task of an application. The set is closed,
// and readers must treat an unknown code as RefusedOther.
type RefusalCode string

// The comment at each code explains the values of Need and Have in a Refusal. Without an
// explanation, they are 0.
const (
	RefusedNoTasks       RefusalCode = "no_tasks"          // there are no tasks to send
	RefusedPlatform      RefusalCode = "platform"          // the project lacks a program for this kind of computer
	RefusedPlanClass     RefusalCode = "plan_class"        // the computer does not meet the requirements of the program's plan class
	RefusedVirtualBox    RefusalCode = "virtualbox"        // the program needs VirtualBox, or another version of it
	RefusedContainers    RefusalCode = "containers"        // the program needs Podman or Docker
	RefusedImages        RefusalCode = "images"            // the program is in a container image, which the computer does not run
	RefusedImageGPU      RefusalCode = "image_gpu"         // the program is in a container image, in which the computer's GPU cannot be used
	RefusedClientVersion RefusalCode = "client_version"    // 10000·major + 100·minor + release
	RefusedMemory        RefusalCode = "memory"            // bytes
	RefusedDisk          RefusalCode = "disk"              // bytes
	RefusedBandwidth     RefusalCode = "bandwidth"         // bytes a second
	RefusedDeadline      RefusalCode = "deadline"          // seconds until it would be done, and seconds allowed
	RefusedQuota         RefusalCode = "daily_quota"       // tasks including one more, and tasks allowed today
	RefusedInProgress    RefusalCode = "tasks_in_progress" // tasks including one more, and tasks allowed on the computer
	RefusedTooRecent     RefusalCode = "too_recent"        // seconds to wait between requests, and seconds passed
	RefusedKey           RefusalCode = "code_sign_key"     // the computer trusts another key
	RefusedExcluded      RefusalCode = "excluded"          // the project does not send anything to this computer
	RefusedHasOne        RefusalCode = "has_one"           // the only jobs left are jobs of which it has or had a task
	RefusedCommitted     RefusalCode = "committed"         // the only jobs left are for computers of another kind
	RefusedReserved      RefusalCode = "reserved"          // reserved for now for the computer that has their files
	RefusedChain         RefusalCode = "chain"             // the next job of a chain waits for the outcome of a job that this computer has reported
	RefusedUnreliable    RefusalCode = "unreliable"        // reserved for computers with a good record
	RefusedTrusted       RefusalCode = "trusted"           // reserved for accounts that the project trusts, to check doubtful results
	RefusedStopped       RefusalCode = "app_stopped"       // the project currently sends no tasks of the application
	RefusedGPU           RefusalCode = "gpu"               // work was wanted only for coprocessors that the project does not have a program for
	RefusedProcessor     RefusalCode = "processor"         // the only tasks left are for a kind of processor for which none were wanted
	RefusedUnconfirmed   RefusalCode = "unconfirmed"       // the e-mail address of the account is not confirmed
	RefusedPreferences   RefusalCode = "preferences"       // the volunteer's preferences for the project exclude the application or the processors, or limit the tasks: tasks on the computer, and tasks wanted
	RefusedAppInfo       RefusalCode = "app_info"          // the volunteer's own programs (app_info.xml) do not include a usable version of the application
	RefusedOther         RefusalCode = "other"
)

// A Refusal is the reason why a request for work brought no tasks, or none of one application. It
// is Starling's own element, <starling_refusal>, in addition to the messages for people. BOINC's
// clients ignore it.
type Refusal struct {
	Code  RefusalCode
	App   string  // name of the application, or "" for all
	Kind  string  // BOINC's name of the kind of coprocessor, or "" for the CPUs or all
	Count int     // number of tasks skipped for this reason, or 0 if it does not concern particular tasks
	Need  float64 // amount that would be needed, the least of several tasks
	Have  float64 // amount that is available
	// Until is the time, to the second, at which the reason ends without anybody's help, or zero if
	// unknown.
	Until time.Time

	Detail string // missing item, in a few words for people, or "" if the numbers suffice
}

const refusalTag = "starling_refusal"

// write writes one empty element. If it had children, BOINC's clients would read them as elements
// of the reply itself, as they do with the children of all unknown elements.
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
	maxDetail = 200     // in bytes: BOINC's clients keep 1,023 bytes of all attributes of an element
)

// RefusalCodes lists all codes. It must not be changed.
var RefusalCodes = []RefusalCode{
	RefusedNoTasks, RefusedPlatform, RefusedPlanClass, RefusedVirtualBox, RefusedContainers, RefusedImages, RefusedImageGPU, RefusedClientVersion, RefusedMemory, RefusedDisk,
	RefusedBandwidth, RefusedDeadline, RefusedQuota, RefusedInProgress, RefusedTooRecent, RefusedKey,
	RefusedExcluded, RefusedHasOne, RefusedCommitted, RefusedReserved, RefusedChain, RefusedUnreliable, RefusedTrusted, RefusedStopped, RefusedGPU, RefusedProcessor,
	RefusedPreferences, RefusedUnconfirmed, RefusedAppInfo, RefusedOther,
}

func (c RefusalCode) known() bool { return slices.Contains(RefusalCodes, c) }
