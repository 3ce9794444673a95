package prefs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/internal/words"
)

// TOML returns a layer as a preference file.
func (l Layer) TOML() string {
	var b strings.Builder
	for i := range keys {
		if v, ok := l.Values[keys[i].Name]; ok {
			fmt.Fprintf(&b, "%s = %s\n", keys[i].Name, keys[i].show(v))
		}
	}
	for w := time.Sunday; w <= time.Saturday; w++ {
		if d, ok := l.Days[w]; ok {
			fmt.Fprintf(&b, "\n[day.%s]\nstart_hour = %v\nend_hour = %v\nnet_start_hour = %v\nnet_end_hour = %v\n",
				dayNames[w], d.StartHour, d.EndHour, d.NetStartHour, d.NetEndHour)
		}
	}
	return b.String()
}

// show is a value as TOML has it.
func (k *Key) show(v float64) string {
	if k.Bool() {
		return strconv.FormatBool(v != 0)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Show is the preference's value in p as TOML has it.
func (k *Key) Show(p *Prefs) string { return k.show(k.Get(p)) }

// Reference returns a preference file that sets nothing: every key with its
// meaning, unit, range and default, in comments.
func Reference() string {
	var b strings.Builder
	b.WriteString(tomlfile.SchemaLine(kind))
	b.WriteString("# Computing preferences. The agent rereads this file when it changes and writes\n" +
		"# it only for \"starling prefs edit\". Names and defaults are BOINC's. Commented-out lines show the defaults.\n" +
		"# A section [venue.home], [venue.work] or [venue.school] overrides the rest for\n" +
		"# computers at that venue; [day.monday] and so on set different hours for a day.\n")
	p := Default()
	for i := range keys {
		k := &keys[i]
		about := k.About
		if !k.Bool() {
			about = fmt.Sprintf("%s (%s, %v to %v)", about, k.Unit, words.Float(k.Least), words.Float(k.Most))
		}
		fmt.Fprintf(&b, "\n# %s\n#%s = %s\n", about, k.Name, k.Show(&p))
	}
	b.WriteString("\n#[day.saturday]\n#start_hour = 0\n#end_hour = 24\n")
	return b.String()
}

// kind is the name of preference files.
const kind = "prefs.toml"

// Schema returns the JSON Schema of preference files.
func Schema() string {
	f := file{Prefs: Default()}
	f.Venue.Home, f.Venue.Work, f.Venue.School = Default(), Default(), Default()
	s := tomlfile.SchemaOf(f)
	for _, table := range []string{"", "venue.home.", "venue.work.", "venue.school."} {
		for i := range keys {
			k := &keys[i]
			of := s.Key(table + k.Name)
			of["description"] = k.About
			if !k.Bool() {
				of["description"], of["minimum"], of["maximum"] = k.About+" ("+k.Unit+")", k.Least, k.Most
			}
			if table != "" {
				delete(of, "default") // it is the part of the file outside the section
			}
		}
	}
	return s.Text(kind, "Computing preferences of the Starling agent")
}
