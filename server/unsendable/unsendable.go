// Package unsendable finds the unsent results that no computer can have, and the reasons: no computer
// that was active lately has enough of something, or there is no version of the application for it.
//
// A Judge is pure: it works on versions, hosts and results, and not on requests. Look reads these
// from a database. It uses only the data on record, so that no request costs anything for it. It
// errs in favor of the hosts: an unknown resource of a host, such as its memory, is assumed to be
// sufficient.
package unsendable

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// Window is the time after its last request for which a computer counts as active.
const Window = 7 * 24 * time.Hour

// A Cause is the reason why no computer can have a result. The names are used in metrics and in
// JSON.
type Cause string

// The causes, in the order in which they are looked for.
const (
	NoHost    Cause = "no_host"    // no computer was active
	NoVersion Cause = "no_version" // none may be sent of the application
	Platform  Cause = "platform"   // no active computer is of a platform with a version
	PlanClass Cause = "plan_class" // none of those suits the plan class of one
	HRClass   Cause = "hr_class"   // none of those is of the class that homogeneous redundancy asks for
	Trusted   Cause = "trusted"    // a result is suspicious, and none of those is of a trusted account, or each has had a result
	Memory    Cause = "memory"     // bytes
	Disk      Cause = "disk"       // bytes
	Bandwidth Cause = "bandwidth"  // bytes a second
	Had       Cause = "had"        // each active computer, or its volunteer, has had a result of the workunit
	Deadline  Cause = "deadline"   // seconds (with idle_ignore_delay_bound idle computers get it all the same)
)

// A Finding has the results of an application that no computer can have for one cause.
type Finding struct {
	App     string    `json:"app"`
	Cause   Cause     `json:"cause"`
	Results int64     `json:"results"`
	Since   time.Time `json:"since"` // when the oldest of them was made
	// Need is the amount that the result closest to being sent needs, and Most the amount that the
	// best computer has. For a deadline these are the time that the fastest computer takes and the
	// time that it may take.
	Need float64 `json:"need,omitempty"`
	Most float64 `json:"most,omitempty"`
	// Platforms are the most frequent platforms of the active computers without a version of the
	// application.
	Platforms []string `json:"platforms,omitempty"`
	// PlanClasses are the plan classes of the application's versions.
	PlanClasses []string `json:"plan_classes,omitempty"`
	// Image is set if a version is a container image, which only Starling's agents run.
	Image bool       `json:"image,omitempty"`
	Text  words.Text `json:"text"` // all of this in a sentence
	Cure  string     `json:"cure"` // the remedy for the operator
}

// A Version is an app version that is sent.
type Version struct {
	ID, AppID int64
	Platform  string
	PlanClass string  // its speed follows from more than the benchmark ("": no class)
	Stretch   float64 // its time relative to the time by the benchmark (0: unknown)
}

// A Host is an active computer.
type Host struct {
	Platforms []string // the preferred one first (empty: unknown)
	// The amounts that it can give a result, +Inf if unknown.
	Memory, Disk, Bandwidth float64
	Flops                   float64 // operations a second, the time when it is off included
	// Its classes of homogeneous redundancy (match.HRClass), or 0 if it has none or they do not
	// matter.
	Fine, Coarse int64
	Unsuited     []string // plan classes that do not suit it
	Trusted      bool     // its account is
}

// class returns its class for a type of homogeneous redundancy.
func (h *Host) class(redundancy int) int64 {
	if redundancy == match.HRFine {
		return h.Fine
	}
	return h.Coarse
}

// runs reports whether it can run a version, by platform and, if classes is set, by plan
// class. It has the platforms of its group.
func (h *Host) runs(v *Version, classes bool) bool {
	if h.Platforms != nil && !slices.Contains(h.Platforms, v.Platform) {
		return false
	}
	return !classes || !slices.Contains(h.Unsuited, v.PlanClass)
}

// worse reports whether another host can do all that h can.
func (h Host) worse(o Host) bool {
	return h.Memory <= o.Memory && h.Disk <= o.Disk && h.Bandwidth <= o.Bandwidth && h.Flops <= o.Flops
}

// A Judge has the abilities of active computers. Versions and hosts must be added before the first
// question.
type Judge struct {
	versions   map[int64][]Version // by application
	redundancy map[int64]int       // homogeneous redundancy, by application (absent: none)
	known      map[string]bool     // platforms and plan classes of versions
	hosts      int
	trusted    int              // hosts of trusted accounts
	best       map[group][]Host // those that no other of the group surpasses
	first      map[string]int   // hosts, by the platform they prefer
	found      map[reason]*Finding
}

