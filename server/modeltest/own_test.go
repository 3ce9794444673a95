package modeltest

import (
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// ownNum is the version number of volunteers' own programs, which no version of the project has.
const ownNum = 777

// withOwn gives every sixth computer its volunteer's own programs for some applications. It draws
// no random numbers, so that the rest of the world is the same as without it.
func (h *host) withOwn(w *world) *host {
	if n := len(w.hosts); !w.plain && n%6 == 5 {
		h.own = w.apps[:1+n%len(w.apps)]
	}
	return h
}

// anonymous makes a request one that lists the host's own programs and an unknown one.
func (h *host) anonymous(req *protocol.SchedulerRequest) {
	req.Platform, req.AltPlatforms = "anonymous", nil
	req.AppVersions = []protocol.AppVersion{{AppName: "unknown", VersionNum: 1}}
	for _, a := range h.own {
		req.AppVersions = append(req.AppVersions, protocol.AppVersion{
			AppName: a.name, VersionNum: ownNum, Platform: h.platforms[0], PlanClass: "own", Flops: 3 * h.fpops,
		})
	}
}

// mayHaveOwn checks that a result given to an anonymous host is for a program that the host lists.
func (w *world) mayHaveOwn(req *protocol.SchedulerRequest, h store.Host, a match.Assignment) {
	app := w.appOf(a.AppID)
	if of, kind, own := store.Anonymous(a.Version.ID); !own || of != a.AppID || kind != "" || !lists(req, app, a.Version.VersionNum) {
		w.failf("host %d with programs of its own is given %s with version %d", h.ID, a.Name, a.Version.ID)
	}
	if app.pinned {
		w.failf("host %d with programs of its own is given %s, of an application whose results come from one version", h.ID, a.Name)
	}
}

// lists reports whether a request, which may be damaged, has a program of that number.
func lists(req *protocol.SchedulerRequest, a *app, number int) bool {
	return slices.ContainsFunc(req.AppVersions, func(v protocol.AppVersion) bool { return v.AppName == a.name && v.VersionNum == number })
}

// checkOwn checks that an anonymous host is sent no program, and that the reply refers to its own.
func (w *world) checkOwn(req *protocol.SchedulerRequest, reply *protocol.SchedulerReply, x protocol.Result, k *truth) {
	if !lists(req, k.app, x.VersionNum) || len(reply.AppVersions) > 0 || k.app.pinned {
		w.failf("%s is sent with version %d and %d programs to a host that has its own", x.Name, x.VersionNum, len(reply.AppVersions))
	}
	w.view(func(tx *store.View) error {
		r, err := tx.ResultByName(x.Name)
		if r.AppVersionID != store.AnonymousVersion(k.app.id, "") {
			w.failf("%s is computed by version %d on record", x.Name, r.AppVersionID)
		}
		w.own++
		return err
	})
}
