package prefs

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// ParseXML reads preferences in the form of servers, tools and BOINC's own files: the content of a
// <global_preferences> element. If it has a section for the venue, only that counts. Unknown
// elements are skipped, and values out of range are moved into it. If complete is set, an absent
// yes-or-no means no, as in a project's preferences, otherwise it is not set. modTime is the time of
// their last change.
func ParseXML(origin, src, venue string, complete bool) (l Layer, modTime time.Time, err error) {
	return parseXML(origin, []byte("<global_preferences>"+src+"</global_preferences>"), venue, complete)
}

// ParseFile reads a whole file of that kind: BOINC's global_prefs.xml, which is
// complete, or global_prefs_override.xml, which is not.
func ParseFile(name string, src []byte, venue string, complete bool) (Layer, error) {
	l, _, err := parseXML(name, src, venue, complete)
	return l, err
}

func parseXML(origin string, src []byte, venue string, complete bool) (l Layer, modTime time.Time, err error) {
	l = Layer{Origin: origin}
	own, sections := newSet(complete), make(map[string]*set)
	s := bxml.NewScanner(src)
	if err := s.Find("global_preferences"); err != nil {
		return l, modTime, fmt.Errorf("%s: %w", origin, err)
	}
	for name := range s.Children() {
		switch name {
		case "mod_time":
			var t float64
			s.Float(&t)
			modTime = time.Unix(int64(max(0, min(t, 1e11))), 0)
		case "venue":
			v := newSet(complete)
			sections[s.Attr("name")] = v
			for name := range s.Children() {
				v.element(s, name)
			}
		default:
			own.element(s, name)
		}
	}
	if err := s.Err(); err != nil {
		return l, modTime, fmt.Errorf("%s: %w", origin, err)
	}
	if v := sections[venue]; v != nil && venue != "" {
		own = v
	}
	l.Values, l.Days = own.values, own.days
	return l, modTime, nil
}

// set has the values of one section.
type set struct {
	values map[string]float64
	days   map[time.Weekday]Day
}

func newSet(complete bool) *set {
	v := &set{values: make(map[string]float64), days: make(map[time.Weekday]Day)}
	if complete {
		for _, name := range []string{"run_on_batteries", "run_if_user_active", "leave_apps_in_memory"} {
			v.values[name] = 0
		}
	}
	return v
}

func (v *set) element(s *bxml.Scanner, name string) {
	if name == "day_prefs" {
		v.day(s)
		return
	}
	k := byName(name)
	switch {
	case k == nil:
	case k.Bool():
		if v.values[name] = 0; s.Flag() {
			v.values[name] = 1
		}
	default:
		f := k.Default
		s.Float(&f)
		v.values[name] = max(k.Least, min(f, k.Most))
	}
}

func (v *set) day(s *bxml.Scanner) {
	var d Day
	weekday := int64(-1)
	s.Fields(func(x bxml.Codec) {
		x.Int("day_of_week", &weekday)
		d.hours(x)
	})
	for _, hour := range []*float64{&d.StartHour, &d.EndHour, &d.NetStartHour, &d.NetEndHour} {
		*hour = max(0, min(*hour, 24))
	}
	if weekday >= 0 && weekday <= 6 {
		v.days[time.Weekday(weekday)] = d
	}
}

// XML returns the values of a layer as the content of a <global_preferences> element of BOINC's
// override file.
func (l Layer) XML() string {
	var w bxml.Writer
	for i := range keys {
		k := &keys[i]
		switch v, ok := l.Values[k.Name]; {
		case !ok:
		case k.Bool():
			w.Bool(k.Name, v != 0)
		default:
			w.Float(k.Name, v)
		}
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if day, ok := l.Days[d]; ok {
			writeDay(&w, d, day)
		}
	}
	return string(w.Bytes())
}

func writeDay(w *bxml.Writer, d time.Weekday, day Day) {
	w.Element("day_prefs", func(x bxml.Codec) {
		x.WriteInt("day_of_week", int64(d))
		day.hours(x)
	})
}

func (d *Day) hours(x bxml.Codec) {
	x.Float("start_hour", &d.StartHour)
	x.Float("end_hour", &d.EndHour)
	x.Float("net_start_hour", &d.NetStartHour)
	x.Float("net_end_hour", &d.NetEndHour)
}

// XML returns the preferences as servers, applications and tools read them: the
// content of a <global_preferences> element.
func (p Prefs) XML() string {
	var w bxml.Writer
	w.Text("source_project", "")
	w.Float("mod_time", 0)
	for i := range keys {
		k := &keys[i]
		if k.Bool() {
			w.Bool(k.Name, k.Get(&p) != 0)
		} else {
			w.Float(k.Name, k.Get(&p))
		}
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if day := *p.Days.of(d); day != (Day{}) {
			writeDay(&w, d, day)
		}
	}
	return string(w.Bytes())
}
