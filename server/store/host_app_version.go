package store

import (
	"errors"
	"fmt"
)

// A HostAppVersion is what a host has earned with an app version.
type HostAppVersion struct {
	HostID           int64
	AppVersionID     int64
	MaxJobsPerDay    int // a CPU; 0: not set yet
	NJobsToday       int
	ConsecutiveValid int // replicated results found valid since the last that was no good
}

const (
	hostAppVersion = `
SELECT host_id, app_version_id, max_jobs_per_day, n_jobs_today, consecutive_valid
FROM   host_app_version WHERE host_id = $1 AND app_version_id = $2`
	hostAppVersions = `
SELECT host_id, app_version_id, max_jobs_per_day, n_jobs_today, consecutive_valid
FROM   host_app_version WHERE host_id = $1 ORDER BY app_version_id`
	saveHostAppVersion = `
INSERT INTO host_app_version (host_id, app_version_id, max_jobs_per_day, n_jobs_today, consecutive_valid)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (host_id, app_version_id) DO UPDATE
SET    max_jobs_per_day = excluded.max_jobs_per_day, n_jobs_today = excluded.n_jobs_today,
       consecutive_valid = excluded.consecutive_valid`
	newDay = `UPDATE host_app_version SET n_jobs_today = 0 WHERE host_id = $1 AND n_jobs_today > 0`
)

func scanHostAppVersion(r row) (h HostAppVersion, err error) {
	return h, r.Scan(&h.HostID, &h.AppVersionID, &h.MaxJobsPerDay, &h.NJobsToday, &h.ConsecutiveValid)
}

// HostAppVersions returns what a host has earned with each app version.
func (t *Tx) HostAppVersions(hostID int64) ([]HostAppVersion, error) {
	return all(t, scanHostAppVersion, hostAppVersions, hostID)
}

// HostAppVersion returns what a host has earned with an app version; of one it
// never had, a row that is not stored yet.
func (t *Tx) HostAppVersion(hostID, versionID int64) (HostAppVersion, error) {
	h, err := one(t, scanHostAppVersion, hostAppVersion, hostID, versionID)
	if errors.Is(err, ErrNotFound) {
		return HostAppVersion{HostID: hostID, AppVersionID: versionID}, nil
	}
	return h, err
}

// SaveHostAppVersion stores h, which was read in this transaction.
func (t *Tx) SaveHostAppVersion(h HostAppVersion) error {
	err := t.run(saveHostAppVersion, h.HostID, h.AppVersionID, h.MaxJobsPerDay, h.NJobsToday, h.ConsecutiveValid)
	if err != nil {
		return fmt.Errorf("host %d with app version %d: %w", h.HostID, h.AppVersionID, err)
	}
	return nil
}

// ChangeHostAppVersion applies change to what the host of a result has earned
// with its app version. Results without a version are passed over.
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

// NewDay begins a host's daily counts anew.
func (t *Tx) NewDay(hostID int64) error {
	return t.run(newDay, hostID)
}
