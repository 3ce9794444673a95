package store

import (
	"fmt"
	"time"
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
	MaxResultsDay int     // -1: gets no work; quotas are in HostAppVersion
	NResultsToday int
	StickyHash    int64 // of the sticky files that it has; 0 none
	FileOrders    int   // that it has to do; AddFileOrder and FileOrderDone count them

	Platforms    string  // when it last asked, with spaces between them; "" not known
	UsableMemory float64 // bytes that its volunteer lets a task use; +Inf: it did not say
	UsableDisk   float64 // likewise
	Unsuited     string  // plan classes that did not suit it when it last asked, with spaces between them
	Client       string  // the version of its client when it last asked, "8.2.4"; "" not known
	Coprocs      string  // what it had when it last asked; see Coprocessors
	Label        string  // what its owner calls it; "" nothing
	Hidden       bool    // its owner wants it left out of lists
}

const hostColumns = `id, create_time, userid, rpc_seqno, rpc_time, host_cpid, total_credit, expavg_credit,
	expavg_time, venue, timezone, domain_name, last_ip_addr, external_ip_addr, on_frac, connected_frac,
	active_frac, p_ncpus, p_vendor, p_model, p_fpops, p_iops, p_membw, os_name, os_version, m_nbytes,
	m_cache, m_swap, d_total, d_free, d_boinc_used_total, d_boinc_used_project, n_bwup, n_bwdown,
	avg_turnaround, max_results_day, nresults_today, sticky_hash, file_orders, platforms, m_usable, d_usable, unsuited,
	coprocs, client_version, label, hidden`

func scanHost(r row) (h Host, err error) {
	return h, r.Scan(&h.ID, timeAt{&h.CreateTime}, &h.UserID, &h.RPCSeqno, timeAt{&h.RPCTime}, &h.HostCPID,
		&h.TotalCredit, &h.ExpavgCredit, timeAt{&h.ExpavgTime}, &h.Venue, &h.Timezone, &h.DomainName,
		&h.LastIPAddr, &h.ExternalIPAddr, &h.OnFrac, &h.ConnectedFrac, &h.ActiveFrac, &h.NCPUs, &h.Vendor,
		&h.Model, &h.Fpops, &h.Iops, &h.Membw, &h.OSName, &h.OSVersion, &h.MemBytes, &h.CacheBytes,
		&h.SwapBytes, &h.DiskTotal, &h.DiskFree, &h.UsedTotal, &h.UsedProject, &h.BwUp, &h.BwDown,
		&h.AvgTurnaround, &h.MaxResultsDay, &h.NResultsToday, &h.StickyHash, &h.FileOrders,
		&h.Platforms, endless{&h.UsableMemory}, endless{&h.UsableDisk}, &h.Unsuited, &h.Coprocs, &h.Client, &h.Label, flagged{&h.Hidden})
}

const insertHost = `
INSERT INTO host (create_time, userid, host_cpid, venue, max_results_day) VALUES ($1, $2, $3, $4, $5)`

// InsertHost adds a host of a user and returns its id. UpdateHost stores what
// the host tells about itself.
func (t *Tx) InsertHost(h Host) (int64, error) {
	id, err := t.insert(insertHost, unix(h.CreateTime), h.UserID, h.HostCPID, h.Venue, h.MaxResultsDay)
	if err != nil {
		return 0, fmt.Errorf("new host of user %d: %w", h.UserID, err)
	}
	return id, nil
}

const updateHost = `
UPDATE host SET rpc_seqno = $2, rpc_time = $3, host_cpid = $4, timezone = $5, domain_name = $6,
	last_ip_addr = $7, external_ip_addr = $8, on_frac = $9, connected_frac = $10, active_frac = $11,
	p_ncpus = $12, p_vendor = $13, p_model = $14, p_fpops = $15, p_iops = $16, p_membw = $17, os_name = $18,
	os_version = $19, m_nbytes = $20, m_cache = $21, m_swap = $22, d_total = $23, d_free = $24,
	d_boinc_used_total = $25, d_boinc_used_project = $26, n_bwup = $27, n_bwdown = $28,
	max_results_day = $29, nresults_today = $30, sticky_hash = $31,
	platforms = $32, m_usable = $33, d_usable = $34, unsuited = $41, coprocs = $42,
	client_version = $43
WHERE id = $1 AND userid = $35 AND rpc_seqno = $36 AND rpc_time = $37 AND max_results_day = $38
  AND nresults_today = $39 AND sticky_hash = $40`

