package match

import (
	"cmp"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// Supports reports whether there is any version for one of the platforms.
func (c *Catalog) Supports(platforms []string) bool {
	return slices.ContainsFunc(c.Versions, func(v *store.AppVersion) bool { return slices.Contains(platforms, v.Platform.Name) })
}

// Stopped reports whether the work of some application is not sent. Then the versions of the other
// applications do not show which hosts the project is for.
func (c *Catalog) Stopped() bool {
	for id := range c.Apps {
		if c.stopped(id) {
			return true
		}
	}
	return false
}

// stopped reports whether the work of an application is not sent: the operator stopped it, or
// withdrew all of its versions.
func (c *Catalog) stopped(appID int64) bool {
	of := func(v *store.AppVersion) bool { return v.AppID == appID }
	return c.Apps[appID].Deprecated || !slices.ContainsFunc(c.Versions, of)
}

// inUse reports whether a version is sent out.
func (c *Catalog) inUse(id int64) bool {
	return slices.ContainsFunc(c.Versions, func(v *store.AppVersion) bool { return v.ID == id })
}

// Platforms returns the platforms whose programs the host of a request runs, its own first. An
// anonymous host runs no programs of the project.
func Platforms(req *protocol.SchedulerRequest) []string {
	if Anonymous(req) {
		return []string{req.Platform}
	}
	return append([]string{req.Platform}, req.AltPlatforms...)
}

// Version returns the version with which the host computes for an application, the fastest
// of all kinds of processors, or nil if it can run none.
func (h *Host) Version(appID int64) *store.AppVersion {
	if list := h.versions[appID]; len(list) > 0 {
		return list[0]
	}
	return nil
}

// choose returns the versions with which this host computes, by application, the fastest first: one
// for each application and kind of processor. It is the version that is the fastest there by
// learned run times. Among equals it is the one with the highest number, and then the one for the
// platform that the host names first. Of one plan class and platform only the newest counts. Now
// and then it is a version with too few run times: see speed.Trial.
func (h *Host) choose() map[int64][]*store.AppVersion {
	type class struct {
		app  int64
		name string
	}
	usable := make(map[int64][]*store.AppVersion)
	for _, p := range Platforms(h.facts.Request) {
		newest := make(map[class]int)
		for _, v := range h.facts.Catalog.Versions { // the newest first
			if v.Platform.Name != p {
				continue
			}
			if _, lack := h.Usage(v); lack != nil {
				continue
			}
			class := class{v.AppID, v.PlanClass}
			if v.VersionNum < newest[class] {
				continue
			}
			newest[class] = v.VersionNum
			usable[v.AppID] = append(usable[v.AppID], v)
		}
	}
	best := make(map[int64][]*store.AppVersion, len(usable))
	for app, list := range usable {
		for len(list) > 0 {
			kind := h.kind(list[0])
			other := func(v *store.AppVersion) bool { return h.kind(v) != kind }
			same := slices.DeleteFunc(slices.Clone(list), other)
			list = slices.DeleteFunc(list, func(v *store.AppVersion) bool { return !other(v) })
			best[app] = append(best[app], h.trial(same, h.fastest(same)))
		}
		slices.SortStableFunc(best[app], func(a, b *store.AppVersion) int { return cmp.Compare(h.speed(b), h.speed(a)) })
	}
	return best
}

// kind is the kind of processor that a version computes on here.
func (h *Host) kind(v *store.AppVersion) string {
	u, _ := h.Usage(v)
	return u.Coproc
}

// fastest returns the fastest of versions, and among equals that with the highest
// number.
func (h *Host) fastest(list []*store.AppVersion) *store.AppVersion {
	best := list[0]
	for _, v := range list[1:] {
		if a, b := h.speed(v), h.speed(best); a > b || a == b && v.VersionNum > best.VersionNum {
			best = v
		}
	}
	return best
}

func (h *Host) speed(v *store.AppVersion) float64 {
	u, _ := h.Usage(v)
	return u.Flops
}

// trial returns the version with which this host computes now. This is best, or, if the host's turn
// has come, the version with results from the fewest hosts. A version that failed here is not
// tried.
func (h *Host) trial(list []*store.AppVersion, best *store.AppVersion) *store.AppVersion {
	choice, fewest := best, speed.Quorum
	for _, v := range list {
		if v == best {
			continue
		}
		if most := h.facts.Learnt[v.ID].MaxJobsPerDay; most > 0 && most < h.facts.Rules.DailyResultQuota {
			continue
		}
		k := h.known(v, 0)
		if k.Version.Hosts < fewest && speed.Trial(k, h.speed(v), h.speed(best), h.facts.Turn) {
			choice, fewest = v, k.Version.Hosts
		}
	}
	return choice
}

// Kinds returns the kinds of processors for which there are versions for the host of a request,
// either in a catalog or supplied by its volunteer. The kind "" is the CPUs. The properties of the
// processors are not considered.
func (c *Catalog) Kinds(req *protocol.SchedulerRequest, classes map[string]PlanClass) map[string]bool {
	kinds, platforms := make(map[string]bool), Platforms(req)
	if Anonymous(req) {
		for i := range req.AppVersions {
			if v := &req.AppVersions[i]; !kinds[v.Coproc] {
				_, kinds[v.Coproc] = c.named(v.AppName)
			}
		}
		return kinds
	}
	for _, v := range c.Versions {
		if slices.Contains(platforms, v.Platform.Name) {
			kinds[classes[v.PlanClass].KindOf(req)] = true
		}
	}
	return kinds
}

// CanRun returns a version if it is sent out and this host can run it, even if there is a newer
// one. For an anonymous host it is the version that the host uses now.
func (h *Host) CanRun(id int64) *store.AppVersion {
	for _, list := range h.versions {
		for _, v := range list {
			if v.ID == id && id < 0 {
				return v
			}
		}
	}
	platforms := Platforms(h.facts.Request)
	for _, v := range h.facts.Catalog.Versions {
		if v.ID != id || !slices.Contains(platforms, v.Platform.Name) {
			continue
		}
		if _, lack := h.Usage(v); lack == nil {
			return v
		}
	}
	return nil
}

// noVersion returns the reason why this host has no version of an application.
func (h *Host) noVersion(appID int64) *Lack {
	if h.facts.Catalog.Apps[appID].Deprecated {
		return &Lack{Code: protocol.RefusedStopped}
	}
	if Anonymous(h.facts.Request) {
		return h.noOwn(h.facts.Catalog.Apps[appID])
	}
	for _, p := range Platforms(h.facts.Request) {
		for _, v := range h.facts.Catalog.Versions {
			if v.AppID != appID || v.Platform.Name != p {
				continue
			}
			if _, lack := h.Usage(v); lack != nil {
				return lack
			}
		}
	}
	switch c := h.facts.Catalog; {
	case c.stopped(appID):
		return &Lack{Code: protocol.RefusedStopped}
	case slices.ContainsFunc(c.Versions, func(v *store.AppVersion) bool { return v.AppID == appID && isImage(v) }):
		return &Lack{Code: protocol.RefusedImages}
	}
	return &Lack{Code: protocol.RefusedPlatform}
}

// Images reports whether a version of any application is a container image.
func (c *Catalog) Images() bool { return slices.ContainsFunc(c.Versions, isImage) }

func isImage(v *store.AppVersion) bool { return protocol.IsImagePlatform(v.Platform.Name) }
