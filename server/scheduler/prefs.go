package scheduler

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/projectprefs"
	"github.com/starling-grid/starling/server/store"
)

const (
	maxPrefs = 64 << 10 // bytes
	// clockSkew is the maximum time by which the last change of preferences may be in the future.
	// Without a limit, preferences from a computer whose clock is years ahead would win for years.
	clockSkew = 24 * time.Hour
)

// A prefsPlan is the decision about general preferences: whether to keep the request's and whether
// to send the account's.
type prefsPlan struct{ keep, send bool }

// planPrefs decides about the general preferences, which belong to the account and are sent to each
// of its hosts. The request's preferences are kept if they are newer than the account's and were
// made for the same account: a host may have preferences from another project's account. The
// account's preferences are sent if they are newer than both the ones that the host has stored and
// the ones in effect there. Older preferences never replace newer ones, on either side.
//
// Source: BOINC sched/handle_request.cpp, handle_global_prefs. Different here: an e-mail hash must
// be there, and preferences from the future are not kept.
func planPrefs(account store.User, req *protocol.SchedulerRequest, now time.Time) prefsPlan {
	ours, theirs := prefsTime(account.GlobalPrefs), prefsTime(req.GlobalPrefs)
	p := prefsPlan{
		keep: theirs.After(ours) && !theirs.After(now.Add(clockSkew)) && len(req.GlobalPrefs) <= maxPrefs &&
			utf8.ValidString(req.GlobalPrefs) && req.PrefsEmailHash == protocol.EmailHash(account.EmailAddr),
	}
	p.send = !p.keep && account.GlobalPrefs != "" && ours.After(theirs) && ours.After(prefsTime(req.WorkingPrefs))
	return p
}

// prefsTime returns the time when preferences were last changed, or the zero time if they do not
// contain it.
func prefsTime(content string) time.Time {
	var w bxml.Writer
	w.Block("global_preferences", content)
	seconds := 0.0
	_ = bxml.NewScanner(w.Bytes()).Decode("global_preferences", func(x bxml.Codec) { x.Float("mod_time", &seconds) })
	return protocol.UnixTime(seconds)
}

// preferences keeps or sends general preferences.
func (r *rpc) preferences() {
	r.prefs = planPrefs(r.user, r.req, r.now)
	if r.prefs.send {
		r.reply.GlobalPrefs = r.user.GlobalPrefs
	}
}

// tooOld reports whether the client is older than the project allows. If so, it gets no work and
// the reply has the reason. The results that it has finished are accepted all the same.
func (r *rpc) tooOld() bool {
	least, _ := CoreVersion(r.s.Config.MinCoreVersion) // checked when the settings were read
	if r.req.Client.Number() >= least.Number() {
		return false
	}
	f := protocol.Refusal{
		Code: protocol.RefusedClientVersion, Need: float64(least.Number()), Have: float64(r.req.Client.Number()),
	}
	r.deny(f, protocol.PriorityNotice, fmt.Sprintf(
		"This project needs BOINC %s or newer, and this computer runs %s. To get tasks, install a newer version.",
		versionText(least), versionText(r.req.Client)))
	r.reply.RequestDelay = delayUnsupported
	return true
}

func versionText(v protocol.Version) string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Release)
}

// wishesOf returns a volunteer's project preferences for one of the volunteer's computers.
func wishesOf(u store.User, h store.Host) projectprefs.Prefs {
	return projectprefs.For(u.ProjectPrefs, h.Venue)
}
