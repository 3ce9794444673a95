package scheduler

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// delayAnonymous is the time that a host without a program for the project waits.
//
// Source: BOINC sched/sched_main.h, DELAY_ANONYMOUS.
const delayAnonymous = 4 * time.Hour

// maxUnnamed is the maximum number of applications named to a host that the project does not have.
const maxUnnamed = 3

// ownPrograms reports whether a host that computes with its volunteer's own programs may get work
// for some of them. If not, the reply has the reason.
func (r *rpc) ownPrograms() bool {
	asks := r.req.WantsWork() || r.req.WantsCoprocWork()
	if !r.s.Config.AnonymousPlatform {
		if asks {
			r.deny(protocol.Refusal{Code: protocol.RefusedAppInfo}, protocol.PriorityNotice,
				"This project sends no tasks for programs of your own. To get tasks, remove app_info.xml from the project's folder and restart the client.")
			r.reply.RequestDelay = delayUnsupported
		}
		return false
	}
	unnamed := r.catalog.Unnamed(r.req)
	if asks && len(unnamed) > 0 {
		r.reply.message(protocol.PriorityLow, "Your app_info.xml names applications that this project does not have: "+list(unnamed))
	}
	if r.catalog.Names(r.req) {
		return true
	}
	if asks {
		r.deny(protocol.Refusal{Code: protocol.RefusedAppInfo}, protocol.PriorityNotice,
			"Your app_info.xml has no version of an application of this project, so this computer gets no tasks")
		r.reply.RequestDelay = delayAnonymous
	}
	return false
}

// list joins the first few of names. The names are untrusted input.
func list(names []string) string {
	var out []string
	for _, n := range names[:min(len(names), maxUnnamed)] {
		out = append(out, fmt.Sprintf("%.64q", n))
	}
	if len(names) > maxUnnamed {
		out = append(out, fmt.Sprintf("and %d more", len(names)-maxUnnamed))
	}
	return strings.Join(out, ", ")
}

// platforms returns the platforms to store for a host. If the host computes with its volunteer's
// own programs, these are followed by its applications, since it can compute for no others.
func platforms(req *protocol.SchedulerRequest) []string {
	names := match.Platforms(req)
	if match.Anonymous(req) {
		for i := range req.AppVersions {
			if name := store.AnonymousPlatform(req.AppVersions[i].AppName); len(names) == 1 || names[len(names)-1] != name {
				names = append(names, name)
			}
		}
	}
	return names
}