// A group is hosts that can run the same versions of the same applications.
type group struct {
	platforms    string // that are known, or anyPlatform
	unsuited     string
	fine, coarse int64
	trusted      bool
}

type reason struct {
	app   int64
	cause Cause
}

// anyPlatform is used for hosts whose platforms are unknown.
const anyPlatform = "*"

// maxFirst bounds the platforms that are counted: computers make names up.
const maxFirst = 1000

// NewJudge returns a Judge without hosts. redundancy is the type of homogeneous redundancy of the
// applications that have one.
func NewJudge(versions []Version, redundancy map[int64]int) *Judge {
	j := &Judge{
		versions: make(map[int64][]Version), known: make(map[string]bool), best: make(map[group][]Host), redundancy: redundancy,
		first: make(map[string]int), found: make(map[reason]*Finding),
	}
	for _, v := range versions {
		j.versions[v.AppID] = append(j.versions[v.AppID], v)
		j.known[v.Platform], j.known[classKey(v.PlanClass)] = true, true
	}
	return j
}

// Own marks the next hosts with a platform as using their volunteers' own programs for an
// application. The speed of these is unknown.
func (j *Judge) Own(appID int64, platform string) {
	if !j.known[platform] {
		j.known[platform] = true
		j.versions[appID] = append(j.versions[appID], Version{AppID: appID, Platform: platform, PlanClass: platform})
	}
}

// Host adds an active computer.
func (j *Judge) Host(h Host) {
	j.hosts++
	if h.Trusted {
		j.trusted++
	}
	key := group{platforms: anyPlatform, fine: h.Fine, coarse: h.Coarse, trusted: h.Trusted}
	if len(h.Platforms) > 0 {
		if p := h.Platforms[0]; len(j.first) < maxFirst || j.first[p] > 0 {
			j.first[p]++
		}
		h.Platforms = j.relevant(h.Platforms, func(p string) string { return p })
		key.platforms = strings.Join(h.Platforms, " ")
	}
	h.Unsuited = j.relevant(h.Unsuited, classKey)
	key.unsuited = strings.Join(h.Unsuited, " ")
	list := j.best[key]
	if slices.ContainsFunc(list, h.worse) {
		return
	}
	j.best[key] = append(slices.DeleteFunc(list, func(o Host) bool { return o.worse(h) }), h)
}

// classKey distinguishes plan classes from platforms.
func classKey(class string) string { return " " + class }