// UpdateHost stores everything about a host but its credit and turnaround,
// which are the validator's. It returns ErrLost if another request of the host
// was answered since old was read.
func (t *Tx) UpdateHost(old, h Host) error {
	return t.execOne(updateHost, h.ID, h.RPCSeqno, unix(h.RPCTime), h.HostCPID, h.Timezone, h.DomainName,
		h.LastIPAddr, h.ExternalIPAddr, h.OnFrac, h.ConnectedFrac, h.ActiveFrac, h.NCPUs, h.Vendor, h.Model,
		h.Fpops, h.Iops, h.Membw, h.OSName, h.OSVersion, h.MemBytes, h.CacheBytes, h.SwapBytes, h.DiskTotal,
		h.DiskFree, h.UsedTotal, h.UsedProject, h.BwUp, h.BwDown, h.MaxResultsDay, h.NResultsToday,
		h.StickyHash, h.Platforms, finite(h.UsableMemory), finite(h.UsableDisk), h.UserID,
		old.RPCSeqno, unix(old.RPCTime), old.MaxResultsDay, old.NResultsToday, old.StickyHash, h.Unsuited, h.Coprocs, h.Client)
}

const hostByID = `SELECT ` + hostColumns + ` FROM host WHERE id = $1`

// Host returns a host, or ErrNotFound.
func (t *Tx) Host(id int64) (Host, error) { return one(t, scanHost, hostByID, id) }

const hostsToChange = `SELECT ` + hostColumns + ` FROM host WHERE id IN ` + ids + ` ORDER BY id /* FOR UPDATE */`

// HostsToChange returns hosts by their ids and keeps other transactions from changing
// them until this one ends. Early in a transaction it meets fewer others.
func (t *Tx) HostsToChange(list []int64) (map[int64]Host, error) {
	hosts, err := all(t, scanHost, hostsToChange, jsonList(list))
	out := make(map[int64]Host, len(hosts))
	for _, h := range hosts {
		out[h.ID] = h
	}
	return out, err
}

const holdHosts = `SELECT id FROM host WHERE id IN ` + ids + ` ORDER BY id /* FOR UPDATE */`

// HoldHost keeps other transactions from changing a host until this one ends.
func (t *Tx) HoldHost(id int64) error { return t.q.hold(t.ctx, holdHosts, []int64{id}) }

const hostsOfUser = `SELECT ` + hostColumns + ` FROM host WHERE userid = $1 ORDER BY id DESC LIMIT 0 + $2`

// HostsOfUser returns the newest hosts of an account, newest first.
func (t *Tx) HostsOfUser(userID int64, limit int) ([]Host, error) {
	return all(t, scanHost, hostsOfUser, userID, limit)
}

const addHostCredit = `
UPDATE host SET total_credit = total_credit + $2, expavg_credit = $3, expavg_time = $4, avg_turnaround = $5
WHERE id = $1`

// AddHostCredit adds to a host's total and replaces recent average and mean
// turnaround (seconds).
func (t *Tx) AddHostCredit(id int64, credit, expavg float64, now time.Time, turnaround float64) error {
	return t.execOne(addHostCredit, id, credit, expavg, unix(now), turnaround)
}

const (
	setHostOwn   = `UPDATE host SET label = $3, venue = $4, hidden = $5 WHERE id = $1 AND userid = $2`
	mergeHost    = `UPDATE host SET userid = 0, rpc_seqno = $3, total_credit = 0, expavg_credit = 0 WHERE id = $1 AND userid = $2`
	mergeResults = `UPDATE result SET hostid = $2 WHERE hostid = $1`
	hostsAfter   = `SELECT ` + hostColumns + ` FROM host WHERE id > $1 AND userid <> 0 ORDER BY id LIMIT 0 + $2`
)

// SetHostOwn changes what a host's owner says of it. It returns ErrLost if it is not of that user.
func (t *Tx) SetHostOwn(id, userID int64, label, venue string, hidden bool) error {
	return t.execOne(setHostOwn, id, userID, label, venue, flag(hidden))
}

// MergeHost ends the record of a host of which nothing is in progress, as the computer has gone on
// under another: what it computed counts as the other's, and it is what a client of the old one is
// told. It returns ErrLost if it is not of that user.
func (t *Tx) MergeHost(id, userID, into int64) error {
	if err := t.execOne(mergeHost, id, userID, into); err != nil {
		return err
	}
	return t.run(mergeResults, id, into)
}

// HostsAfter returns hosts with larger ids than after, in the order of these, without those that
// were merged into others.
func (t *Tx) HostsAfter(after int64, limit int) ([]Host, error) {
	return all(t, scanHost, hostsAfter, after, limit)
}
