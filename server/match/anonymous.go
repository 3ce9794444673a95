package match

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// Bounds for the speed that a client reports for its volunteer's program, in operations a second.
const (
	leastFlops = 1e6
	mostFlops  = 1e18
)

// Anonymous reports whether the host of a request computes with programs of its volunteer's
// own, which are the versions that the request lists, and with no others: BOINC's anonymous
// platform.
func Anonymous(req *protocol.SchedulerRequest) bool {
	return req.Platform == protocol.PlatformAnonymous
}

// own returns the versions that an anonymous host lists for the project's applications, and records
// their usage on the host. Versions that a rule of the project forbids are left out.
//
// If the results of an application must all come from one version, none of its listed versions can
// be used.
//
// Source: BOINC sched/sched_version.cpp, get_app_version_anonymous and
// estimate_flops_anon_platform. Different here: a version cannot be used if the host lacks its
// coprocessor, or if BOINC's server does not have a number for the coprocessor's kind. BOINC takes
// it for a version on the CPUs.
func (h *Host) own() (list []*store.AppVersion) {
	for i := range h.facts.Request.AppVersions {
		in := &h.facts.Request.AppVersions[i]
		app, ok := h.facts.Catalog.named(in.AppName)
		id := store.AnonymousVersion(app.ID, in.Coproc)
		if !ok || app.Deprecated || app.HomogeneousAppVersion || !h.facts.Rules.AnonymousPlatform {
			continue
		}
		v := &store.AppVersion{
			ID: id, AppID: app.ID, VersionNum: in.VersionNum, PlanClass: in.PlanClass, Platform: store.Platform{Name: in.Platform},
			// A program built from the same source does not support links either.
			Plain: slices.ContainsFunc(h.facts.Catalog.Versions, func(v *store.AppVersion) bool { return v.AppID == app.ID && v.Plain }),
		}
		u, lack := h.declared(in)
		if lack == nil && id == 0 {
			lack = &Lack{Code: protocol.RefusedAppInfo, Kind: in.Coproc, Detail: "cannot be computed with your version, which uses a " + DeviceName(in.Coproc)}
		}
		if lack == nil {
			lack = h.unwanted(v, u)
		}
		if lack == nil {
			u.Flops, _ = speed.Flops(speed.Known{Benchmark: u.Benchmark, Own: h.facts.Learnt[id].Elapsed})
		}
		h.usages[v] = used{u, lack}
		list = append(list, v)
	}
	return list
}

// declared returns the usage of a volunteer's own version, as the client reports it, or the
// requirement that the host does not meet.
func (h *Host) declared(v *protocol.AppVersion) (Usage, *Lack) {
	u := Usage{NCPUs: orOne(v.AvgNCPUs), Coproc: v.Coproc}
	if v.Coproc != "" {
		d := h.coproc(v.Coproc)
		u.Count, u.GPURAM = orOne(v.CoprocCount), v.GPURAM
		if d == nil || u.Count > float64(d.Count) {
			return Usage{}, &Lack{Code: protocol.RefusedPlanClass, Kind: v.Coproc, Detail: fmt.Sprintf("%v of %s", u.Count, DeviceName(v.Coproc))}
		}
	}
	u.Benchmark = h.flops() * u.NCPUs
	if v.Flops > 0 {
		u.Benchmark = min(max(v.Flops, leastFlops), mostFlops)
	}
	u.Declared = u.Benchmark
	return u, nil
}

// chooseOwn is the counterpart of choose for an anonymous host. Of its versions for one application
// and kind of processor it takes the one that the client reports as the fastest. They share one set
// of learned run times, which therefore cannot decide.
func (h *Host) chooseOwn() map[int64][]*store.AppVersion {
	best := make(map[int64][]*store.AppVersion)
	for _, v := range h.listed {
		u, lack := h.Usage(v)
		if lack != nil {
			continue
		}
		list := best[v.AppID]
		i := slices.IndexFunc(list, func(o *store.AppVersion) bool { return o.ID == v.ID })
		if i < 0 {
			best[v.AppID] = append(list, v)
			continue
		}
		old, _ := h.Usage(list[i])
		if cmp.Or(cmp.Compare(u.Declared, old.Declared), cmp.Compare(v.VersionNum, list[i].VersionNum)) > 0 {
			list[i] = v
		}
	}
	for _, list := range best {
		slices.SortStableFunc(list, func(a, b *store.AppVersion) int { return cmp.Compare(h.speed(b), h.speed(a)) })
	}
	return best
}

// noOwn returns the reason why an anonymous host has no version of an application.
func (h *Host) noOwn(app store.App) *Lack {
	if app.HomogeneousAppVersion {
		return &Lack{Code: protocol.RefusedAppInfo, Detail: "have to be computed with the project's own programs, as it compares only tasks of one version"}
	}
	for _, v := range h.listed {
		if _, lack := h.Usage(v); lack != nil && v.AppID == app.ID {
			return lack
		}
	}
	return &Lack{Code: protocol.RefusedAppInfo}
}

// Unnamed returns the names of the applications for which an anonymous host lists versions but
// which the project does not have. Each name occurs once.
func (c *Catalog) Unnamed(req *protocol.SchedulerRequest) (names []string) {
	for i := range req.AppVersions {
		name := req.AppVersions[i].AppName
		if _, ok := c.named(name); !ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Names reports whether a request lists a version of some application of the project.
func (c *Catalog) Names(req *protocol.SchedulerRequest) bool {
	return slices.ContainsFunc(req.AppVersions, func(v protocol.AppVersion) bool { _, ok := c.named(v.AppName); return ok })
}

func (c *Catalog) named(name string) (store.App, bool) {
	for _, a := range c.Apps {
		if a.Name == name {
			return a, true
		}
	}
	return store.App{}, false
}
