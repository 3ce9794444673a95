package store

import "github.com/starling-grid/starling/server/db"

// A VersionUse counts the results that were sent with an app version and are not purged.
type VersionUse struct {
	InProgress int64 `json:"in_progress"`
	Valid      int64 `json:"valid"`
	Invalid    int64 `json:"invalid"`
	Error      int64 `json:"error"` // client errors and unreadable output
	Total      int64 `json:"total"` // of any state
	Hosts      int64 `json:"hosts"` // that were ever sent a result of it, purged ones included
}

const versionHosts = `SELECT app_version_id, count(*) FROM host_app_version GROUP BY app_version_id`

// VersionUses counts the results of each app version, by its id. Versions without a sent result are
// left out.
func (t *View) VersionUses() (map[int64]VersionUse, error) {
	uses := make(map[int64]VersionUse)
	results, err := t.resultCounts()
	if err != nil {
		return nil, err
	}
	for _, c := range results {
		if c.version == 0 {
			continue
		}
		u := uses[c.version]
		u.Total += c.n
		switch {
		case c.state == InProgress:
			u.InProgress += c.n
		case c.valid == Valid:
			u.Valid += c.n
		case c.outcome == Success && c.valid == Invalid:
			u.Invalid += c.n
		case c.outcome == ClientError || c.outcome == ValidateError:
			u.Error += c.n
		}
		uses[c.version] = u
	}
	_, err = all(t, func(r row) (struct{}, error) {
		var id, hosts int64
		err := r.Scan(&id, &hosts)
		u := uses[id]
		u.Hosts = hosts
		uses[id] = u
		return struct{}{}, err
	}, versionHosts)
	return uses, err
}

const inProgressWith = `SELECT id FROM result WHERE server_state = 4 AND app_version_id = +$1 AND id > $2 ORDER BY id LIMIT 0 + $3`

// InProgressWith returns results in progress, with ids above after, that were sent with an
// app version.
func (t *View) InProgressWith(versionID, after int64, limit int) ([]int64, error) {
	return all(t, scanID, inProgressWith, versionID, after, limit)
}

var (
	deleteVersion     = db.Change(`DELETE FROM app_version WHERE id = $1 AND deprecated = 1 AND xml_doc = $2`)
	emptyVersion      = db.Update("app_version", "xml_doc = ''", "deprecated = 1 AND xml_doc = $2")
	forgetVersionDone = db.Change(`DELETE FROM host_app_version WHERE app_version_id = $1`)
)

// RemoveVersion deletes a deprecated version whose description is still doc, else it returns
// ErrLost. If keep is set, the row stays without the description, so that its number is not used
// again.
func (t *Tx) RemoveVersion(id int64, doc string, keep bool) error {
	if keep {
		return t.execOne(emptyVersion, id, doc)
	}
	if err := t.run(forgetVersionDone, id); err != nil {
		return err
	}
	return t.execOne(deleteVersion, id, doc)
}
