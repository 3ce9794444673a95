package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/protocol/venue"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
)

// The calls below are made by account managers and statistics sites, for a volunteer who gave them
// the account key, or about one who did not.
//
// Source: BOINC html/user/am_get_info.php, am_set_host_info.php and show_user.php. am_set_info.php,
// with which a manager could change an account, is refused there, and not here at all.

// owner returns the account whose key a call brings, or an error for its sender.
func (s *Site) owner(r *http.Request, key string) (account.Proof, error) {
	if err := s.gate.Try(r); err != nil {
		return account.Proof{}, err
	}
	return s.gate.ByKey(r.Context(), protocol.Authenticator(key))
}

// accountInfo sends an account manager the data of an account.
func (s *Site) accountInfo(w http.ResponseWriter, r *http.Request) {
	u, err := s.owner(r, r.URL.Query().Get("account_key"))
	if err != nil {
		s.answer(w, "", err)
		return
	}
	var x bxml.Writer
	x.Open("am_get_info_reply")
	x.Raw("<success/>\n")
	x.Int("id", u.ID)
	x.Text("name", url.QueryEscape(u.Name))
	x.Text("country", "")
	x.Text("weak_auth", protocol.WeakKey(u.ID, u.Authenticator, u.PasswdHash))
	x.Text("cpid", protocol.ExternalCPID(u.CrossProjectID, u.EmailAddr))
	x.Int("has_profile", 0)
	x.Int("create_time", u.CreateTime.Unix())
	x.Block("global_prefs", preferences("global_preferences", u.GlobalPrefs))
	x.Block("project_prefs", preferences("project_preferences", u.ProjectPrefs))
	x.Text("url", "")
	x.Int("send_email", 0)
	x.Bool("show_hosts", !u.HideHosts)
	x.Int("teamid", u.TeamID)
	x.Text("venue", u.Venue)
	x.Close("am_get_info_reply")
	writeXML(w, x.Bytes())
}

// preferences is their element, or nothing.
func preferences(name, content string) string {
	if content == "" {
		return ""
	}
	return "<" + name + ">\n" + content + "</" + name + ">\n"
}

// setHostInfo lets an account manager set the venue of a computer.
func (s *Site) setHostInfo(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	at := q.Get("venue")
	p, err := s.owner(r, q.Get("account_key"))
	if err == nil && at != "" && !slices.Contains(venue.Names, at) {
		err = &protocol.AccountError{Num: protocol.ErrNumNotFound, Msg: "no such venue"}
	}
	if err == nil {
		id, _ := strconv.ParseInt(q.Get("hostid"), 10, 64)
		err = s.gate.Update(r.Context(), p, func(tx *store.Tx, u store.User) error {
			old, err := tx.Host(id)
			if err != nil || old.UserID != u.ID {
				return cmp.Or(err, store.ErrNotFound)
			}
			now := old
			now.Venue = at
			return tx.UpdateHost(old, now)
		})
		if errors.Is(err, store.ErrNotFound) {
			err = &protocol.AccountError{Num: protocol.ErrNumNotFound, Msg: "not found"}
		}
	}
	if err != nil {
		s.answer(w, "", err)
		return
	}
	writeXML(w, []byte("<am_set_host_info_reply>\n<success/>\n</am_set_host_info_reply>\n"))
}

// showUser describes an account in XML. With its key the answer has everything and its computers,
// with its number only the public data. Without format=xml it is a page.
func (s *Site) showUser(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("format") != "xml" {
		http.Redirect(w, r, s.Accounts.MasterURL+"user?id="+url.QueryEscape(q.Get("userid")), http.StatusFound)
		return
	}
	var hosts []store.Host
	var p account.Proof
	var err error
	key := q.Get("auth")
	if key != "" {
		p, err = s.owner(r, key)
	}
	u := p.User
	if err == nil {
		id, _ := strconv.ParseInt(q.Get("userid"), 10, 64)
		err = s.Store.View(r.Context(), func(tx *store.View) (err error) {
			if key == "" {
				u, err = tx.User(id)
				return err
			}
			hosts, err = tx.HostsOfUser(u.ID, 1000)
			return err
		})
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && !u.DeletedTime.IsZero() {
		err = &protocol.AccountError{Num: protocol.ErrNumNotFound, Msg: "not found"}
	}
	if err != nil {
		s.answer(w, "", err)
		return
	}
	writeXML(w, userXML(u, hosts, key != "", time.Now()))
}

func userXML(u store.User, hosts []store.Host, own bool, now time.Time) []byte {
	var x bxml.Writer
	x.Open("user")
	x.Int("id", u.ID)
	x.Text("cpid", protocol.ExternalCPID(u.CrossProjectID, u.EmailAddr))
	x.Int("create_time", u.CreateTime.Unix())
	x.Text("name", u.Name)
	x.Float("total_credit", u.TotalCredit)
	x.Float("expavg_credit", credit.Decayed(u.ExpavgCredit, u.ExpavgTime, now))
	x.Float("expavg_time", float64(now.Unix()))
	x.Int("teamid", u.TeamID)
	x.Int("has_profile", 0)
	if own {
		x.Text("venue", u.Venue)
	}
	for _, h := range hosts {
		x.Open("host")
		x.Int("id", h.ID)
		x.Int("create_time", h.CreateTime.Unix())
		x.Int("rpc_seqno", h.RPCSeqno)
		x.Int("rpc_time", max(0, h.RPCTime.Unix()))
		x.Text("host_cpid", h.HostCPID)
		x.Float("total_credit", h.TotalCredit)
		x.Float("expavg_credit", credit.Decayed(h.ExpavgCredit, h.ExpavgTime, now))
		x.Float("expavg_time", float64(now.Unix()))
		x.Text("domain_name", h.DomainName)
		x.Int("p_ncpus", int64(h.NCPUs))
		x.Text("p_vendor", h.Vendor)
		x.Text("p_model", h.Model)
		x.Float("p_fpops", h.Fpops)
		x.Float("p_iops", h.Iops)
		x.Text("os_name", h.OSName)
		x.Text("os_version", h.OSVersion)
		x.Float("m_nbytes", h.MemBytes)
		x.Float("d_free", h.DiskFree)
		x.Float("d_total", h.DiskTotal)
		x.Text("venue", h.Venue)
		x.Close("host")
	}
	x.Close("user")
	return x.Bytes()
}
