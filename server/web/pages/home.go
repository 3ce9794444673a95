package pages

import (
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/articles"
)

// homeMaxAge is how old the numbers on the home page may be, which clients fetch for its
// tags alone.
const homeMaxAge = 10 * time.Minute

// homePatience is how long the page waits for its numbers. In a large project they take seconds.
const homePatience = time.Second

// newsAtHome is how many pieces of news the home page names.
const newsAtHome = 3

// home is the page that people and clients fetch first. Clients read it line by
// line, 255 bytes at a time, and match the tags to the letter.
func (p *Pages) home(w http.ResponseWriter, r *http.Request) {
	st, counted := p.Counts.Soon(r.Context(), homeMaxAge, homePatience) // clients need the page all the same
	var tag strings.Builder
	for _, u := range p.Schedulers {
		tag.WriteString("<scheduler>" + template.HTMLEscapeString(u) + "</scheduler>\n")
	}
	data := map[string]any{
		"URL": p.Gate.MasterURL, "Schedulers": p.Schedulers, "Status": st, "Counted": counted, "News": p.Articles.News(time.Now(), newsAtHome),
		// In a comment, which html/template would drop from its text.
		"Tag": template.HTML("<!--\n" + tag.String() + "-->"), //nolint:gosec // escaped, and the operator's own
	}
	if a, err := p.Articles.Page(articles.Home); err == nil {
		data["Article"] = a
	}
	p.show(w, http.StatusOK, "home.html", data)
}

// join says how to take part.
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
		p.fail(w, err)
		return
	}
	p.show(w, http.StatusOK, "join.html", map[string]any{"URL": p.Gate.MasterURL, "Closed": p.Gate.Closed, "Platforms": list})
}
