package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/protocol/globalprefs"
)

// A pref is a preference that the account's page can edit. There are more: what
// the page does not know it leaves as it is.
type pref struct {
	globalprefs.Key
	About string
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

func edit(name, about string) pref { return pref{Key: globalprefs.Of(name), About: about} }

var editable = []pref{
	edit("run_on_batteries", "Compute while on battery"),
	edit("run_if_user_active", "Compute while the computer is in use"),
	edit("idle_time_to_run", "Minutes without input until it counts as not in use"),
	edit("max_ncpus_pct", "Use at most this % of the CPUs"),
	edit("cpu_usage_limit", "Use at most this % of the CPU time"),
	edit("start_hour", "Compute only from this hour …"),
	edit("end_hour", "… until this hour (the same hour: always)"),
	edit("work_buf_min_days", "Store at least this many days of work"),
	edit("work_buf_additional_days", "… and up to this many additional days"),
	edit("disk_max_used_gb", "Use at most this many GB of disk (0: no limit)"),
	edit("ram_max_used_busy_pct", "Use at most this % of memory while in use"),
	edit("ram_max_used_idle_pct", "Use at most this % of memory while not in use"),
}

// prefsForm returns the editable preferences with what an account holds.
func prefsForm(xml string) []pref {
	form := make([]pref, len(editable))
	copy(form, editable)
	for i := range form {
		form[i].Value = form[i].show(form[i].Default)
		if xml != "" && form[i].Bool() {
			form[i].Value = "" // absent from a set means no
		}
	}
	s := bxml.NewScanner([]byte("<p>" + xml + "</p>"))
	if s.Find("p") != nil {
		return form
	}
	for name := range s.Children() {
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
	}
	return form
}

// editPrefs returns an account's preferences with what the form says, and a new
// modification time; other elements stay as they are.
func editPrefs(xml string, form url.Values, now time.Time) (string, error) {
	var w bxml.Writer
	w.Float("mod_time", float64(now.Unix()))
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
			return "", &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: fmt.Sprintf("the value of %s must be a number from %v to %v", p.Name, p.Least, p.Most)}
		}
		w.Float(p.Name, v)
	}
	s := bxml.NewScanner([]byte("<p>" + xml + "</p>"))
	if s.Find("p") != nil {
		return string(w.Bytes()), nil
	}
	for name := range s.Children() {
		switch venue := s.Attr("name"); {
		case known[name]:
		case venue != "":
			w.Raw(fmt.Sprintf("<%s name=\"%s\">%s</%s>\n", name, url.PathEscape(venue), s.Raw(), name))
		default:
			w.Raw("<" + name + ">" + s.Raw() + "</" + name + ">\n")
		}
	}
	return string(w.Bytes()), nil
}
