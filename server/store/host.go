package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Host is a computer on which an account computes.
type Host struct {
	ID           int64
	CreateTime   time.Time
	UserID       int64 // 0: merged into the host whose id RPCSeqno holds
	RPCSeqno     int64
	RPCTime      time.Time
	HostCPID     string
	TotalCredit  float64
	ExpavgCredit float64
	ExpavgTime   time.Time
	Venue        string

	Timezone               int64
	DomainName             string
	LastIPAddr             string
	ExternalIPAddr         string
	OnFrac                 float64
	ConnectedFrac          float64
	ActiveFrac             float64
	NCPUs                  int
	Vendor, Model          string
	Fpops, Iops, Membw     float64
	OSName, OSVersion      string
	MemBytes               float64
	CacheBytes, SwapBytes  float64
	DiskTotal, DiskFree    float64
	UsedTotal, UsedProject float64
	BwUp, BwDown           float64

	AvgTurnaround float64 // seconds
	MaxResultsDay int     // -1: excluded from work (quotas are in HostAppVersion)
	NResultsToday int
	StickyHash    int64 // of its sticky files (0: none)
	FileOrders    int   // number of its open orders, which AddFileOrder and FileOrderDone count

	Platforms    string  // at its last request, with spaces between them ("": not recorded)
	UsableMemory float64 // bytes that its volunteer lets a task use (+Inf: not reported)
	UsableDisk   float64 // likewise
	Unsuited     string  // plan classes that did not suit it at its last request, with spaces between them
	Client       string  // version of its client at its last request, such as "8.2.4" ("": not recorded)
	Coprocs      string  // its coprocessors at its last request, see Coprocessors
	Label        string  // its owner's name for it, or ""
	Hidden       bool    // its owner wants it left out of lists
}

var hostColumns = columns[Host]{
	{"id", func(h *Host) any { return &h.ID }},
	{"create_time", func(h *Host) any { return (*unix)(&h.CreateTime) }},
	{"userid", func(h *Host) any { return &h.UserID }},
	{"rpc_seqno", func(h *Host) any { return &h.RPCSeqno }},
	{"rpc_time", func(h *Host) any { return (*unix)(&h.RPCTime) }},
	{"host_cpid", func(h *Host) any { return &h.HostCPID }},
	{"total_credit", func(h *Host) any { return &h.TotalCredit }},
	{"expavg_credit", func(h *Host) any { return &h.ExpavgCredit }},
	{"expavg_time", func(h *Host) any { return (*unix)(&h.ExpavgTime) }},
	{"venue", func(h *Host) any { return &h.Venue }},
	{"timezone", func(h *Host) any { return &h.Timezone }},
	{"domain_name", func(h *Host) any { return &h.DomainName }},
	{"last_ip_addr", func(h *Host) any { return &h.LastIPAddr }},
	{"external_ip_addr", func(h *Host) any { return &h.ExternalIPAddr }},
	{"on_frac", func(h *Host) any { return &h.OnFrac }},
	{"connected_frac", func(h *Host) any { return &h.ConnectedFrac }},
	{"active_frac", func(h *Host) any { return &h.ActiveFrac }},
	{"p_ncpus", func(h *Host) any { return &h.NCPUs }},
	{"p_vendor", func(h *Host) any { return &h.Vendor }},
	{"p_model", func(h *Host) any { return &h.Model }},
	{"p_fpops", func(h *Host) any { return &h.Fpops }},
	{"p_iops", func(h *Host) any { return &h.Iops }},
	{"p_membw", func(h *Host) any { return &h.Membw }},
	{"os_name", func(h *Host) any { return &h.OSName }},
	{"os_version", func(h *Host) any { return &h.OSVersion }},
	{"m_nbytes", func(h *Host) any { return &h.MemBytes }},
	{"m_cache", func(h *Host) any { return &h.CacheBytes }},
	{"m_swap", func(h *Host) any { return &h.SwapBytes }},
	{"d_total", func(h *Host) any { return &h.DiskTotal }},
	{"d_free", func(h *Host) any { return &h.DiskFree }},
	{"d_boinc_used_total", func(h *Host) any { return &h.UsedTotal }},
	{"d_boinc_used_project", func(h *Host) any { return &h.UsedProject }},
	{"n_bwup", func(h *Host) any { return &h.BwUp }},
	{"n_bwdown", func(h *Host) any { return &h.BwDown }},
	{"avg_turnaround", func(h *Host) any { return &h.AvgTurnaround }},
	{"max_results_day", func(h *Host) any { return &h.MaxResultsDay }},
	{"nresults_today", func(h *Host) any { return &h.NResultsToday }},
	{"sticky_hash", func(h *Host) any { return &h.StickyHash }},
	{"file_orders", func(h *Host) any { return &h.FileOrders }},
	{"platforms", func(h *Host) any { return &h.Platforms }},
	{"m_usable", func(h *Host) any { return (*endless)(&h.UsableMemory) }},
	{"d_usable", func(h *Host) any { return (*endless)(&h.UsableDisk) }},
	{"unsuited", func(h *Host) any { return &h.Unsuited }},
	{"coprocs", func(h *Host) any { return &h.Coprocs }},
	{"client_version", func(h *Host) any { return &h.Client }},
	{"label", func(h *Host) any { return &h.Label }},
	{"hidden", func(h *Host) any { return (*flag)(&h.Hidden) }},
}

