package pages

import (
	"net/http"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/ranking"
)

// leaderTabs are the leaderboards.
var leaderTabs = []tab{
	{"leaders", words.T("Volunteers")}, {"leaders?of=computers", words.T("Computers")}, {"leaders?of=teams", words.T("Teams")},
}

// leaders shows the leaderboards.
func (p *Pages) leaders(w http.ResponseWriter, r *http.Request) {
	t, err := p.Standings.Get(r.Context(), ranking.Fresh)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	recent := r.FormValue("by") == "recent"
	of := func(total, lately []ranking.Entry) []ranking.Entry {
		if recent {
			return lately
		}
		return total
	}
	data := map[string]any{
		"Tabs": leaderTabs, "Tab": "leaders", "And": "?", "Recent": recent,
		"What": words.T("Volunteer"), "Link": "user", "Entries": of(t.Users, t.RecentUsers),
	}
	switch r.FormValue("of") {
	case "computers":
		data["Tab"], data["And"], data["What"], data["Link"] = "leaders?of=computers", "&", words.T("Computer"), "computer"
		data["Entries"] = of(t.Hosts, t.RecentHosts)
	case "teams":
		data["Tab"], data["And"], data["What"], data["Link"], data["Teams"] = "leaders?of=teams", "&", words.T("Team"), "team", true
		data["Entries"] = of(t.Teams, t.RecentTeams)
	}
	p.show(w, r, http.StatusOK, "leaders.html", data)
}
