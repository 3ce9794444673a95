package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol/venue"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/projectprefs"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
)

// A choice is one of those that a person has.
type choice struct {
	Name string
	Text words.Text
}

// venues returns the venues, with an entry for no venue at the start.
func venues(none words.Text) []choice {
	return []choice{{"", none}, {"home", words.T("Home")}, {"school", words.T("School")}, {"work", words.T("Work")}}
}

// An appChoice is an application that a volunteer may want or not.
type appChoice struct {
	ID     int64
	Name   string
	Wanted bool
}

// A kindChoice is a kind of processor that may be used or not.
type kindChoice struct {
	Kind, Name string
	Used       bool
}

// preferences shows and changes the preferences for a volunteer's computers, for all or at a venue.
func (p *Pages) preferences(w http.ResponseWriter, r *http.Request, visit account.Proof) {
	at := r.FormValue("venue")
	if at != "" && !slices.Contains(venue.Names, at) {
		p.missing(w, r, words.T("There is no venue of this name."))
		return
	}
	apps, err := store.Read(r.Context(), p.Store, (*store.View).Apps)
	data := map[string]any{"Venue": at, "Venues": venues(words.T("All computers"))}
	if err == nil && r.Method == http.MethodPost {
		if err = explained(data, p.setPreferences(r, &visit, at, apps)); err == nil && data["Error"] == nil {
			data["Said"] = words.T("Preferences saved. Your computers get them at their next contact.")
		}
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	u := visit.User
	wanted := projectprefs.For(u.ProjectPrefs, at)
	data["Wishes"], data["OwnProject"] = wanted, projectprefs.Has(u.ProjectPrefs, at)
	sets := venue.Split(u.GlobalPrefs)
	_, data["OwnGlobal"] = sets.Own(at)
	data["Prefs"] = prefsForm(u.GlobalPrefs, at)
	data["Apps"] = offered(apps, wanted)
	var kinds []kindChoice
	for _, k := range projectprefs.Kinds() {
		kinds = append(kinds, kindChoice{cpuWord(k), match.DeviceNames(k), wanted.Uses(k)})
	}
	data["Kinds"] = kinds
	p.show(w, r, http.StatusOK, "preferences.html", data)
}

// cpuWord returns the name of a kind of processor in a form, where the CPUs need a name.
func cpuWord(kind string) string {
	if kind == projectprefs.CPUs {
		return "CPU"
	}
	return kind
}

// offered returns the applications to choose from: those that are not stopped, and those that were
// chosen. It is empty if there is only one possibility.
func offered(apps []store.App, now projectprefs.Prefs) (list []appChoice) {
	for _, a := range apps {
		if !a.Deprecated || len(now.Apps) > 0 && now.Wants(a.ID) {
			list = append(list, appChoice{a.ID, a.UserFriendlyName, now.Wants(a.ID)})
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

func (p *Pages) setPreferences(r *http.Request, visit *account.Proof, at string, apps []store.App) error {
	u, form := &visit.User, withPoints(r.PostForm, words.LanguageOf(r.Context()))
	drop := r.PostFormValue("drop") != "" && at != ""
	switch r.PostFormValue("what") {
	case "prefs":
		text := dropPrefs(u.GlobalPrefs, at, time.Now())
		if !drop {
			var err error
			if text, err = editPrefs(u.GlobalPrefs, at, form, time.Now()); err != nil {
				return err
			}
		}
		err := p.Gate.Update(r.Context(), *visit, func(tx *store.Tx, _ store.User) error { return tx.SetGlobalPrefs(u.ID, u.GlobalPrefs, text) })
		if err == nil {
			u.GlobalPrefs = text
		}
		return err
	case "project":
		text := projectprefs.Drop(u.ProjectPrefs, at)
		if !drop {
			wanted, err := wishesOf(form, projectprefs.For(u.ProjectPrefs, at), apps)
			if err != nil {
				return err
			}
			text = projectprefs.Set(u.ProjectPrefs, at, wanted)
		}
		err := p.Gate.Update(r.Context(), *visit, func(tx *store.Tx, old store.User) error {
			if old.ProjectPrefs != u.ProjectPrefs {
				return store.ErrLost
			}
			now := old
			now.ProjectPrefs = text
			return tx.SaveUser(old, now)
		})
		if err == nil {
			u.ProjectPrefs = text
		}
		return err
	}
	return refusal("nothing was asked for")
}

// withPoints returns a form whose numbers, which are written in a language, have a decimal point.
func withPoints(form url.Values, l words.Language) url.Values {
	numbers := make(url.Values)
	for name, values := range form {
		for _, v := range values {
			numbers.Add(name, strings.Replace(v, decimalPoint(l), ".", 1))
		}
	}
	return numbers
}

// wishesOf reads the form with the project preferences. now has the current ones.
func wishesOf(form url.Values, now projectprefs.Prefs, apps []store.App) (p projectprefs.Prefs, err error) {
	if p.ResourceShare, err = strconv.ParseFloat(strings.TrimSpace(form.Get("resource_share")), 64); err != nil || !(p.ResourceShare >= 0 && p.ResourceShare <= projectprefs.MaxShare) {
		return p, refusal("the resource share must be a number from 0 to {most}", "most", words.Number(projectprefs.MaxShare))
	}
	if text := strings.TrimSpace(form.Get("max_tasks")); text != "" {
		if p.MaxTasks, err = strconv.Atoi(text); err != nil || p.MaxTasks < 0 || p.MaxTasks > 1e6 {
			return p, refusal("the number of tasks must be from 0 to 1000000, 0 for no limit")
		}
	}
	choices, all := offered(apps, now), true
	for _, a := range choices {
		if slices.Contains(form["app"], strconv.FormatInt(a.ID, 10)) {
			p.Apps = append(p.Apps, a.ID)
		} else {
			all = false
		}
	}
	switch {
	case len(choices) == 0:
		p.Apps = now.Apps
	case all: // and those to come
		p.Apps = nil
	case len(p.Apps) == 0:
		return p, refusal("choose at least one application")
	}
	for _, k := range projectprefs.Kinds() {
		if !slices.Contains(form["use"], cpuWord(k)) {
			p.Without = append(p.Without, k)
		}
	}
	if len(p.Without) == len(projectprefs.Kinds()) {
		return p, refusal("choose at least one kind of processor; to compute nothing, detach your computers or set their share to 0")
	}
	return p, nil
}
