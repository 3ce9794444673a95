package pages

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
)

// member shows a page to a logged-in volunteer. Other visitors are asked to log in first.
func (p *Pages) member(show func(w http.ResponseWriter, r *http.Request, visit account.Proof)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		visit, err := p.Gate.Visitor(r)
		if err != nil {
			p.fail(w, r, err)
			return
		}
		visit.ExpavgCredit = credit.Decayed(visit.ExpavgCredit, visit.ExpavgTime, time.Now())
		show(w, r, visit)
	}
}

// visitor returns the account that is logged in. Its ID is 0 if the visitor is not logged in.
func (p *Pages) visitor(r *http.Request) (account.Proof, error) {
	visit, err := p.Gate.Visitor(r)
	if errors.Is(err, account.ErrSession) {
		err = nil
	}
	return visit, err
}

// account shows a volunteer's contribution, and the way to attach computers.
func (p *Pages) account(w http.ResponseWriter, r *http.Request, visit account.Proof) {
	u := visit.User
	data := map[string]any{
		"User": u, "URL": p.Gate.MasterURL, "Weak": protocol.WeakKey(u.ID, u.Authenticator, u.PasswdHash),
		"Unconfirmed": p.Gate.ConfirmEmail && u.ConfirmedTime.IsZero(),
	}
	if r.Method == http.MethodPost && r.PostFormValue("what") == "confirm" {
		if _, ok := p.links.Take(u.ID, time.Now()); ok {
			p.askToConfirm(r, u)
			data["Said"] = words.T("It was sent again.")
		} else {
			data["Error"] = words.T("It was sent a short while ago. Look into your folder of unwanted mail, too.")
		}
	}
	err := p.Store.View(r.Context(), func(tx *store.View) error {
		hosts, err := tx.HostsOfUsers([]int64{u.ID})
		data["Computers"] = hosts[u.ID].Count
		if err != nil {
			return err
		}
		data["Team"], err = teamOf(tx, u)
		return err
	})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.show(w, r, http.StatusOK, "account.html", data)
}

// teamOf returns the team of a user. Its ID is 0 if the user is not in a team.
func teamOf(tx *store.View, u store.User) (store.Team, error) {
	if u.TeamID == 0 {
		return store.Team{}, nil
	}
	t, err := tx.Team(u.TeamID)
	if errors.Is(err, store.ErrNotFound) {
		return store.Team{}, nil
	}
	return t, err
}

// user shows the public data of a volunteer.
func (p *Pages) user(w http.ResponseWriter, r *http.Request) {
	id := number64(r, "id")
	data := map[string]any{"Here": "leaders"}
	var u store.User
	err := p.Store.View(r.Context(), func(tx *store.View) (err error) {
		if u, err = tx.User(id); err != nil {
			return err
		}
		hosts, err := tx.HostsOfUsers([]int64{id})
		if err != nil {
			return err
		}
		data["Computers"] = hosts[id].Count
		data["Team"], err = teamOf(tx, u)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && !u.DeletedTime.IsZero() {
		p.missing(w, r, words.T("There is no account of this number."))
		return
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	u.ExpavgCredit = credit.Decayed(u.ExpavgCredit, u.ExpavgTime, time.Now())
	data["User"], data["Title"] = u, u.Name
	p.show(w, r, http.StatusOK, "user.html", data)
}

// ownData sends all the data that the project has about a volunteer.
func (p *Pages) ownData(w http.ResponseWriter, r *http.Request, visit account.Proof) {
	u := visit.User
	type task struct {
		Name, State      string
		HostID           int64
		Sent, Received   time.Time
		Elapsed, Granted float64
		EnergyWh         float64 // 0: not shared
	}
	out := struct {
		Account struct {
			ID                            int64
			Name, Email, Team, CPID       string
			Created, Confirmed            time.Time
			Credit, RecentCredit          float64
			GlobalPrefs, ProjectPrefs     string
			Venue                         string
			HidesComputers, KeptFromStats bool
		}
		Computers []store.Host
		Tasks     []task
	}{}
	a := &out.Account
	a.ID, a.Name, a.Email, a.Created, a.Confirmed, a.Venue = u.ID, u.Name, u.EmailAddr, u.CreateTime, u.ConfirmedTime, u.Venue
	a.CPID = protocol.ExternalCPID(u.CrossProjectID, u.EmailAddr)
	a.Credit, a.RecentCredit, a.GlobalPrefs, a.ProjectPrefs = u.TotalCredit, u.ExpavgCredit, u.GlobalPrefs, u.ProjectPrefs
	a.HidesComputers, a.KeptFromStats = u.HideHosts, u.NoExport
	err := p.Store.View(r.Context(), func(tx *store.View) error {
		team, err := teamOf(tx, u)
		if err != nil {
			return err
		}
		a.Team = team.Name
		if out.Computers, err = tx.HostsOfUser(u.ID, maxOwn); err != nil {
			return err
		}
		for i := range out.Computers {
			h := &out.Computers[i]
			h.UsableMemory, h.UsableDisk = 0, 0 // may be infinite, which JSON cannot express
			results, _, err := tx.ListResults(store.ResultFilter{HostID: h.ID, Limit: maxOwn})
			if err != nil {
				return err
			}
			for _, x := range results {
				state, _ := stateOf(x)
				out.Tasks = append(out.Tasks, task{x.Name, state.String(), h.ID, x.SentTime, x.ReceivedTime, x.ElapsedTime, x.GrantedCredit, x.EnergyWh})
			}
		}
		return nil
	})
	if err != nil {
		p.fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Disposition", `attachment; filename="account.json"`)
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	_ = enc.Encode(out)
}

// maxOwn is the maximum number of computers, and of tasks of each, in a volunteer's data.
const maxOwn = 10000
