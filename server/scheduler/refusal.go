package scheduler

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
)

// refuse adds the refusals to the reply, as text for people and as data for programs. If there are
// many reasons, the volunteer gets the few that matter most, which are listed first.
func (r *rpc) refuse(why []protocol.Refusal) {
	for i := range why {
		if why[i].Code == protocol.RefusedQuota {
			why[i].Until = nextDay(r.now)
		}
	}
	r.reply.Refusals = append(r.reply.Refusals, why...)
	r.reply.message(protocol.PriorityLow, "No tasks sent")
	for _, f := range why[:min(len(why), maxReasons)] {
		r.reply.message(protocol.PriorityLow, sentence(f))
	}
}

// deny refuses all work for one reason, with its own text.
func (r *rpc) deny(f protocol.Refusal, priority, text string) {
	r.reply.Refusals = append(r.reply.Refusals, f)
	r.reply.message(priority, text)
}

// maxReasons is the maximum number of reasons shown to a person at once.
const maxReasons = 5

// sentence returns a refusal as a sentence for a volunteer.
func sentence(f protocol.Refusal) string {
	app := f.App
	if app == "" {
		app = "this project"
	}
	both := func(show func(float64) string) string {
		return fmt.Sprintf(" (%s: needs %s, allowed %s)", app, show(f.Need), show(f.Have))
	}
	switch f.Code {
	case protocol.RefusedNoTasks:
		return "Project has no tasks available"
	case protocol.RefusedPlatform:
		return "The only tasks left are of applications without a version for this computer"
	case protocol.RefusedClientVersion:
		return fmt.Sprintf("Tasks of %s need %s, and this computer runs %s", app, f.Detail, number(f.Have))
	case protocol.RefusedPlanClass, protocol.RefusedVirtualBox, protocol.RefusedContainers:
		return fmt.Sprintf("Tasks of %s need %s", app, f.Detail)
	case protocol.RefusedImages:
		return fmt.Sprintf("Tasks of %s are in container images, which run with a current version of Starling's agent on Linux", app)
	case protocol.RefusedImageGPU:
		return fmt.Sprintf("Tasks of %s are in container images, in which the %s of this computer cannot be used", app, match.DeviceName(f.Kind))
	case protocol.RefusedProcessor:
		return fmt.Sprintf("Tasks of %s compute on %s, for which no tasks were requested", app, match.DeviceNames(f.Kind))
	case protocol.RefusedQuota:
		return fmt.Sprintf("This computer has finished a daily quota of %.0f tasks, until midnight UTC", f.Have)
	case protocol.RefusedInProgress:
		if f.Kind != "" {
			return "This computer has reached a limit on tasks in progress for its " + match.DeviceName(f.Kind)
		}
		return "This computer has reached a limit on tasks in progress"
	case protocol.RefusedMemory:
		return "Tasks need more memory than this computer allows" + both(size)
	case protocol.RefusedDisk:
		return "Tasks need more disk space than this computer allows" + both(size)
	case protocol.RefusedBandwidth:
		return "Tasks need a faster download than this computer has" +
			both(func(v float64) string { return size(v) + "/s" })
	case protocol.RefusedDeadline:
		return "Tasks would not finish in time on this computer" +
			both(func(v float64) string { return protocol.Seconds(v).Round(time.Second).String() })
	case protocol.RefusedUnreliable:
		return "The remaining tasks are reserved for computers with a good record"
	case protocol.RefusedTrusted:
		return "The remaining tasks check doubtful results, and are reserved for accounts that the project trusts"
	case protocol.RefusedHasOne:
		return "The only tasks left belong to workunits of which you already have a task"
	case protocol.RefusedReserved:
		return "The remaining tasks are reserved for the computer that has their files"
	case protocol.RefusedChain:
		return "The next task of a chain is released once the result that this computer has reported is validated"
	case protocol.RefusedCommitted:
		return "The remaining tasks are committed to computers of another kind"
	case protocol.RefusedStopped:
		return "The project has stopped sending tasks of " + app + " for now"
	case protocol.RefusedTooRecent:
		return "Last request too recent" + both(func(v float64) string { return protocol.Seconds(v).Round(time.Second).String() })
	case protocol.RefusedKey:
		return "This computer trusts another security key of the project"
	case protocol.RefusedExcluded:
		return "The project has excluded this computer"
	case protocol.RefusedGPU:
		return "The project has no tasks for " + match.DeviceNames(f.Kind)
	case protocol.RefusedUnconfirmed:
		return "Your account gets no tasks until you confirm its e-mail address: open the link in the e-mail that the project sent you, or log in on its web site to have it sent again"
	case protocol.RefusedPreferences:
		return "Your preferences for this project " + f.Detail + which(f.App)
	case protocol.RefusedAppInfo:
		if f.Detail != "" {
			return fmt.Sprintf("Tasks of %s %s (app_info.xml)", app, f.Detail)
		}
		return "Your app_info.xml has no version of " + app + " that this computer can use"
	case protocol.RefusedOther:
		return "The remaining tasks could not be sent to this computer"
	}
	return "No tasks were sent: " + string(f.Code)
}

// which names the application of a refusal that concerns one.
func which(app string) string {
	if app == "" {
		return ""
	}
	return " (" + app + ")"
}

const (
	kilo = 1 << 10
	mega = 1 << 20
	giga = 1 << 30
)

// size writes a number of bytes for people, as BOINC counts them.
func size(bytes float64) string {
	switch {
	case bytes >= giga:
		return fmt.Sprintf("%.2f GB", bytes/giga)
	case bytes >= mega:
		return fmt.Sprintf("%.2f MB", bytes/mega)
	}
	return fmt.Sprintf("%.2f KB", bytes/kilo)
}

// number writes a client's version, 10000·major + 100·minor + release.
func number(v float64) string {
	n := int(v)
	return fmt.Sprintf("%d.%d.%d", n/10000, n/100%100, n%100)
}
