package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// decline notes why the host gets nothing. Refusals with one code for one
// application become one, with the least need: what would help the soonest.
func (r *rpc) decline(f protocol.Refusal) {
	for i := range r.declined {
		if old := &r.declined[i]; old.Code == f.Code && old.App == f.App {
			old.Count += f.Count
			old.Need = min(old.Need, f.Need)
			return
		}
	}
	r.declined = append(r.declined, f)
}

// passOver notes why a candidate is not for this host.
func (r *rpc) passOver(appID int64, why lack) {
	r.decline(protocol.Refusal{
		Code: why.code, App: r.catalog.apps[appID].Name, Count: 1, Need: why.need, Have: why.have, Detail: why.what,
	})
}

// refuse says no to a request for work, to people and to programs. Of many
// reasons the volunteer reads the few that matter most.
func (r *rpc) refuse() {
	slices.SortStableFunc(r.declined, func(a, b protocol.Refusal) int { return cmp.Compare(rank(a.Code), rank(b.Code)) })
	r.reply.Refusals = append(r.reply.Refusals, r.declined...)
	r.reply.message(protocol.PriorityLow, "No tasks sent")
	for i, f := range r.declined {
		if i == maxReasons {
			break
		}
		r.reply.message(protocol.PriorityLow, sentence(f))
	}
}

// deny refuses all work for one reason, in words of its own.
func (r *rpc) deny(f protocol.Refusal, priority, text string) {
	r.reply.Refusals = append(r.reply.Refusals, f)
	r.reply.message(priority, text)
}

// maxReasons is how many reasons a person is told at once.
const maxReasons = 5

// ranks orders codes by what a volunteer can least wait away.
var ranks = []protocol.RefusalCode{
	protocol.RefusedPlatform, protocol.RefusedClientVersion, protocol.RefusedPlanClass, protocol.RefusedQuota,
	protocol.RefusedInProgress, protocol.RefusedMemory, protocol.RefusedDisk, protocol.RefusedBandwidth,
	protocol.RefusedDeadline, protocol.RefusedUnreliable, protocol.RefusedHasOne, protocol.RefusedReserved,
	protocol.RefusedCommitted, protocol.RefusedNoTasks,
}

func rank(c protocol.RefusalCode) int {
	if i := slices.Index(ranks, c); i >= 0 {
		return i
	}
	return len(ranks)
}

// sentence tells a volunteer a refusal.
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
		return "Tasks are left only of applications that have no version for this computer"
	case protocol.RefusedClientVersion:
		return fmt.Sprintf("Tasks of %s need %s, and this computer runs %s", app, f.Detail, number(f.Have))
	case protocol.RefusedPlanClass:
		return fmt.Sprintf("Tasks of %s need %s", app, f.Detail)
	case protocol.RefusedQuota:
		return fmt.Sprintf("This computer has finished a daily quota of %.0f tasks", f.Have)
	case protocol.RefusedInProgress:
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
		return "Tasks are kept for computers with a good record"
	case protocol.RefusedHasOne:
		return "Tasks are left only of jobs of which you have one already"
	case protocol.RefusedReserved:
		return "Tasks are kept for the computer that has their files"
	case protocol.RefusedCommitted:
		return "Tasks are committed to computers of another kind"
	}
	return "Tasks are committed to other computers"
}

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
