// Package stats writes the data about a project that statistics sites read once a day: accounts,
// teams and computers with their credit, in the files and the form of BOINC's db_dump.
//
//	tables.xml       how much there is, the applications and the badges
//	user.gz          accounts with credit whose owners agree
//	team.gz          teams with credit
//	host.gz          computers with credit
//	badge_user.gz    the badges of accounts; badge_team.gz: of teams
//	user_deleted.gz  accounts that are to be forgotten; host_deleted.gz: computers
//
// Each is also called user.xml.gz and so on. The files contain no addresses of people and no names
// of computers. Source: BOINC sched/db_dump.cpp.
package stats

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/store"
)

// remember is the time for which deletions are listed.
const remember = 60 * 24 * time.Hour

// Files are the names of all files.
var Files = []string{"tables.xml", "user.gz", "team.gz", "host.gz", "user_deleted.gz", "host_deleted.gz", "badge_user.gz", "badge_team.gz"}

// Badges are the badges of a project.
type Badges struct {
	badge.Ladder
	Folder string // URL of their pictures
}

// An export is one writing of all files.
type export struct {
	ctx context.Context
	s   *store.Store
	dir string
	now time.Time
	can Badges

	silent  map[int64]bool    // accounts whose computers are left out
	hiding  map[int64]bool    // accounts that hide which computers are theirs
	leaders map[int64]string  // names of team leaders
	recent  map[int64]float64 // average credit of teams, from their members' current averages

	users, teams, hosts, usersDeleted, hostsDeleted int64
	credit                                          float64
}

