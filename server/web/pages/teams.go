package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/deletion"
	"github.com/starling-grid/starling/server/ranking"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
	"github.com/starling-grid/starling/server/web/articles"
)

const (
	membersShown = 200
	maxAbout     = 10000 // bytes of a team's description
)

// teams lists the teams that earned most, and founds others.
func (p *Pages) teams(w http.ResponseWriter, r *http.Request) {
	visit, err := p.visitor(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	data := map[string]any{"Form": url.Values{}}
	if r.Method == http.MethodPost {
		id, err := p.found(r, visit)
		if err == nil {
			p.Standings.Forget() // founders look for their team there
			http.Redirect(w, r, p.Gate.MasterURL+"team?id="+strconv.FormatInt(id, 10), http.StatusSeeOther)
			return
		}
		if err := explained(data, err); err != nil {
			p.fail(w, r, err)
			return
		}
		data["Form"] = r.PostForm
	}
	t, err := p.Standings.Get(r.Context(), ranking.Fresh)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	data["Entries"] = t.Teams
	if visit.ID != 0 {
		data["Visitor"] = visit.User
	}
	p.show(w, r, http.StatusOK, "teams.html", data)
}

// found makes a team, whose founder is its leader and first member.
func (p *Pages) found(r *http.Request, visit account.Proof) (id int64, err error) {
	name, err := account.Name(r.PostFormValue("name"))
	if err != nil {
		return 0, refusal("a team's name must be a line without < and >")
	}
	if visit.ID == 0 {
		return 0, account.ErrSession
	}
	if _, ok := p.founded.Take(visit.ID, time.Now()); !ok {
		return 0, refusal("you have founded several teams today: try again tomorrow")
	}
	err = p.Gate.Update(r.Context(), visit, func(tx *store.Tx, u store.User) error {
		if id, err = tx.InsertTeam(store.Team{CreateTime: time.Now(), UserID: u.ID, Name: name}); err != nil {
			return err
		}
		return join(tx, u, id)
	})
	if errors.Is(err, store.ErrExists) {
		return 0, refusal("there is a team of this name already")
	}
	return id, err
}

// join makes a user a member of a team, or of none, and hands on a team that he led.
func join(tx *store.Tx, u store.User, id int64) error {
	if u.TeamID == id {
		return nil
	}
	now := u
	now.TeamID = id
	if err := tx.SaveUser(u, now); err != nil || u.TeamID == 0 {
		return err
	}
	return deletion.Resign(tx, u.ID, u.TeamID)
}

// team shows a team, by its number or name, and processes requests of members and its leader.
func (p *Pages) team(w http.ResponseWriter, r *http.Request) {
	visit, err := p.visitor(r)
	u := visit.User
	data := map[string]any{"Here": "teams"}
	if err == nil && r.Method == http.MethodPost {
		if err = explained(data, p.changeTeam(r, visit, &u)); err == nil && data["Error"] == nil {
			if r.PostFormValue("what") == "leave" { // maybe its last member
				http.Redirect(w, r, p.Gate.MasterURL+"teams", http.StatusSeeOther)
				return
			}
			data["Said"] = words.T("Done.")
		}
	}
	var t store.Team
	var members []store.User
	if err == nil {
		err = p.Store.View(r.Context(), func(tx *store.View) (err error) {
			if name := r.FormValue("name"); name != "" {
				t, err = tx.TeamByName(strings.TrimSpace(name))
			} else {
				t, err = tx.Team(number64(r, "id"))
			}
			if err == nil {
				members, err = tx.Members(t.ID, membersShown)
			}
			return err
		})
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		p.missing(w, r, words.T("There is no such team."))
		return
	case err != nil:
		p.fail(w, r, err)
		return
	}
	for i := range members {
		m := &members[i]
		m.ExpavgCredit = credit.Decayed(m.ExpavgCredit, m.ExpavgTime, time.Now())
	}
	data["Team"], data["Title"], data["Members"], data["About"] = t, t.Name, members, articles.Text(t.Description)
	if u.ID != 0 {
		data["Visitor"], data["Member"], data["Leads"] = u, u.TeamID == t.ID, u.ID == t.UserID
	}
	p.show(w, r, http.StatusOK, "team.html", data)
}

// changeTeam processes a request of a visitor. It puts the visitor's new team into u.
func (p *Pages) changeTeam(r *http.Request, visit account.Proof, u *store.User) error {
	if visit.ID == 0 {
		return account.ErrSession
	}
	id := number64(r, "id")
	return p.Gate.Update(r.Context(), visit, func(tx *store.Tx, now store.User) error {
		t, err := tx.TeamToChange(id)
		if err != nil {
			return err
		}
		switch r.PostFormValue("what") {
		case "join":
			u.TeamID = id
			return join(tx, now, id)
		case "leave":
			if now.TeamID != id {
				return nil
			}
			u.TeamID = 0
			return join(tx, now, 0)
		case "edit":
			if t.UserID != u.ID {
				return refusal("only the team's leader can do that")
			}
			return edited(tx, t, r)
		}
		return refusal("nothing was asked for")
	})
}

// edited stores the leader's form about a team.
func edited(tx *store.Tx, t store.Team, r *http.Request) error {
	t.URL, t.Description = strings.TrimSpace(r.PostFormValue("url")), r.PostFormValue("description")
	if at, err := url.Parse(t.URL); t.URL != "" && (err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || len(t.URL) > 500) {
		return refusal("the web site must be an https:// or http:// address")
	}
	if len(t.Description) > maxAbout {
		return refusal("the text may have {n} bytes", "n", maxAbout)
	}
	if leader := number64(r, "leader"); leader != 0 && leader != t.UserID {
		held, err := tx.UsersToChange([]int64{leader})
		if err != nil {
			return err
		}
		if held[leader].TeamID != t.ID {
			return refusal("the next leader must be a member")
		}
		t.UserID = leader
	}
	return tx.SetTeam(t)
}
