package match

import (
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/projectprefs"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// Unmeasured is the speed, operations a second, that BOINC's clients report before they have
// measured. Of a host that reports none the project assumes the same.
const Unmeasured = 1e9

// Facts has the known facts about a requesting host and about the programs that it could run. They
// are not changed.
type Facts struct {
	Now     time.Time
	Rules   Rules
	Catalog *Catalog
	Request *protocol.SchedulerRequest
	Host    store.Host         // as the request describes it (its ID is 0 if it has not been created)
	Team    int64              // the volunteer's team (0: none)
	Trusted bool               // its volunteer's account is
	Wishes  projectprefs.Prefs // of its volunteer, for this project
	// Volunteer has the facts about the volunteer that plan classes may use.
	Volunteer Volunteer
	Speeds    *hostversion.Speeds
	// Learnt has the host's record with each app version, by version, as far as it is used to
	// estimate the host's speed. The record for its quotas is Standing.Earned.
	Learnt map[int64]store.HostAppVersion
	// Turn counts the requests of the host, from an arbitrary start. Now and then a request gets a
	// version that has too few run times so far (speed.Trial).
	Turn int64
}

// A Catalog has the applications and versions of a project. It is not changed once made.
type Catalog struct {
	Apps     map[int64]store.App
	Versions []*store.AppVersion // that are sent out, the newest first
}

// A Host decides which app versions a host can run. It is not safe for concurrent use.
type Host struct {
	facts    Facts
	limits   limits
	cpus     int // that count for the project's limits
	usages   map[*store.AppVersion]used
	listed   []*store.AppVersion           // of an anonymous host: those that it lists
	versions map[int64][]*store.AppVersion // with which it computes, by application: see choose
	held     map[string]bool               // sticky files that it has, by name
}

type used struct {
	usage Usage
	lack  *Lack
}

// NewHost determines which versions a host can run.
func NewHost(f Facts) *Host {
	h := &Host{facts: f, limits: hostLimits(f.Request), usages: make(map[*store.AppVersion]used, len(f.Catalog.Versions))}
	h.cpus = max(1, f.Request.Host.NCPUs)
	if most := f.Rules.MaxNCPUs; most > 0 {
		h.cpus = min(h.cpus, most)
	}
	h.held = heldBy(f.Request)
	if Anonymous(f.Request) {
		h.listed = h.own()
		h.versions = h.chooseOwn()
	} else {
		h.versions = h.choose()
	}
	return h
}

// Usage returns the usage of an app version on this host, or the reason why it cannot run there.
func (h *Host) Usage(v *store.AppVersion) (Usage, *Lack) {
	if u, ok := h.usages[v]; ok {
		return u.usage, u.lack
	}
	u, lack := h.projected(v)
	if h.beside(v.AppID) && u.Coproc == "" {
		u.NCPUs = besideNCPUs
	}
	if lack == nil {
		lack = h.unwanted(v, u)
	}
	if lack == nil {
		u.Flops, _ = speed.Flops(h.known(v, u.Benchmark))
	}
	h.usages[v] = used{u, lack}
	return u, lack
}

// unwanted returns why a volunteer wants no tasks of a version that the host could run, or nil.
func (h *Host) unwanted(v *store.AppVersion, u Usage) *Lack {
	switch w := &h.facts.Wishes; {
	case !w.Wants(v.AppID):
		return &Lack{Code: protocol.RefusedPreferences, Detail: "leave out this application"}
	case !w.Uses(u.Coproc):
		return &Lack{Code: protocol.RefusedPreferences, Kind: u.Coproc, Detail: "exclude " + DeviceNames(u.Coproc)}
	}
	return nil
}

// known returns the known run times of a version on this host, which should do benchmark operations
// a second with it.
func (h *Host) known(v *store.AppVersion, benchmark float64) speed.Known {
	return h.facts.Speeds.Known(v.ID, hostversion.Group{AppID: v.AppID, Kind: h.facts.Rules.PlanClasses[v.PlanClass].KindOf(h.facts.Request)}, benchmark, h.facts.Learnt)
}

// flops returns the operations a second of one CPU by the host's benchmark.
func (h *Host) flops() float64 {
	if f := h.facts.Request.Host.Fpops; f > 0 {
		return f
	}
	return Unmeasured
}

// coproc returns the host's coprocessors of a kind, as its request describes them, or nil if it has
// none.
func (h *Host) coproc(kind string) *protocol.Coproc { return coprocOf(h.facts.Request, kind) }

func coprocOf(req *protocol.SchedulerRequest, kind string) *protocol.Coproc {
	for i := range req.Coprocs {
		if c := &req.Coprocs[i]; c.Kind == kind && c.Count > 0 {
			return c
		}
	}
	return nil
}

// duration estimates the time that a result takes on this host, including the time in which the
// host is off or may not compute.
func (h *Host) duration(fpops float64, u Usage) time.Duration {
	t := h.facts.Request.TimeStats
	available := 1.0
	active := t.ActiveFrac
	if u.Coproc != "" && t.GPUActiveFrac > 0 {
		active = t.GPUActiveFrac
	}
	if t.OnFrac > 0 && active > 0 {
		available = min(max(0.1, t.OnFrac*active), 1)
	}
	return protocol.Seconds(fpops / u.Flops / available)
}