// Write writes all files into a folder, which it creates if needed. Each replaces an older one at
// once. tables.xml is the last, because readers use it to see whether there is anything new.
func Write(ctx context.Context, s *store.Store, dir string, b Badges, now time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // for everybody to read
		return err
	}
	e := &export{ctx: ctx, s: s, dir: dir, now: now, can: b, silent: make(map[int64]bool), hiding: make(map[int64]bool), leaders: make(map[int64]string), recent: make(map[int64]float64)}
	for t, err := range s.Teams(ctx) {
		if err != nil {
			return err
		}
		e.leaders[t.UserID] = ""
	}
	for _, f := range []struct {
		name, tag string
		write     func(f *file) error
	}{
		{"user.gz", "users", e.writeUsers}, // first: its notes are used by the others
		{"team.gz", "teams", e.writeTeams},
		{"host.gz", "hosts", e.writeHosts},
		{"user_deleted.gz", "users_deleted", e.writeDeletedUsers},
		{"host_deleted.gz", "hosts_deleted", e.writeDeletedHosts},
		{"badge_user.gz", "badge_users", e.writeUserBadges},
		{"badge_team.gz", "badge_teams", e.writeTeamBadges},
		{"tables.xml", "tables", e.writeTables},
	} {
		if err := writeFile(filepath.Join(dir, f.name), f.tag, f.write); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) writeUsers(f *file) error {
	for u, err := range e.s.Users(e.ctx) {
		if err != nil {
			return err
		}
		gone := !u.DeletedTime.IsZero()
		if _, leads := e.leaders[u.ID]; leads {
			e.leaders[u.ID] = u.Name
		}
		if u.TeamID != 0 {
			e.recent[u.TeamID] += credit.Decayed(u.ExpavgCredit, u.ExpavgTime, e.now)
		}
		if u.HideHosts {
			e.hiding[u.ID] = true
		}
		if u.NoExport || gone {
			e.silent[u.ID] = true
		}
		if u.TotalCredit <= 0 || gone {
			continue
		}
		e.users++
		e.credit += u.TotalCredit
		if !u.NoExport {
			writeUser(&f.Writer, u)
		}
		if err := f.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) writeTeams(f *file) error {
	for t, err := range e.s.Teams(e.ctx) {
		if err != nil {
			return err
		}
		if t.TotalCredit <= 0 {
			continue
		}
		e.teams++
		e.writeTeam(&f.Writer, t)
		if err := f.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) writeHosts(f *file) error {
	for h, err := range e.s.Hosts(e.ctx) {
		if err != nil {
			return err
		}
		if h.TotalCredit <= 0 {
			continue
		}
		e.hosts++
		if !e.silent[h.UserID] {
			writeHost(&f.Writer, h, !e.hiding[h.UserID])
		}
		if err := f.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) writeDeletedUsers(f *file) error {
	return e.writeDeleted(f, store.ForgottenUser, "user", "cpid", &e.usersDeleted)
}

func (e *export) writeDeletedHosts(f *file) error {
	return e.writeDeleted(f, store.ForgottenHost, "host", "host_cpid", &e.hostsDeleted)
}

func (e *export) writeDeleted(f *file, kind int, tag, cpid string, count *int64) error {
	return e.s.View(e.ctx, func(tx *store.View) error {
		list, err := tx.Forgotten(kind, e.now.Add(-remember))
		*count = int64(len(list))
		for _, x := range list {
			f.Open(tag)
			f.Int("id", x.ID)
			f.Text(cpid, x.CPID)
			f.Close(tag)
		}
		return err
	})
}

func (e *export) writeTables(f *file) error {
	f.Int("update_time", e.now.Unix())
	for _, n := range []struct {
		name  string
		count int64
	}{
		{"nusers_total", e.users},
		{"nteams_total", e.teams},
		{"nhosts_total", e.hosts},
		{"nusers_deleted_total", e.usersDeleted},
		{"nhosts_deleted_total", e.hostsDeleted},
	} {
		if n.count > 0 {
			f.Int(n.name, n.count)
		}
	}
	if e.credit > 0 {
		f.Float("total_credit", e.credit)
	}
	f.Open("applications")
	err := e.s.View(e.ctx, func(tx *store.View) error {
		apps, err := tx.Apps()
		for _, a := range apps {
			f.Open("application")
			f.Text("name", a.UserFriendlyName)
			f.Close("application")
		}
		return err
	})
	f.Close("applications")
	f.Open("badges")
	for _, b := range e.can.All() {
		f.Open("badge")
		f.Int("id", b.Credit)
		f.Text("name", fmt.Sprintf("credit_%d", b.Credit))
		f.Text("title", b.Title().String())
		f.Text("image_url", e.can.Folder+b.Image())
		f.Close("badge")
	}
	f.Close("badges")
	return err
}

func writeUser(w *bxml.Writer, u store.User) {
	w.Open("user")
	w.Int("id", u.ID)
	w.Text("name", u.Name)
	w.Int("create_time", u.CreateTime.Unix())
	writeCredit(w, u.TotalCredit, u.ExpavgCredit, u.ExpavgTime)
	w.Text("cpid", protocol.ExternalCPID(u.CrossProjectID, u.EmailAddr))
	if u.TeamID != 0 {
		w.Int("teamid", u.TeamID)
	}
	w.Close("user")
}

func (e *export) writeTeam(w *bxml.Writer, t store.Team) {
	w.Open("team")
	w.Int("id", t.ID)
	w.Int("type", 1) // none in particular
	w.Text("name", t.Name)
	w.Int("userid", t.UserID)
	writeCredit(w, t.TotalCredit, e.recent[t.ID], e.now)
	w.TextIf("founder_name", e.leaders[t.UserID])
	w.Int("create_time", t.CreateTime.Unix())
	w.TextIf("url", t.URL)
	w.TextIf("description", t.Description)
	w.Text("country", "None")
	w.Close("team")
}

func writeHost(w *bxml.Writer, h store.Host, owned bool) {
	w.Open("host")
	w.Int("id", h.ID)
	if owned {
		w.Int("userid", h.UserID)
	}
	writeCredit(w, h.TotalCredit, h.ExpavgCredit, h.ExpavgTime)
	for _, x := range []struct{ name, value string }{
		{"p_vendor", h.Vendor}, {"p_model", h.Model}, {"os_name", h.OSName}, {"os_version", h.OSVersion},
	} {
		w.Text(x.name, x.value)
	}
	w.Int("create_time", h.CreateTime.Unix())
	w.Int("rpc_time", max(0, h.RPCTime.Unix()))
	w.Int("timezone", h.Timezone)
	w.Int("ncpus", int64(h.NCPUs))
	for _, x := range []struct {
		name  string
		value float64
	}{
		{"p_fpops", h.Fpops},
		{"p_iops", h.Iops},
		{"p_membw", h.Membw},
		{"m_nbytes", h.MemBytes},
		{"m_cache", h.CacheBytes},
		{"m_swap", h.SwapBytes},
		{"d_total", h.DiskTotal},
		{"d_free", h.DiskFree},
		{"n_bwup", h.BwUp},
		{"n_bwdown", h.BwDown},
		{"avg_turnaround", h.AvgTurnaround},
	} {
		w.Float(x.name, x.value)
	}
	w.Float("credit_per_cpu_sec", 0)
	w.Text("host_cpid", h.HostCPID)
	w.Close("host")
}

func writeCredit(w *bxml.Writer, total, recent float64, at time.Time) {
	w.Float("total_credit", total)
	w.Float("expavg_credit", recent)
	w.Float("expavg_time", float64(max(0, at.Unix())))
}