// relevant returns the names that versions have, sorted. It is not nil.
func (j *Judge) relevant(names []string, key func(string) string) []string {
	kept := []string{}
	for _, n := range names {
		if j.known[key(n)] {
			kept = append(kept, n)
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// Lack returns the cause why no computer can have results that need n, with the amount that they
// need and the most that a computer has. If ok is set, some computer can have them.
func (j *Judge) Lack(n store.Need) (cause Cause, need, most float64, ok bool) {
	if j.hosts == 0 {
		return NoHost, 0, 0, false
	}
	runs := j.runs(&n)
	if len(runs) == 0 {
		return NoVersion, 0, 0, false
	}
	redundancy := j.redundancy[n.AppID]
	able := func(classes bool) func(*Host) bool {
		return func(h *Host) bool {
			return slices.ContainsFunc(runs, func(v Version) bool { return h.runs(&v, classes) })
		}
	}
	suited := func(h *Host) bool {
		class := h.class(redundancy)
		return able(true)(h) && (redundancy == match.HRNone || class != 0 && (n.HRClass == 0 || n.HRClass == class))
	}
	var lists [][]Host
	for _, step := range []struct {
		cause Cause
		can   func(*Host) bool // any host of a group
	}{
		{Platform, able(false)},
		{PlanClass, able(true)},
		{HRClass, suited},
		{Trusted, func(h *Host) bool { return suited(h) && (h.Trusted || !n.Suspicious) }},
	} {
		lists = nil
		for _, list := range j.best {
			if step.can(&list[0]) {
				lists = append(lists, list)
			}
		}
		if len(lists) == 0 {
			return step.cause, 0, 0, false
		}
	}
	// Each cause is looked for among the computers that meet the requirements checked before.
	least := Host{Memory: n.Memory, Disk: n.Disk, Bandwidth: n.Bandwidth, Flops: -1}
	stretch, timed := speedOf(runs)
	if timed {
		least.Flops = n.FpopsEst * stretch / n.DelayBound.Seconds()
	}
	for i, d := range dimensions {
		want, top := d.of(least), math.Inf(-1)
		for _, list := range lists {
			for _, h := range list {
				if has(h, least, dimensions[:i]) {
					top = max(top, d.of(h))
				}
			}
		}
		if top >= want {
			continue
		}
		if d.cause == Deadline {
			return Deadline, n.FpopsEst * stretch / top, n.DelayBound.Seconds(), false
		}
		return d.cause, want, top, false
	}
	return "", 0, 0, true
}

// runs returns the versions with which results that need n may be computed. A withdrawn version
// does not bind.
func (j *Judge) runs(n *store.Need) []Version {
	all := j.versions[n.AppID]
	for i := range all {
		if all[i].ID == n.AppVersionID {
			return all[i : i+1]
		}
	}
	return all
}

// A dimension is something that hosts have more or less of.
type dimension struct {
	cause Cause
	of    func(Host) float64
}

var dimensions = []dimension{
	{Memory, func(h Host) float64 { return h.Memory }},
	{Disk, func(h Host) float64 { return h.Disk }},
	{Bandwidth, func(h Host) float64 { return h.Bandwidth }},
	{Deadline, func(h Host) float64 { return h.Flops }},
}

func has(h, least Host, in []dimension) bool {
	for _, d := range in {
		if d.of(h) < d.of(least) {
			return false
		}
	}
	return true
}

// speedOf returns the time of the fastest version relative to the time by the benchmark. timed is
// false if it is unknown.
func speedOf(runs []Version) (stretch float64, timed bool) {
	stretch = math.Inf(1)
	for _, v := range runs {
		if v.PlanClass != "" {
			return 0, false
		}
		s := v.Stretch
		if s <= 0 {
			s = 1
		}
		stretch = min(stretch, s)
	}
	return stretch, true
}

// Results adds unsent results and records them if no computer can have them.
func (j *Judge) Results(n store.Need) {
	cause, need, most, ok := j.Lack(n)
	if ok {
		return
	}
	j.note(n, cause, need, most)
}

func (j *Judge) note(n store.Need, cause Cause, need, most float64) {
	key := reason{n.AppID, cause}
	f := j.found[key]
	if f == nil {
		f = &Finding{Cause: cause, Since: n.Oldest, Need: need, Most: most}
		j.found[key] = f
	}
	f.Results += n.Results
	if n.Oldest.Before(f.Since) {
		f.Since = n.Oldest
	}
	if need*f.Most < f.Need*most {
		f.Need, f.Most = need, most
	}
}

// Findings returns the findings, by application and then by the number of results, the most first.
// app returns the names of applications. Times in the findings are in the zone of now.
func (j *Judge) Findings(app func(id int64) string, now time.Time) []Finding {
	keys := slices.SortedFunc(maps.Keys(j.found), func(a, b reason) int {
		if a.app != b.app {
			return int(a.app - b.app)
		}
		if n := j.found[b].Results - j.found[a].Results; n != 0 {
			return int(n)
		}
		return strings.Compare(string(a.cause), string(b.cause))
	})
	out := make([]Finding, 0, len(keys))
	for _, k := range keys {
		f := *j.found[k]
		f.App = app(k.app)
		if f.Cause == Platform || f.Cause == NoVersion {
			f.Platforms = j.frequent(k.app)
			f.Image = slices.ContainsFunc(j.versions[k.app], func(v Version) bool { return protocol.IsImagePlatform(v.Platform) })
		}
		if f.Cause == PlanClass {
			f.PlanClasses = j.planClasses(k.app)
		}
		f.Text, f.Cure = f.text(now), f.cure()
		out = append(out, f)
	}
	return out
}

// planClasses returns the plan classes of an application's versions.
func (j *Judge) planClasses(app int64) (names []string) {
	for _, v := range j.versions[app] {
		if v.PlanClass != "" {
			names = append(names, v.PlanClass)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// named is the maximum number of platforms in a finding.
const named = 3

// frequent returns the platforms that most hosts prefer, among the platforms without a version of
// an application.
func (j *Judge) frequent(app int64) []string {
	var names []string
	for p := range j.first {
		if !slices.ContainsFunc(j.versions[app], func(v Version) bool { return v.Platform == p }) {
			names = append(names, p)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if n := j.first[b] - j.first[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	return names[:min(len(names), named)]
}
