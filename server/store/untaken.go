package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// An ActiveHost has the recorded properties of a host with a recent request, see Host.
type ActiveHost struct {
	Platforms                          string
	MemBytes, UsableMemory, UsableDisk float64
	BwDown, Fpops, OnFrac, ActiveFrac  float64
	OSName, Vendor, Model              string
	Unsuited                           string
	Trusted                            bool // its account is
}

// trustedHost is 1 for a host of a trusted account.
const trustedHost = `CASE WHEN userid IN (SELECT id FROM "user" WHERE trusted = 1 AND banned_time = 0) THEN 1 ELSE 0 END`

const activeHosts = `
SELECT platforms, m_nbytes, m_usable, d_usable, n_bwdown, p_fpops, on_frac, active_frac,
       os_name, p_vendor, p_model, unsuited, ` + trustedHost + `
FROM   host WHERE rpc_time >= $1 AND userid <> 0 AND max_results_day >= 0`

// ActiveHosts calls each for every host that may get work and has asked since a time. It
// reads all hosts.
func (t *View) ActiveHosts(since time.Time, each func(ActiveHost)) error {
	return t.Ask(db.NewQuestion(func(r row) (h ActiveHost, err error) {
		err = r.Scan(&h.Platforms, &h.MemBytes, (*endless)(&h.UsableMemory), (*endless)(&h.UsableDisk), &h.BwDown, &h.Fpops, &h.OnFrac, &h.ActiveFrac,
			&h.OSName, &h.Vendor, &h.Model, &h.Unsuited, (*flag)(&h.Trusted))
		return h, err
	}, each, activeHosts, unix(since)))
}

// mostHad bounds how many results are looked at, one by one, for hosts that have had their workunits:
// where more wait, hosts have other work.
const mostHad = 10_000

// hadByAll counts results of workunits of which each active host, or a host of its user, has had a
// result. Of a suspicious workunit, the hosts of trusted accounts count, if there are any.
const hadByAll = `
WITH active AS MATERIALIZED (SELECT id, userid, ` + trustedHost + ` AS trusted FROM host WHERE rpc_time >= $1 AND userid <> 0 AND max_results_day >= 0)
SELECT w.appid, count(*), min(r.create_time), w.suspicious
FROM   (SELECT workunitid, create_time FROM result WHERE server_state = 2 AND kind >= 0 LIMIT 0 + $3) r
       JOIN workunit w ON w.id = r.workunitid
WHERE  ` + stillNeeded + `
  AND  w.suspicious >= $4 AND (w.suspicious = 0 OR EXISTS (SELECT 1 FROM active WHERE trusted = 1))
  AND  NOT EXISTS (SELECT 1 FROM active h WHERE h.trusted >= w.suspicious AND NOT EXISTS (
       SELECT 1 FROM result o WHERE o.workunitid = +r.workunitid AND (o.hostid = h.id OR ($2 = 1 AND o.userid = h.userid)) AND ` + counts + `))
GROUP  BY w.appid, w.suspicious`

// HadByAll calls each, by application, with the Unsent results that no recent host may have: each
// host with a request since a time has had a result of the workunit, or, if perUser is set, its
// user has. Of suspicious workunits only hosts of trusted accounts count, and onlySuspicious leaves out
// all others. If more than mostHad wait, it looks at some of them only.
func (t *View) HadByAll(since time.Time, perUser, onlySuspicious bool, each func(Need)) error {
	return t.Ask(db.NewQuestion(func(r row) (n Need, err error) {
		err = r.Scan(&n.AppID, &n.Results, (*unix)(&n.Oldest), (*flag)(&n.Suspicious))
		return n, err
	}, each, hadByAll, unix(since), flag(perUser).Int(), mostHad, flag(onlySuspicious).Int()))
}

// A Need is the needs of Unsent results that are alike.
type Need struct {
	AppID                   int64
	AppVersionID            int64 // to which their workunits are committed (0: none)
	HRClass                 int64 // likewise
	Suspicious              bool  // only computers of trusted accounts may have them
	Memory, Disk, Bandwidth float64
	FpopsEst                float64
	DelayBound              time.Duration
	Results                 int64
	Oldest                  time.Time // when the first of them was made
}

const unsentNeeds = `
SELECT w.appid, w.app_version_id, w.rsc_memory_bound, w.rsc_disk_bound, w.rsc_bandwidth_bound, w.rsc_fpops_est,
       w.delay_bound, count(*), min(r.create_time), w.hr_class, w.suspicious
FROM   result r JOIN workunit w ON w.id = r.workunitid
WHERE  r.server_state = 2 AND r.kind = +$1 AND ` + stillNeeded + `
GROUP  BY 1, 2, 3, 4, 5, 6, 7, w.hr_class, w.suspicious`

// UnsentNeeds calls each with the needs of the Unsent results of a kind. It reads all of them.
func (t *View) UnsentNeeds(kind int64, each func(Need)) error {
	return t.Ask(db.NewQuestion(func(r row) (n Need, err error) {
		err = r.Scan(&n.AppID, &n.AppVersionID, &n.Memory, &n.Disk, &n.Bandwidth, &n.FpopsEst, (*span)(&n.DelayBound),
			&n.Results, (*unix)(&n.Oldest), &n.HRClass, (*flag)(&n.Suspicious))
		return n, err
	}, each, unsentNeeds, kind))
}
