package pages

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/ranking"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/counts"
)

const (
	// homeMaxAge is the maximum age of the numbers on the home page, unless they are expensive.
	// Clients fetch the page only for its tags.
	homeMaxAge = time.Minute
	// homePatience is the time that the page waits for its numbers. After that it shows older
	// ones, if it has any.
	homePatience = time.Second
	// newsAtHome is the number of news items on the home page.
	newsAtHome = 5
	// leadersAtHome is the number of the most active accounts and teams on the page. fewestAtHome
	// is the minimum number of accounts with credit for showing them.
	leadersAtHome, fewestAtHome = 3, 10
)

// home is the page that people and clients fetch first. Clients read it line by
// line, 255 bytes at a time, and match the tags to the letter.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) {
	late := time.Now().Add(homePatience)
	data := map[string]any{"Schedulers": p.Schedulers, "Front": p.Articles.Front(p.Name, words.LanguageOf(r.Context())), "News": p.Articles.News(time.Now(), newsAtHome)}
	var tag strings.Builder
	for _, u := range p.Schedulers {
		tag.WriteString("<scheduler>" + template.HTMLEscapeString(u) + "</scheduler>\n")
	}
	// In a comment, which html/template would drop from its text.
	data["Tag"] = template.HTML("<!--\n" + tag.String() + "-->") //nolint:gosec // escaped, and the operator's own
	if st, known := p.Counts.Soon(r.Context(), homeMaxAge, time.Until(late)); known {
		data["Status"], data["Progress"] = st, progressOf(st)
	}
	if t, known := p.Standings.Soon(r.Context(), homeMaxAge, time.Until(late)); known && t.Earning >= fewestAtHome {
		data["Standings"], data["Active"] = t, mostActive(t)
	}
	p.show(w, r, http.StatusOK, "home.html", data)
}

// A progress is a project's progress in a form for visitors.
type progress struct {
	Percent     int64 // of the workunits that are done, rounded down (0: not shown)
	Done, Total int64
	Sentences   []words.Text
}

func progressOf(st counts.Status) (p progress) {
	p.Done, p.Total = st.Workunits.Canonical, st.Workunits.Total
	if p.Total > 0 {
		p.Percent = 100 * p.Done / p.Total
	}
	if n := st.Results.ValidToday; n > 0 {
		p.Sentences = append(p.Sentences, words.Plural(int(n), "{count} result was validated in the last 24 hours.",
			"{count} results were validated in the last 24 hours.", "count", words.Number(n)))
	}
	if n := st.Results.ByServerState[store.InProgress.String()]; n > 0 {
		p.Sentences = append(p.Sentences, words.Plural(int(n), "{count} task is being computed now.",
			"{count} tasks are being computed now.", "count", words.Number(n)))
	}
	return p
}

// An active is an account or a team with its credit per day.
type active struct {
	Link, Name string
	Recent     float64
}

// mostActive returns the accounts and teams with the most recent credit.
func mostActive(t ranking.Table) (all []active) {
	add := func(list []ranking.Entry, link string) {
		for _, e := range list[:min(len(list), leadersAtHome)] {
			if e.Recent >= 1 {
				all = append(all, active{fmt.Sprintf("%s?id=%d", link, e.ID), cmp.Or(e.Name, fmt.Sprint(e.ID)), math.Round(e.Recent)})
			}
		}
	}
	add(t.RecentUsers, "user")
	add(t.RecentTeams, "team")
	slices.SortStableFunc(all, func(a, b active) int { return cmp.Compare(b.Recent, a.Recent) })
	return all[:min(len(all), leadersAtHome)]
}

// join explains how to take part.
func (p *Pages) join(w http.ResponseWriter, r *http.Request) {
	type needs struct {
		App string
		On  []string
	}
	var list []needs
	err := p.Store.View(r.Context(), func(tx *store.View) error {
		apps, err := tx.Apps()
		if err != nil {
			return err
		}
		versions, err := tx.AppVersions()
		if err != nil {
			return err
		}
		for _, a := range apps {
			n := needs{App: a.UserFriendlyName}
			for _, v := range versions {
				on := v.Platform.UserFriendlyName
				if v.PlanClass != "" {
					on += " (" + v.PlanClass + ")"
				}
				if v.AppID == a.ID && !slices.Contains(n.On, on) {
					n.On = append(n.On, on)
				}
			}
			if len(n.On) > 0 && !a.Deprecated {
				list = append(list, n)
			}
		}
		return nil
	})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.show(w, r, http.StatusOK, "join.html", map[string]any{"URL": p.Gate.MasterURL, "Closed": p.Gate.DisableAccountCreation, "Platforms": list})
}
