package prefs

import (
	"errors"
	"maps"
	"time"

	"github.com/starling-grid/starling/internal/tomlfile"
)

// A Layer has the preferences that one source sets.
type Layer struct {
	Origin string             // for people: a file, or a project's name
	Values map[string]float64 // by name, with 0 and 1 for no and yes
	Days   map[time.Weekday]Day
}

// Effective has the values that are in effect after all layers.
type Effective struct {
	Prefs
	// Origin has the source of each value, by name, or "default".
	Origin map[string]string
}

// Merge lays layers over the defaults, the later ones over the earlier ones.
func Merge(layers ...Layer) Effective {
	e := Effective{Prefs: Default(), Origin: make(map[string]string, len(keys))}
	for i := range keys {
		e.Origin[keys[i].Name] = "default"
	}
	for _, l := range layers {
		for name, v := range l.Values {
			if k := byName(name); k != nil {
				k.set(&e.Prefs, v)
				e.Origin[name] = l.Origin
			}
		}
		for w, d := range l.Days {
			*e.Days.of(w) = d
		}
	}
	// Those for a computer that is not in use follow the others where only these
	// are set.
	for niu, busy := range map[string]string{
		"niu_max_ncpus_pct": "max_ncpus_pct", "niu_cpu_usage_limit": "cpu_usage_limit", "niu_suspend_cpu_usage": "suspend_cpu_usage",
	} {
		if e.Origin[niu] == "default" && e.Origin[busy] != "default" {
			byName(niu).set(&e.Prefs, byName(busy).Get(&e.Prefs))
			e.Origin[niu] = "as " + busy
		}
	}
	return e
}

// file is a preference file as people write it.
type file struct {
	Prefs
	Venue struct {
		Home   Prefs `toml:"home"`
		Work   Prefs `toml:"work"`
		School Prefs `toml:"school"`
	} `toml:"venue"`
}

// Parse reads a preference file called name. On a computer whose venue is V, the section [venue.V]
// overrides the rest. The error joins all faults, each with file, line and key. With an error the
// layer must not be used.
func Parse(name string, src []byte, venue string) (Layer, error) {
	var f file
	lines, err := tomlfile.Decode(name, src, &f)
	errs := []error{err}
	l := Layer{Origin: name, Values: make(map[string]float64), Days: make(map[time.Weekday]Day)}
	venues := map[string]*Prefs{"home": &f.Venue.Home, "work": &f.Venue.Work, "school": &f.Venue.School}
	errs = append(errs, l.take(lines, &f.Prefs, ""))
	for v, p := range venues {
		there := Layer{Values: make(map[string]float64), Days: make(map[time.Weekday]Day)}
		errs = append(errs, there.take(lines, p, "venue."+v+"."))
		if v == venue {
			maps.Copy(l.Values, there.Values)
			maps.Copy(l.Days, there.Days)
		}
	}
	return l, errors.Join(errs...)
}

// take sets the preferences of a table of the file, and returns its faults.
func (l *Layer) take(lines tomlfile.Lines, p *Prefs, table string) error {
	var errs []error
	for i := range keys {
		k := &keys[i]
		if !lines.Has(table + k.Name) {
			continue
		}
		v := k.Get(p)
		if !(v >= k.Least && v <= k.Most) {
			errs = append(errs, lines.Fault(table+k.Name, outside(v, k.Least, k.Most)))
		}
		l.Values[k.Name] = v
	}
	for w := time.Sunday; w <= time.Saturday; w++ {
		prefix := table + "day." + dayNames[w] + "."
		d, any := p.Days.of(w), false
		for name, v := range map[string]float64{
			"start_hour": d.StartHour, "end_hour": d.EndHour, "net_start_hour": d.NetStartHour, "net_end_hour": d.NetEndHour,
		} {
			if lines.Has(prefix + name) {
				any = true
				if !(v >= 0 && v <= 24) {
					errs = append(errs, lines.Fault(prefix+name, outside(v, 0, 24)))
				}
			}
		}
		if any {
			l.Days[w] = *d
		}
	}
	return errors.Join(errs...)
}

var dayNames = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
