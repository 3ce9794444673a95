package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Host is a computer on which an account computes.
type Host struct {
	ID           int64     `db:"id"`
	CreateTime   time.Time `db:"create_time"`
	UserID       int64     `db:"userid"` // 0: merged into the host whose id RPCSeqno holds
	RPCSeqno     int64     `db:"rpc_seqno"`
	RPCTime      time.Time `db:"rpc_time"`
	HostCPID     string    `db:"host_cpid"`
	TotalCredit  float64   `db:"total_credit"`
	ExpavgCredit float64   `db:"expavg_credit"`
	ExpavgTime   time.Time `db:"expavg_time"`
	Venue        string    `db:"venue"`

	Timezone       int64   `db:"timezone"`
	DomainName     string  `db:"domain_name"`
	LastIPAddr     string  `db:"last_ip_addr"`
	ExternalIPAddr string  `db:"external_ip_addr"`
	OnFrac         float64 `db:"on_frac"`
	ConnectedFrac  float64 `db:"connected_frac"`
	ActiveFrac     float64 `db:"active_frac"`
	NCPUs          int     `db:"p_ncpus"`
	Vendor         string  `db:"p_vendor"`
	Model          string  `db:"p_model"`
	Fpops          float64 `db:"p_fpops"`
	Iops           float64 `db:"p_iops"`
	Membw          float64 `db:"p_membw"`
	OSName         string  `db:"os_name"`
	OSVersion      string  `db:"os_version"`
	MemBytes       float64 `db:"m_nbytes"`
	CacheBytes     float64 `db:"m_cache"`
	SwapBytes      float64 `db:"m_swap"`
	DiskTotal      float64 `db:"d_total"`
	DiskFree       float64 `db:"d_free"`
	UsedTotal      float64 `db:"d_boinc_used_total"`
	UsedProject    float64 `db:"d_boinc_used_project"`
	BwUp           float64 `db:"n_bwup"`
	BwDown         float64 `db:"n_bwdown"`

	AvgTurnaround float64 `db:"avg_turnaround"`  // seconds
	MaxResultsDay int     `db:"max_results_day"` // -1: excluded from work (quotas are in HostAppVersion)
	NResultsToday int     `db:"nresults_today"`
	StickyHash    int64   `db:"sticky_hash"` // of its sticky files (0: none)
	FileOrders    int     `db:"file_orders"` // number of its open orders, which AddFileOrder and FileOrderDone count

	Platforms    string  `db:"platforms"`        // at its last request, with spaces between them ("": not recorded)
	UsableMemory float64 `db:"m_usable,endless"` // bytes that its volunteer lets a task use (+Inf: not reported)
	UsableDisk   float64 `db:"d_usable,endless"` // likewise
	Unsuited     string  `db:"unsuited"`         // plan classes that did not suit it at its last request, with spaces between them
	Client       string  `db:"client_version"`   // version of its client at its last request, such as "8.2.4" ("": not recorded)
	Coprocs      string  `db:"coprocs"`          // its coprocessors at its last request, see Coprocessors
	Label        string  `db:"label"`            // its owner's name for it, or ""
	Hidden       bool    `db:"hidden"`           // its owner wants it left out of lists
}

var hostColumns = db.ColumnsOf[Host]()

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
