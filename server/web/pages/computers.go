package pages

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol/venue"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
)

// The number of computers and tasks that a page lists.
const (
	hostsShown = 200
	tasksShown = 50
)

const maxLabel = 60 // bytes of the owner's name for a computer

// number64 returns a whole number of a request's form, or 0.
func number64(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(r.FormValue(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// computers lists a volunteer's own computers, or the computers of another volunteer who allows it.
func (p *Pages) computers(w http.ResponseWriter, r *http.Request) {
	visit, err := p.visitor(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	u := visit.User
	id := number64(r, "userid")
	own := id == 0 || id == u.ID
	if own && u.ID == 0 {
		http.Redirect(w, r, p.Gate.MasterURL+"login", http.StatusSeeOther)
		return
	}
	data := map[string]any{"Own": own}
	var hosts []store.Host
	err = p.Store.View(r.Context(), func(tx *store.View) (err error) {
		if !own {
			if u, err = tx.User(id); err != nil {
				return err
			}
			data["Title"], data["Here"] = words.T("Computers of {name}", "name", u.Name), "leaders"
		}
		if own || !u.HideHosts && u.DeletedTime.IsZero() {
			hosts, err = tx.HostsOfUser(u.ID, hostsShown)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		p.missing(w, r, words.T("There is no account of this number."))
		return
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	data["Cut"] = len(hosts) == hostsShown
	if r.FormValue("hidden") == "" || !own {
		all := len(hosts)
		hosts = slices.DeleteFunc(hosts, func(h store.Host) bool { return h.Hidden })
		if own {
			data["Hidden"] = all - len(hosts)
		}
	}
	now := time.Now()
	for i := range hosts {
		hosts[i].ExpavgCredit = credit.Decayed(hosts[i].ExpavgCredit, hosts[i].ExpavgTime, now)
	}
	data["Hosts"] = hosts
	p.show(w, r, http.StatusOK, "computers.html", data)
}

// computer shows a computer with its tasks, and applies its owner's changes.
func (p *Pages) computer(w http.ResponseWriter, r *http.Request) {
	visit, err := p.visitor(r)
	data := make(map[string]any)
	if err == nil && r.Method == http.MethodPost {
		var to string
		if to, err = p.setComputer(r, visit); err == nil {
			http.Redirect(w, r, p.Gate.MasterURL+to, http.StatusSeeOther)
			return
		}
		err = explained(data, err)
	}
	if err == nil {
		err = p.Store.View(r.Context(), func(tx *store.View) error {
			return describe(tx, data, visit.User, number64(r, "id"), number64(r, "before"))
		})
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		p.missing(w, r, words.T("There is no computer of this number."))
	case err != nil:
		p.fail(w, r, err)
	default:
		p.show(w, r, http.StatusOK, "computer.html", data)
	}
}

// describe puts a computer, with tasks older than one, into a page's data.
func describe(tx *store.View, data map[string]any, visitor store.User, id, before int64) error {
	h, err := tx.Host(id)
	if err != nil {
		return err
	}
	if h.UserID == 0 {
		return store.ErrNotFound // merged into another
	}
	own := h.UserID == visitor.ID
	owner, err := tx.User(h.UserID)
	if err != nil {
		return err
	}
	if !own && (owner.HideHosts || !owner.DeletedTime.IsZero()) {
		owner = store.User{}
	}
	h.ExpavgCredit = credit.Decayed(h.ExpavgCredit, h.ExpavgTime, time.Now())
	data["Host"], data["Own"], data["Title"] = &h, own, words.T("Computer {id}", "id", h.ID)
	data["Venues"], data["Before"] = venues(words.T("no venue")), before
	if own {
		data["Title"], data["Here"] = called(h), "account"
		if data["Twins"], err = twins(tx, h); err != nil {
			return err
		}
	}
	if owner.ID != 0 {
		data["Owner"] = owner
	}
	var list []store.Result
	if before == 0 {
		if list, _, err = tx.ListResults(store.ResultFilter{HostID: id, State: store.InProgress, Limit: tasksShown}); err != nil {
			return err
		}
	}
	ended, older, err := tx.ListResults(store.ResultFilter{HostID: id, State: store.Over, Below: before, Limit: tasksShown})
	if older != 0 {
		data["Older"] = older
	}
	data["Tasks"] = tasks(append(list, ended...))
	return err
}

// twins returns the computers that may be the same as one: they have the same processor and are
// their owner's, too.
func twins(tx *store.View, h store.Host) (list []store.Host, err error) {
	hosts, err := tx.HostsOfUser(h.UserID, hostsShown)
	for _, x := range hosts {
		if x.ID != h.ID && x.Model == h.Model && x.OSName == h.OSName {
			list = append(list, x)
		}
	}
	return list, err
}

// setComputer applies a form to a computer, and returns the page to show then.
func (p *Pages) setComputer(r *http.Request, visit account.Proof) (page string, err error) {
	if visit.ID == 0 {
		return "", account.ErrSession
	}
	id := number64(r, "id")
	switch r.PostFormValue("what") {
	case "own":
		label, at := strings.TrimSpace(r.PostFormValue("label")), r.PostFormValue("venue")
		if at != "" && !slices.Contains(venue.Names, at) || len(label) > maxLabel || strings.ContainsFunc(label, func(c rune) bool { return c < ' ' }) {
			return "", refusal("the name may have {n} bytes on one line", "n", maxLabel)
		}
		err = p.Gate.Update(r.Context(), visit, func(tx *store.Tx, u store.User) error {
			old, err := tx.Host(id)
			if err != nil || old.UserID != u.ID {
				return cmp.Or(err, store.ErrLost)
			}
			now := old
			now.Label, now.Venue, now.Hidden = label, at, r.PostFormValue("hidden") != ""
			return tx.UpdateHost(old, now)
		})
		page = "computer?id=" + strconv.FormatInt(id, 10)
	case "merge":
		into := number64(r, "into")
		err = p.Gate.Update(r.Context(), visit, func(tx *store.Tx, u store.User) error { return merge(tx, u, id, into) })
		page = "computer?id=" + strconv.FormatInt(into, 10)
	default:
		return "", refusal("nothing was asked for")
	}
	if errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrNotFound) {
		return "", refusal("this computer is not yours")
	}
	return page, err
}

// merge ends the record of a computer that continues under another of its owner's records. It must
// not have results in progress.
func merge(tx *store.Tx, u store.User, id, into int64) error {
	held, err := tx.HostsToChange([]int64{id, into}) // so that no credit comes meanwhile
	if err != nil {
		return err
	}
	from := held[id]
	if from.UserID != u.ID {
		return store.ErrLost
	}
	list, err := twins(tx.View, from)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(h store.Host) bool { return h.ID == into })
	if i < 0 {
		return store.ErrLost
	}
	now, _, err := tx.ListResults(store.ResultFilter{HostID: id, State: store.InProgress, Limit: 1})
	if err != nil {
		return err
	}
	if len(now) > 0 {
		return refusal("it still has tasks in progress; merge the computer that has none into this one")
	}
	to := list[i]
	recent := credit.Decayed(from.ExpavgCredit, from.ExpavgTime, time.Now()) + credit.Decayed(to.ExpavgCredit, to.ExpavgTime, time.Now())
	if err := tx.AddHostCredit(into, from.TotalCredit, recent, time.Now(), to.AvgTurnaround); err != nil {
		return err
	}
	return tx.MergeHost(id, u.ID, into)
}
