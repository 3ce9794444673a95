package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// A pref is a preference that the account's page can edit. There are more: what
// the page does not know it leaves as it is.
type pref struct {
	Name, About string
	Flag        bool
	Value       string // as the form shows it: "on" for yes
	least, most float64
	def         string
}

var editable = []pref{
	{Name: "run_on_batteries", About: "compute while on battery", Flag: true},
	{Name: "run_if_user_active", About: "compute while the computer is in use", Flag: true, def: "on"},
	{Name: "idle_time_to_run", About: "minutes without input after which it is not in use", most: 9999, def: "3"},
	{Name: "max_ncpus_pct", About: "% of the CPUs at most", most: 100, def: "100"},
	{Name: "cpu_usage_limit", About: "% of the time", most: 100, def: "100"},
	{Name: "start_hour", About: "from this hour …", most: 24, def: "0"},
	{Name: "end_hour", About: "… to this one; equal: always", most: 24, def: "0"},
	{Name: "work_buf_min_days", About: "days of work to keep", most: 10, def: "0.1"},
	{Name: "work_buf_additional_days", About: "and up to so many more", most: 10, def: "0.5"},
	{Name: "disk_max_used_gb", About: "GB of disk at most; 0: no limit", most: 1e6, def: "0"},
	{Name: "ram_max_used_busy_pct", About: "% of memory while in use", most: 100, def: "50"},
	{Name: "ram_max_used_idle_pct", About: "% of memory while not", most: 100, def: "90"},
}

// prefsForm returns the editable preferences with what an account holds.
func prefsForm(xml string) []pref {
	form := make([]pref, len(editable))
	copy(form, editable)
	for i := range form {
		form[i].Value = form[i].def
		if xml != "" && form[i].Flag {
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
			case f.Flag:
				if f.Value = ""; s.Flag() {
					f.Value = "on"
				}
			default:
				var v float64
				s.Float(&v)
				f.Value = strconv.FormatFloat(v, 'f', -1, 64)
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
		if p.Flag {
			w.Bool(p.Name, text == "on")
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= p.least && v <= p.most) {
			return "", &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: fmt.Sprintf("the value of %s must be a number from %v to %v", p.Name, p.least, p.most)}
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
