package store

import (
	"errors"
	"fmt"

	"github.com/starling-grid/starling/server/db"
	"github.com/starling-grid/starling/server/speed"
)

// A HostAppVersion is the record of a host with an app version.
type HostAppVersion struct {
	HostID           int64   `db:"host_id"`
	AppVersionID     int64   `db:"app_version_id"`
	MaxJobsPerDay    int     `db:"max_jobs_per_day"` // for each CPU (0: not set yet)
	NJobsToday       int     `db:"n_jobs_today"`
	ConsecutiveValid int     `db:"consecutive_valid"` // replicated results found valid since the last failure
	TurnaroundN      int64   `db:"turnaround_n"`      // valid results
	Turnaround       float64 `db:"turnaround_avg"`    // seconds from sending them to their report, on average
	ErrorRate        float64 `db:"error_rate"`        // 0 to 1: the share of failures in its recent results

	Elapsed        speed.Average `db:"et_"`             // of its valid results
	BenchmarkFlops float64       `db:"benchmark_flops"` // operations a second by the host's benchmark when a result was last sent (0: not recorded)
	Vote           speed.Vote    `db:"vote"`            // the host's vote on the speed of the version
}

var hostAppVersionColumns = db.ColumnsOf[HostAppVersion]()

var (
	hostAppVersion  = `SELECT ` + hostAppVersionColumns.List() + ` FROM host_app_version WHERE host_id = $1 AND app_version_id = $2`
	hostAppVersions = byID(`SELECT `+hostAppVersionColumns.List()+` FROM host_app_version WHERE host_id`, ` ORDER BY app_version_id`)
	theirVersions   = `SELECT ` + hostAppVersionColumns.List() + ` FROM host_app_version WHERE host_id IN ` + ids + ` AND app_version_id + 0 IN ` + ids2

	saveHostAppVersion = hostAppVersionColumns.Replace("host_app_version", 2)

	addHostAppVersion = hostAppVersionColumns.InsertNew("host_app_version", "host_id, app_version_id, n_jobs_today, benchmark_flops, "+standing, 2)
	countJobs         = hostAppVersionColumns.SaveBy("host_id, app_version_id", "host_app_version", "n_jobs_today, benchmark_flops", "", "n_jobs_today")
	saveStanding      = hostAppVersionColumns.SaveBy("host_id, app_version_id", "host_app_version", standing, "", standing)
)

// standing are the columns that both requests and validators change.
const standing = "max_jobs_per_day, consecutive_valid, error_rate"

// HostAppVersions returns the records of a host with each app version.
func (t *View) HostAppVersions(hostID int64) ([]HostAppVersion, error) {
	return all(t, hostAppVersionColumns.Scan, hostAppVersions.one, hostID)
}

// HostAppVersionsOf asks for the records of hosts with each app version.
func HostAppVersionsOf(hosts []int64, found func(HostAppVersion)) Question {
	return withIDs(hostAppVersions, hosts, hostAppVersionColumns.Scan, found)
}

// EachHostAppVersion asks for the records of some hosts with some app versions.
func EachHostAppVersion(hosts, versions []int64, found func(HostAppVersion)) Question {
	return db.NewQuestion(hostAppVersionColumns.Scan, found, theirVersions, jsonList(hosts), jsonList(versions))
}

// HostAppVersion returns the record of a host with an app version, or a new one that is not stored
// yet.
func (t *View) HostAppVersion(hostID, versionID int64) (HostAppVersion, error) {
	h, err := one(t, hostAppVersionColumns.Scan, hostAppVersion, hostID, versionID)
	if errors.Is(err, ErrNotFound) {
		return HostAppVersion{HostID: hostID, AppVersionID: versionID}, nil
	}
	return h, err
}

// SaveHostAppVersion stores h, which was read in this transaction.
func (t *Tx) SaveHostAppVersion(h HostAppVersion) error {
	err := t.run(saveHostAppVersion.Statement, saveHostAppVersion.Args(&h)...)
	if err != nil {
		return fmt.Errorf("host %d with app version %d: %w", h.HostID, h.AppVersionID, err)
	}
	return nil
}

// ChangeHostAppVersion applies change to the record of a result's host with its app version. It
// ignores results without a version.
func (t *Tx) ChangeHostAppVersion(r Result, change func(HostAppVersion) HostAppVersion) error {
	if r.HostID == 0 || r.AppVersionID == 0 {
		return nil
	}
	old, err := t.HostAppVersion(r.HostID, r.AppVersionID)
	if err != nil {
		return err
	}
	h := change(old)
	if h == old {
		return nil
	}
	return t.SaveHostAppVersion(h)
}

// AddWork stores the part of a new record that requests change. It returns ErrLost if there is one.
func (c *Changes) AddWork(h HostAppVersion) error {
	return c.execOne(addHostAppVersion.Statement, addHostAppVersion.Args(&h)...)
}

// SaveWork stores the part of a record that requests change. It returns ErrLost if a column that it changes
// differs from old.
func (c *Changes) SaveWork(old, h HostAppVersion) error {
	if h.NJobsToday != old.NJobsToday || h.BenchmarkFlops != old.BenchmarkFlops {
		s, args := countJobs.Of(&old, &h)
		if err := c.execOne(s, args...); err != nil {
			return err
		}
	}
	if h.MaxJobsPerDay != old.MaxJobsPerDay || h.ConsecutiveValid != old.ConsecutiveValid || h.ErrorRate != old.ErrorRate {
		s, args := saveStanding.Of(&old, &h)
		return c.execOne(s, args...)
	}
	return nil
}

// VersionVotes are the votes of hosts on an app version.
type VersionVotes struct {
	AppVersionID int64
	AppID        int64
	PlanClass    string
	Votes        []speed.Count
}

const versionVotes = `
SELECT h.app_version_id, v.appid, v.plan_class, h.vote, h.hosts
FROM   (SELECT app_version_id, vote, count(*) AS hosts FROM host_app_version WHERE vote > 0
        GROUP BY app_version_id, vote) h
JOIN   app_version v ON v.id = h.app_version_id
ORDER  BY h.app_version_id, h.vote`

// VersionVotes counts the votes of hosts on app versions, including versions that are not sent any
// more. Versions without votes are left out. It reads an index of all votes, so callers should keep
// its answer for a while.
func (t *View) VersionVotes() ([]VersionVotes, error) {
	type line struct {
		version, app int64
		class        string
		count        speed.Count
	}
	lines, err := all(t, func(r row) (l line, err error) {
		return l, r.Scan(&l.version, &l.app, &l.class, &l.count.Vote, &l.count.Hosts)
	}, versionVotes)
	var out []VersionVotes
	for _, l := range lines {
		if n := len(out); n == 0 || out[n-1].AppVersionID != l.version {
			out = append(out, VersionVotes{AppVersionID: l.version, AppID: l.app, PlanClass: l.class})
		}
		v := &out[len(out)-1]
		v.Votes = append(v.Votes, l.count)
	}
	return out, err
}
