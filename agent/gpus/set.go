package gpus

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
)

// A Set has the coprocessors that tasks may use, and the reasons why they may not use the others.
// It is immutable.
type Set struct {
	Groups []Group
	Unused []Unused
	Absent []resource.Absent // kinds of GPUs that tasks may not use any of, and why
}

// A Group is the coprocessors of one kind that tasks may use.
type Group struct {
	Kind    resource.Kind
	Devices []Device // at least one (of a declared one only the number is known)
	// PeakFlops is the number of operations a second of one device, or 0 if unknown.
	PeakFlops float64
	Declared  bool // in starling.toml
}

// An Unused device is there, and tasks may not use it.
type Unused struct {
	Device
	Why string
}

// vendors are the kinds that are found without being declared.
var vendors = []resource.Kind{resource.NVIDIA, resource.ATI, resource.Intel, resource.Apple}

// Join returns the coprocessors that tasks may use, according to the volunteer's settings and the
// report. A declared kind is used as declared. Of any other kind the most capable device and those
// as good are used, or all.
//
// Source for the latter: BOINC client/gpu_nvidia.cpp, COPROC_NVIDIA::correlate.
func Join(s settings.Settings, r Report) Set {
	var set Set
	found := r.Devices()
	for _, c := range s.Coprocs {
		if g := declared(c, r, found); len(g.Devices) > 0 {
			set.Groups = append(set.Groups, g)
		} else {
			set.Absent = append(set.Absent, resource.Absent{Kind: g.Kind, Why: fmt.Sprintf("OpenCL has no device whose name contains %q.", c.OpenCL)})
		}
	}
	for _, k := range vendors {
		if slices.ContainsFunc(s.Coprocs, func(c settings.Coproc) bool { return c.Type == string(k) }) {
			continue
		}
		var g Group
		var unused []Unused
		g, unused = choose(k, s, found)
		set.Unused = append(set.Unused, unused...)
		switch {
		case len(g.Devices) > 0:
			set.Groups = append(set.Groups, g)
		case len(unused) > 0:
			set.Absent = append(set.Absent, resource.Absent{Kind: k, Why: "The " + k.String() + " here cannot be used: " + unused[0].Why + "."})
		default:
			if why := r.lacks(k); why != "" {
				set.Absent = append(set.Absent, resource.Absent{Kind: k, Why: why})
			}
		}
	}
	return set
}

// declared returns the group of a kind that the volunteer declares.
func declared(c settings.Coproc, r Report, found []Device) Group {
	g := Group{Kind: resource.Kind(c.Type), PeakFlops: c.PeakFlops, Declared: true}
	if c.OpenCL != "" {
		found = r.named(c.OpenCL, c.Type)
		if c.Count == 0 {
			c.Count = len(found)
		}
		c.Count = min(c.Count, len(found))
	}
	for i := range c.Count {
		d := Device{Kind: c.Type, Number: i, Index: -1}
		if i < len(c.Devices) {
			d.Number = c.Devices[i]
		}
		if k := slices.IndexFunc(found, func(x Device) bool { return x.Kind == c.Type && x.Number == d.Number }); k >= 0 {
			d = found[k]
			g.PeakFlops = cmp.Or(g.PeakFlops, d.PeakFlops)
		}
		g.Devices = append(g.Devices, d)
	}
	return g
}

// choose returns the devices of a kind that tasks may use, and the others.
func choose(k resource.Kind, s settings.Settings, found []Device) (g Group, unused []Unused) {
	g.Kind = k
	var usable []Device
	for _, d := range found {
		switch {
		case d.Kind != string(k):
		case s.NoGPUs:
			unused = append(unused, Unused{d, "it is not used because of no_gpus in starling.toml"})
		case s.IgnoresGPU(d.Kind, d.Number):
			unused = append(unused, Unused{d, "it is not used because of ignore_gpu in starling.toml"})
		default:
			usable = append(usable, d)
		}
	}
	if len(usable) == 0 {
		return g, unused
	}
	best := usable[0]
	for _, d := range usable {
		if compare(d, best, false) > 0 {
			best = d
		}
	}
	g.PeakFlops = best.PeakFlops
	for _, d := range usable {
		switch {
		case best.OpenCL != nil && d.OpenCL == nil:
			unused = append(unused, Unused{d, fmt.Sprintf("it has no OpenCL driver, which device %d has", best.Number)})
		case best.CUDA != 0 && d.CUDA == 0:
			unused = append(unused, Unused{d, fmt.Sprintf("CUDA does not list it, but lists device %d", best.Number)})
		case s.UseAllGPUs || compare(d, best, true) == 0:
			g.Devices = append(g.Devices, d)
		default:
			unused = append(unused, Unused{d, fmt.Sprintf("device %d (%s) is more capable; to use both, set use_all_gpus = true in starling.toml", best.Number, best.Name)})
		}
	}
	return g, unused
}

