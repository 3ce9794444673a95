// Package projectprefs reads and writes a volunteer's preferences for one project: its share of the
// volunteer's computers, which applications, the number of tasks, on which processors. They are set
// on the web site. Each computer follows the preferences of its venue, or else the ones for all.
//
// The package is pure. The form is the content of BOINC's project_preferences, without the element
// itself. Other content (above all <project_specific>) stays as it is.
package projectprefs

import (
	"slices"
	"strconv"

	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/protocol/venue"
)

// Prefs are the preferences of one volunteer at one venue.
type Prefs struct {
	ResourceShare float64  // relative to the sum over all the volunteer's projects (not negative)
	Apps          []int64  // the applications wanted (empty: all of them)
	MaxTasks      int      // in progress on a computer (0: as many as the project allows)
	Without       []string // kinds of processors not to be used, of Kinds
}

// MaxShare is the largest resource share that is taken.
const MaxShare = 1e6

// Default returns the preferences that are used if none are set.
func Default() Prefs { return Prefs{ResourceShare: 100} }

// CPUs is the name of the CPUs among the kinds of processors in Prefs. The others have their names
// of the protocol.
const CPUs = ""

// elements are the kinds of processors with the elements that exclude them.
var elements = []struct{ kind, name string }{
	{CPUs, "no_cpu"}, {"NVIDIA", "no_cuda"}, {"ATI", "no_ati"}, {"intel_gpu", "no_intel_gpu"}, {"apple_gpu", "no_apple_gpu"},
}

// Kinds are the kinds of processors that can be excluded.
func Kinds() (kinds []string) {
	for _, e := range elements {
		kinds = append(kinds, e.kind)
	}
	return kinds
}

// Wants reports whether tasks of an application are wanted.
func (p *Prefs) Wants(app int64) bool { return len(p.Apps) == 0 || slices.Contains(p.Apps, app) }

// Uses reports whether a kind of processor is to be used.
func (p *Prefs) Uses(kind string) bool { return !slices.Contains(p.Without, kind) }

// For returns the preferences at a venue: the venue's own, or else the ones for all. Unreadable
// values count as not set.
func For(xml, at string) Prefs { return read(venue.Split(xml).For(at)) }

// Has reports whether a venue has its own preferences.
func Has(xml, at string) bool {
	_, ok := venue.Split(xml).Own(at)
	return ok
}

// Set returns preferences with p for a venue. If at is "", p is used for all venues without their
// own.
func Set(xml, at string, p Prefs) string {
	sets := venue.Split(xml)
	sets.Set(at, write(sets.For(at), p))
	return sets.String()
}

// Drop returns preferences without the ones of a venue.
func Drop(xml, at string) string {
	sets := venue.Split(xml)
	sets.Drop(at)
	return sets.String()
}

func read(xml string) Prefs {
	p := Default()
	venue.Each(xml, func(s *bxml.Scanner, name string) {
		switch name {
		case "resource_share":
			v := -1.0
			s.Float(&v)
			if v >= 0 && v <= MaxShare {
				p.ResourceShare = v
			}
		case "apps_selected":
			venue.Each(s.Raw(), func(s *bxml.Scanner, name string) {
				if name != "app_id" {
					return
				}
				if id, err := strconv.ParseInt(s.Text(), 10, 64); err == nil && id > 0 && !slices.Contains(p.Apps, id) {
					p.Apps = append(p.Apps, id)
				}
			})
		case "max_jobs":
			v := 0.0
			s.Float(&v)
			if v >= 1 && v <= 1e6 {
				p.MaxTasks = int(v)
			}
		default:
			for _, e := range elements {
				if e.name == name && s.Flag() && p.Uses(e.kind) {
					p.Without = append(p.Without, e.kind)
				}
			}
		}
	})
	return p
}

// write returns xml with the values of p in place of the old ones.
func write(xml string, p Prefs) string {
	var w bxml.Writer
	w.Float("resource_share", p.ResourceShare)
	for _, e := range elements {
		if !p.Uses(e.kind) {
			w.Int(e.name, 1)
		}
	}
	if p.MaxTasks > 0 {
		w.Int("max_jobs", int64(p.MaxTasks))
	}
	if len(p.Apps) > 0 {
		w.Open("apps_selected")
		for _, id := range p.Apps {
			w.Int("app_id", id)
		}
		w.Close("apps_selected")
	}
	own := func(name string) bool {
		for _, e := range elements {
			if e.name == name {
				return true
			}
		}
		return name == "resource_share" || name == "max_jobs" || name == "apps_selected"
	}
	venue.Each(xml, func(s *bxml.Scanner, name string) {
		if !own(name) {
			venue.Keep(&w, s, name)
		}
	})
	return string(w.Bytes())
}
