package view

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
)

// Users lists accounts.
var Users = &Listing{
	Short: "List accounts",
	Long:  "List the newest accounts that all flags apply to.",
	None:  "No accounts.",
	Columns: []Column{
		{"ID", OfUser}, {"Name", ""}, {"E-mail", ""}, {"State", ""}, {"Hosts", ""}, {"Credit", ""}, {"Recent", ""}, {"Last contact", ""}, {"Created", ""},
	},
	Filters: []Filter{
		{Name: "search", About: "only with this text in the name or address"},
		{Name: "banned", Type: Switch, About: "only banned ones"},
		{Name: "trusted", Type: Switch, About: "only trusted ones"},
		newest,
	},
	find: findUsers,
}

// A User is an account as an operator sees it. It does not include the account's key and password.
type User struct {
	ID           int64         `json:"id"`
	Name         string        `json:"name"`
	Email        string        `json:"email_addr"`
	CreateTime   time.Time     `json:"create_time"`
	State        string        `json:"state"` // active, banned or deleted
	BannedTime   time.Time     `json:"banned_time,omitzero"`
	BanReason    string        `json:"ban_reason,omitempty"`
	DeletedTime  time.Time     `json:"deleted_time,omitzero"`
	Trusted      bool          `json:"trusted,omitempty"` // its results decide about suspicious ones
	Hosts        int64         `json:"hosts"`
	LastContact  time.Time     `json:"rpc_time,omitzero"` // of its computers
	TotalCredit  float64       `json:"total_credit"`
	ExpavgCredit float64       `json:"expavg_credit"`
	Password     bool          `json:"has_password"`
	Computers    []HostSummary `json:"computers,omitempty"`
}

func viewUser(u store.User, h store.UserHosts, now time.Time) User {
	v := User{
		ID: u.ID, Name: u.Name, Email: u.EmailAddr, CreateTime: UTC(u.CreateTime), State: "active", BannedTime: UTC(u.BannedTime),
		BanReason: u.BanReason, DeletedTime: UTC(u.DeletedTime), Trusted: u.Trusted, Hosts: h.Count, LastContact: UTC(h.Last), TotalCredit: u.TotalCredit,
		ExpavgCredit: credit.Decayed(u.ExpavgCredit, u.ExpavgTime, now), Password: u.PasswdHash != "",
	}
	switch {
	case !u.DeletedTime.IsZero():
		v.State = "deleted"
	case !u.BannedTime.IsZero():
		v.State = "banned"
	}
	return v
}

func findUsers(tx *store.View, q Query, now time.Time) (List, error) {
	r := &reader{q: q, now: now}
	f := store.UserFilter{Search: strings.ToLower(q["search"]), Banned: r.on("banned"), Trusted: r.on("trusted"), Limit: r.limit()}
	if r.err != nil {
		return List{}, r.err
	}
	found, err := tx.ListUsers(f)
	if err != nil {
		return List{}, err
	}
	ids := make([]int64, len(found))
	for i, u := range found {
		ids[i] = u.ID
	}
	hosts, err := tx.HostsOfUsers(ids)
	views := []User{}
	list := List{}
	for _, u := range found {
		v := viewUser(u, hosts[u.ID], now)
		views = append(views, v)
		list.Rows = append(list.Rows, []any{v.ID, v.Name, v.Email, v.State, v.Hosts, v.TotalCredit, v.ExpavgCredit, v.LastContact, v.CreateTime})
	}
	list.Of = views
	return list, err
}

// shownHosts is the number of an account's computers that are shown.
const shownHosts = 100

// UserBy shows the account with a number or e-mail address, or returns store.ErrNotFound.
func UserBy(tx *store.View, who string, now time.Time) (*User, error) {
	u, err := operate.Account(tx, who)
	if err != nil {
		return nil, err
	}
	has, err := tx.HostsOfUsers([]int64{u.ID})
	if err != nil {
		return nil, err
	}
	v := viewUser(u, has[u.ID], now)
	v.Computers, err = hosts(tx, store.HostFilter{UserID: u.ID, Limit: shownHosts}, now)
	return &v, err
}