var insertHost = hostColumns.InsertInto("host", "create_time, userid, host_cpid, venue, max_results_day")

// InsertHost adds a host of a user and returns its id. UpdateHost stores the host's report on
// itself.
func (t *Tx) InsertHost(h Host) (int64, error) {
	id, err := t.insert(insertHost.Statement, insertHost.Args(&h)...)
	if err != nil {
		return 0, fmt.Errorf("new host of user %d: %w", h.UserID, err)
	}
	return id, nil
}

var updateHost = hostColumns.Save("host", `rpc_seqno, rpc_time, host_cpid, timezone, domain_name, last_ip_addr,
	external_ip_addr, on_frac, connected_frac, active_frac, p_ncpus, p_vendor, p_model, p_fpops, p_iops, p_membw, os_name,
	os_version, m_nbytes, m_cache, m_swap, d_total, d_free, d_boinc_used_total, d_boinc_used_project, n_bwup, n_bwdown,
	max_results_day, nresults_today, sticky_hash, platforms, m_usable, d_usable, unsuited, coprocs, client_version`, "label, venue, hidden",
	"userid, rpc_seqno, rpc_time, max_results_day, nresults_today, sticky_hash")

// UpdateHost stores everything about a host but its credit and turnaround,
// which are the validator's. It returns ErrLost if the host got another owner or another request of it
// was answered since old was read.
func (c *Changes) UpdateHost(old, h Host) error {
	save, args := updateHost.Of(&old, &h)
	return c.execOne(save, args...)
}

var hostByID = byID(`SELECT `+hostColumns.List()+` FROM host WHERE id`, "")

// HostsByID asks for hosts by their ids.
func HostsByID(list []int64, found func(Host)) Question {
	return withIDs(hostByID, list, hostColumns.Scan, found)
}

// Host returns a host, or ErrNotFound.
func (t *View) Host(id int64) (Host, error) { return one(t, hostColumns.Scan, hostByID.one, id) }

var hostsToChange = `SELECT ` + hostColumns.List() + ` FROM host WHERE id IN ` + ids + ` ORDER BY id /* FOR UPDATE */`

// HostsToChange returns hosts by their ids and keeps other transactions from changing them until
// this one ends. Conflicts are rarer if it is called early in a transaction.
func (t *Tx) HostsToChange(list []int64) (map[int64]Host, error) {
	hosts, err := all(t.View, hostColumns.Scan, hostsToChange, jsonList(list))
	out := make(map[int64]Host, len(hosts))
	for _, h := range hosts {
		out[h.ID] = h
	}
	return out, err
}

var holdHost = db.Holding("host")

// HoldHost keeps other transactions from changing a host until this one ends.
func (c *Changes) HoldHost(id int64) error { return c.run(holdHost, id) }

var hostsOfUser = `SELECT ` + hostColumns.List() + ` FROM host WHERE userid = $1 ORDER BY id DESC LIMIT 0 + $2`

// HostsOfUser returns the newest hosts of an account, newest first.
func (t *View) HostsOfUser(userID int64, limit int) ([]Host, error) {
	return all(t, hostColumns.Scan, hostsOfUser, userID, limit)
}

var addHostCredit = db.Update("host", "total_credit = total_credit + $2, expavg_credit = $3, expavg_time = $4, avg_turnaround = $5")

// AddHostCredit adds to a host's total and replaces recent average and mean
// turnaround (seconds).
func (t *Tx) AddHostCredit(id int64, credit, expavg float64, now time.Time, turnaround float64) error {
	return t.execOne(addHostCredit, id, credit, expavg, unix(now), turnaround)
}

var (
	mergeHost    = db.Update("host", "userid = 0, rpc_seqno = $3, total_credit = 0, expavg_credit = 0", "userid = $2")
	mergeResults = db.Change(`UPDATE result SET hostid = $2 WHERE hostid = $1`)
)

// MergeHost ends the record of a host without results in progress because its computer continues
// under another record. Its results become the other's, and a client of the old host gets the
// other's id. It returns ErrLost if the host is not the user's.
func (t *Tx) MergeHost(id, userID, into int64) error {
	if err := t.execOne(mergeHost, id, userID, into); err != nil {
		return err
	}
	return t.run(mergeResults, id, into)
}
