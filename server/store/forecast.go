package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A HostSpeed is the recorded speed of an active host with one version of an application. A host
// has one for each version with results, or a single one without a version.
type HostSpeed struct {
	HostID             int64
	UserID, TeamID     int64 // its volunteer, and the volunteer's team (0: none)
	NCPUs              int
	Fpops              float64
	OnFrac, ActiveFrac float64
	UsableMemory       float64 // bytes (+Inf: not reported)
	UsableDisk         float64 // likewise
	Platforms          string
	Unsuited           string

	AppVersionID int64   // 0: it has not computed with any
	Samples      int64   // of Elapsed
	Elapsed      float64 // seconds per operation
	Turnaround   float64 // mean seconds from the sending of a result to its report (0: not measured)
}

const hostSpeeds = `
SELECT h.id, h.userid, COALESCE((SELECT u.teamid FROM "user" u WHERE u.id = h.userid), 0), h.p_ncpus, h.p_fpops, h.on_frac, h.active_frac, h.m_usable, h.d_usable, h.platforms, h.unsuited,
       COALESCE(x.app_version_id, 0), COALESCE(x.et_n, 0), COALESCE(x.et_avg, 0), COALESCE(x.turnaround_avg, 0)
FROM   host h LEFT JOIN host_app_version x
       ON x.host_id = h.id AND x.et_n > 0 AND x.app_version_id IN (SELECT v.id FROM app_version v WHERE v.appid = $2)
WHERE  h.rpc_time >= $1 AND h.userid <> 0 AND h.max_results_day >= 0
ORDER  BY h.id`

// HostSpeeds calls each for every host that may get work and has asked since a time, once for each
// version of an application with which it has computed. Rows of a host follow each other. It reads
// all hosts.
func (t *View) HostSpeeds(appID int64, since time.Time, each func(HostSpeed)) error {
	return t.Ask(db.NewQuestion(func(r row) (h HostSpeed, err error) {
		err = r.Scan(&h.HostID, &h.UserID, &h.TeamID, &h.NCPUs, &h.Fpops, &h.OnFrac, &h.ActiveFrac, (*endless)(&h.UsableMemory), (*endless)(&h.UsableDisk), &h.Platforms, &h.Unsuited,
			&h.AppVersionID, &h.Samples, &h.Elapsed, &h.Turnaround)
		return h, err
	}, each, hostSpeeds, unix(since), appID))
}

// A Load is the work of an application that hosts still have to compute.
type Load struct {
	AppID   int64
	TokenID int64   // of work that takes turns with the place's token, and otherwise the place's
	Flops   float64 // operations, and half of them for a result in progress
}

// A Turn is the place of a workunit in the order in which the work of its application is sent.
type Turn struct {
	AppID       int64
	Priority    int64
	TokenID     int64
	OwnPriority int64
	ID          int64 // of the workunit
}

const load = `
SELECT appid, tokenid, sum(flops) FROM (
	SELECT r.appid, CASE WHEN r.appid = $1 AND r.priority = $2 THEN w.tokenid ELSE +$3 END AS tokenid, w.rsc_fpops_est AS flops
	FROM   result r JOIN workunit w ON w.id = r.workunitid
	WHERE  r.server_state = 2 AND ` + stillNeeded + ` AND (w.batch <> $6 OR w.batch = 0)
	  AND  (r.appid <> $1 OR r.priority > $2
	        OR (r.priority = $2 AND (w.tokenid <> $3 OR w.own_priority > $4 OR (w.own_priority = $4 AND w.id < $5))))
	UNION ALL
	SELECT r.appid, +$3, 0.5 * w.rsc_fpops_est FROM result r JOIN workunit w ON w.id = r.workunitid
	WHERE  r.server_state = 4 AND (w.batch <> $6 OR w.batch = 0)
) t GROUP BY appid, tokenid ORDER BY appid, tokenid`

// Load returns the remaining work of all applications. Unsent results of the application of p count
// only if they are sent before its workunit, or take turns with it because they belong to other tokens.
// Results of batch do not count, unless it is 0. It reads all results that are not over.
func (t *View) Load(p Turn, batch int64) ([]Load, error) {
	return all(t, func(r row) (l Load, err error) { return l, r.Scan(&l.AppID, &l.TokenID, &l.Flops) }, load, p.AppID, p.Priority, p.TokenID, p.OwnPriority, p.ID, batch)
}

// A BatchLeft describes the unfinished workunits of a batch.
type BatchLeft struct {
	Turn      Turn   // of the last of them, with the lowest priorities
	Target    Target // of all of them (none: they differ)
	Workunits int64
	Flops     float64 // operations of all results that are made at first
	Task      float64 // operations of a result, at most
	Memory    float64 // bytes, at most
	Disk      float64 // bytes, at most
}

const batchLeft = `
SELECT COALESCE(min(appid), 0), COALESCE(min(priority), 0), COALESCE(min(tokenid), 0), COALESCE(min(own_priority), 0), COALESCE(max(id), 0),
       count(*), COALESCE(sum(rsc_fpops_est * target_nresults), 0), COALESCE(max(rsc_fpops_est), 0), COALESCE(max(rsc_memory_bound), 0), COALESCE(max(rsc_disk_bound), 0),
       COALESCE(min(target_type), 0), COALESCE(max(target_type), 0), COALESCE(min(target_id), 0), COALESCE(max(target_id), 0)
FROM   workunit WHERE batch = +$1 AND batch <> 0 AND canonical_resultid = 0 AND error_mask = 0`

// BatchLeft describes the unfinished workunits of a batch.
func (t *View) BatchLeft(batch int64) (BatchLeft, error) {
	return one(t, func(r row) (b BatchLeft, err error) {
		p, other := &b.Turn, Target{}
		err = r.Scan(&p.AppID, &p.Priority, &p.TokenID, &p.OwnPriority, &p.ID, &b.Workunits, &b.Flops, &b.Task, &b.Memory, &b.Disk,
			&b.Target.Type, &other.Type, &b.Target.ID, &other.ID)
		if other != b.Target {
			b.Target = Target{}
		}
		return b, err
	}, batchLeft, batch)
}
