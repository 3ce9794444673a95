package pages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/protocol/globalprefs"
	"github.com/starling-grid/starling/protocol/venue"
)

// A pref is a preference that the account's page can edit. Preferences that the page does not
// support are left as they are.
type pref struct {
	globalprefs.Key
	About words.Text
	Value string // as the form shows it: "on" for yes
}

// show is a value as the form shows it.
func (p pref) show(v float64) string {
	switch {
	case !p.Bool():
		return strconv.FormatFloat(v, 'f', -1, 64)
	case v != 0:
		return "on"
	}
	return ""
}

func edit(name string, about words.Text) pref {
	return pref{Key: globalprefs.Of(name), About: about}
}

var editable = []pref{
	edit("run_on_batteries", words.T("Compute while on battery")),
	edit("run_if_user_active", words.T("Compute while the computer is in use")),
	edit("idle_time_to_run", words.T("Minutes without input until it counts as not in use")),
	edit("max_ncpus_pct", words.T("Use at most this % of the CPUs")),
	edit("cpu_usage_limit", words.T("Use at most this % of the CPU time")),
	edit("start_hour", words.T("Compute only from this hour …")),
	edit("end_hour", words.T("… until this hour (the same hour: always)")),
	edit("work_buf_min_days", words.T("Store at least this many days of work")),
	edit("work_buf_additional_days", words.T("… and up to this many additional days")),
	edit("disk_max_used_gb", words.T("Use at most this many GB of disk (0: no limit)")),
	edit("ram_max_used_busy_pct", words.T("Use at most this % of memory while in use")),
	edit("ram_max_used_idle_pct", words.T("Use at most this % of memory while not in use")),
}

// prefsForm returns the editable preferences with an account's values for a venue.
func prefsForm(xml, at string) []pref {
	form := slices.Clone(editable)
	own := venue.Split(xml).For(at)
	for i := range form {
		form[i].Value = form[i].show(form[i].Default)
		if own != "" && form[i].Bool() {
			form[i].Value = "" // absent from a set means no
		}
	}
	venue.Each(own, func(s *bxml.Scanner, name string) {
		for i := range form {
			switch f := &form[i]; {
			case f.Name != name:
			case f.Bool():
				if f.Value = ""; s.Flag() {
					f.Value = "on"
				}
			default:
				var v float64
				s.Float(&v)
				f.Value = f.show(v)
			}
		}
	})
	return form
}

// editPrefs returns an account's preferences with the form's values for a venue, and a new
// modification time. Other elements stay as they are.
func editPrefs(xml, at string, form url.Values, now time.Time) (string, error) {
	var w bxml.Writer
	known := map[string]bool{"mod_time": true}
	for _, p := range editable {
		known[p.Name] = true
		text := strings.TrimSpace(form.Get(p.Name))
		if p.Bool() {
			w.Bool(p.Name, text == "on")
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= p.Least && v <= p.Most) {
			return "", refusal("{preference}: want a number from {least} to {most}", "preference", p.About, "least", words.Decimal(p.Least, -1), "most", words.Decimal(p.Most, -1))
		}
		w.Float(p.Name, v)
	}
	sets := venue.Split(xml)
	venue.Each(sets.For(at), func(s *bxml.Scanner, name string) {
		if !known[name] {
			venue.Keep(&w, s, name)
		}
	})
	sets.Set(at, string(w.Bytes()))
	return changed(sets, now), nil
}

// dropPrefs returns an account's preferences without a venue's own.
func dropPrefs(xml, at string, now time.Time) string {
	sets := venue.Split(xml)
	sets.Drop(at)
	return changed(sets, now)
}

// changed writes preferences that were changed now. The time of the change is the first element.
func changed(sets venue.Sets, now time.Time) string {
	var w bxml.Writer
	w.Float("mod_time", float64(now.Unix()))
	venue.Each(sets.All, func(s *bxml.Scanner, name string) {
		if name != "mod_time" {
			venue.Keep(&w, s, name)
		}
	})
	sets.All = string(w.Bytes())
	return sets.String()
}
