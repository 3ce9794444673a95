package dashboard

import (
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
)

// A preference is one line of the form.
type preference struct {
	Name   string   `json:"name"`
	About  string   `json:"about"`
	Unit   string   `json:"unit,omitempty"`
	Bool   bool     `json:"bool,omitempty"`
	Least  float64  `json:"least"`
	Most   float64  `json:"most"`
	Value  float64  `json:"value"`         // in force
	Origin string   `json:"origin"`        // source of that value
	Own    *float64 `json:"own,omitempty"` // set here (nil: not)
}

func (s *Server) prefs(w http.ResponseWriter, r *http.Request) {
	p, err := s.Agent.Prefs(r.Context())
	var own prefs.Layer
	if err == nil {
		own, err = s.Agent.PrefsOverride(r.Context())
	}
	form := struct {
		File string               `json:"file"`
		TOML string               `json:"toml"`
		Keys []preference         `json:"keys"`
		Days map[string]prefs.Day `json:"days"` // windows of weekdays that are set here
	}{settings.PrefsOverrideFile, own.TOML(), nil, make(map[string]prefs.Day)}
	for w, d := range own.Days {
		form.Days[weekday(w)] = d
	}
	l := words.LanguageOf(r.Context())
	for _, k := range prefs.Keys() {
		f := preference{
			Name: k.Name, About: words.T(k.About).In(l), Unit: words.T(k.Unit).In(l), Bool: k.Bool(), Least: k.Least, Most: k.Most,
			Value: k.Get(&p.Prefs), Origin: p.Origin[k.Name],
		}
		if other, ok := strings.CutPrefix(f.Origin, "as "); ok {
			f.Origin = words.T("as {name}", "name", other).In(l)
		} else if filepath.IsAbs(f.Origin) {
			f.Origin = filepath.Base(f.Origin)
		} else {
			f.Origin = words.T(f.Origin).In(l)
		}
		if v, ok := own.Values[k.Name]; ok {
			f.Own = &v
		}
		form.Keys = append(form.Keys, f)
	}
	answer(w, r, form, err)
}

// weekday returns a day's name in preference files.
func weekday(w time.Weekday) string { return strings.ToLower(w.String()) }

// layer reads the values set in the form, by name. Windows of weekdays stay if the form does not
// have any.
func (s *Server) layer(w http.ResponseWriter, r *http.Request) (l prefs.Layer, ok bool) {
	var q struct {
		Values map[string]float64   `json:"values"`
		Days   map[string]prefs.Day `json:"days"`
	}
	if !read(w, r, &q) {
		return l, false
	}
	now, err := s.Agent.PrefsOverride(r.Context())
	l = prefs.Layer{Values: q.Values, Days: now.Days}
	if q.Days != nil {
		l.Days = make(map[time.Weekday]prefs.Day)
		for w := time.Sunday; w <= time.Saturday; w++ {
			if d, ok := q.Days[weekday(w)]; ok {
				l.Days[w] = d
				delete(q.Days, weekday(w))
			}
		}
		for name := range q.Days {
			err = errors.Join(err, words.Refuse(words.T("{name}: not a day of the week", "name", name)))
		}
	}
	for name := range q.Values {
		if !slices.ContainsFunc(prefs.Keys(), func(k prefs.Key) bool { return k.Name == name }) {
			err = errors.Join(err, words.Refuse(words.T("{key}: unknown key", "key", name)))
		}
	}
	if err == nil { // the file's own reader checks the allowed values
		_, err = prefs.Parse(settings.PrefsOverrideFile, []byte(l.TOML()), "")
	}
	if err != nil {
		control.Refuse(w, r, http.StatusUnprocessableEntity, err)
	}
	return l, err == nil
}

func (s *Server) previewPrefs(w http.ResponseWriter, r *http.Request) {
	if l, ok := s.layer(w, r); ok {
		answer(w, r, map[string]string{"toml": l.TOML()}, nil)
	}
}

func (s *Server) setPrefs(w http.ResponseWriter, r *http.Request) {
	if l, ok := s.layer(w, r); ok {
		answer(w, r, map[string]string{"toml": l.TOML()}, s.Agent.SetPrefsOverride(r.Context(), l))
	}
}