// had starts an explanation of why a kind is gone.
const had = "This computer had "

// After adds explanations for kinds that there were before and that are gone now.
func (s Set) After(before Set, now time.Time) Set {
	gone := func(k resource.Kind, why string) {
		i := slices.IndexFunc(s.Absent, func(a resource.Absent) bool { return a.Kind == k })
		if s.Absent = slices.Clone(s.Absent); i < 0 {
			s.Absent = append(s.Absent, resource.Absent{Kind: k, Why: why})
		} else if !strings.HasPrefix(s.Absent[i].Why, had) {
			s.Absent[i].Why = why + " " + s.Absent[i].Why
		}
	}
	for _, a := range before.Absent {
		if said, _, _ := strings.Cut(a.Why, noLonger); s.Of(a.Kind) == nil && strings.HasPrefix(a.Why, had) {
			gone(a.Kind, said+noLonger)
		}
	}
	for _, g := range before.Groups {
		// A device that exists but is not used is not gone, nor is one that is no longer declared.
		if s.Of(g.Kind) != nil || g.Declared || slices.ContainsFunc(s.Unused, func(u Unused) bool { return u.Kind == string(g.Kind) }) {
			continue
		}
		gone(g.Kind, had+g.String()+" until "+words.Time(now, now).String()+noLonger)
	}
	return s
}

// noLonger ends that sentence.
const noLonger = ", but its driver no longer offers any."

// Of returns the group of a kind, or nil if tasks may use none.
func (s Set) Of(k resource.Kind) *Group {
	if i := slices.IndexFunc(s.Groups, func(g Group) bool { return g.Kind == k }); i >= 0 {
		return &s.Groups[i]
	}
	return nil
}

// unknownWeight is the number of CPUs that a device of unknown speed counts for.
//
// Source: BOINC client/client_types.cpp, APP_VERSION::parse, for versions without flops.
const unknownWeight = 10

// Pools returns the coprocessors in the form that policies use. cpu is the number of operations a
// second of one CPU.
func (s Set) Pools(cpu float64) []resource.Pool {
	pools := make([]resource.Pool, 0, len(s.Groups))
	for _, g := range s.Groups {
		p := resource.Pool{Kind: g.Kind, Weight: unknownWeight}
		if g.PeakFlops > 0 && cpu > 0 {
			p.Weight = g.PeakFlops / cpu
		}
		for _, d := range g.Devices {
			p.Devices = append(p.Devices, resource.Device{Number: d.Number, Memory: d.Memory})
		}
		pools = append(pools, p)
	}
	return pools
}

// Describe returns a coprocessor kind in the form of a request, without the amount of work
// requested. It returns false if tasks may not use any.
func (s Set) Describe(k resource.Kind) (protocol.Coproc, bool) {
	g := s.Of(k)
	if g == nil {
		return protocol.Coproc{}, false
	}
	first := g.Devices[0]
	c := protocol.Coproc{
		Kind: string(k), Count: len(g.Devices), PeakFlops: g.PeakFlops, Name: first.Name, Memory: float64(first.Memory),
		Version: first.Driver, CUDA: first.CUDA, Major: first.Major, Minor: first.Minor, OpenCL: first.OpenCL,
	}
	if k != resource.NVIDIA {
		c.Version = "" // of CAL, AMD's library before OpenCL
	}
	for _, d := range g.Devices {
		c.Memory = min(c.Memory, float64(d.Memory))
	}
	return c, true
}

// Coprocs returns all kinds in the form of Describe.
func (s Set) Coprocs() (all []protocol.Coproc) {
	for _, g := range s.Groups {
		c, _ := s.Describe(g.Kind)
		all = append(all, c)
	}
	return all
}

// OpenCLIndex returns the number with which an application finds a device in OpenCL, or -1 if it
// cannot.
func (s Set) OpenCLIndex(k resource.Kind, number int) int {
	if g := s.Of(k); g != nil {
		for _, d := range g.Devices {
			if d.Number == number {
				return d.Index
			}
		}
	}
	return -1
}

// String returns the group in words for people: "2 NVIDIA GPUs (NVIDIA GeForce RTX 3060)".
func (g Group) String() string {
	text := words.Count(len(g.Devices), g.Kind.String()).String()
	var names []string
	for _, d := range g.Devices {
		if d.Name != "" && !slices.Contains(names, d.Name) {
			names = append(names, d.Name)
		}
	}
	if len(names) > 0 {
		text += " (" + strings.Join(names, ", ") + ")"
	}
	return text
}

// Wanted reports whether the drivers need to be asked at all.
func Wanted(s settings.Settings) bool {
	return !s.NoGPUs || slices.ContainsFunc(s.Coprocs, func(c settings.Coproc) bool { return c.OpenCL != "" })
}

// Equal reports whether the same devices can be used, and for the same reasons no others.
func (s Set) Equal(other Set) bool { return reflect.DeepEqual(s, other) }
