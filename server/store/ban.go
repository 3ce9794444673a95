package store

import (
	"math"
	"time"

	"github.com/starling-grid/starling/server/db"
)

var (
	eraseHosts = db.Change(`
UPDATE host SET host_cpid = '', domain_name = '', last_ip_addr = '', external_ip_addr = '', timezone = 0, venue = '',
       max_results_day = -1, label = '', hidden = 1
WHERE  userid = $1`)
	eraseHostFiles = db.Change(`DELETE FROM host_file WHERE host_id IN (SELECT id FROM host WHERE userid = $1)`)
)

// EraseUser replaces an account by one without data that identifies its owner, and removes such data from
// its hosts. The rows stay because results and credit refer to them. It returns ErrLost if the account was
// deleted before.
func (t *Tx) EraseUser(old, erased User) error {
	if err := t.SaveUser(old, erased); err != nil {
		return err
	}
	for _, s := range []*db.Statement{eraseHosts, eraseHostFiles} {
		if err := t.run(s, old.ID); err != nil {
			return err
		}
	}
	return t.EndSessions(old.ID)
}

var inProgressOfUser = `
SELECT ` + resultColumns.List() + ` FROM result
WHERE  server_state = 4 AND hostid IN (SELECT id FROM host WHERE userid = $1) ORDER BY id LIMIT 0 + $2`

// InProgressOfUser returns results in progress on the hosts of an account.
func (t *View) InProgressOfUser(userID int64, limit int) ([]Result, error) {
	return all(t, resultColumns.Scan, inProgressOfUser, userID, limit)
}

// A UserFilter selects the accounts to list. Fields that are zero match all.
type UserFilter struct {
	Banned, Trusted bool
	Search          string // a part of the name or of the address, in lower case
	Limit           int    // at least 1
}

// ListUsers returns the newest accounts that a filter lets through, newest first. It may read
// the whole table.
func (t *View) ListUsers(f UserFilter) ([]User, error) {
	var w where
	if f.Banned {
		w.rest.WriteString(" AND banned_time <> 0")
	}
	if f.Trusted {
		w.rest.WriteString(" AND trusted = 1")
	}
	if f.Search != "" {
		// Not LIKE, in which an address may hold a pattern.
		w.and("replace(lower(name || ' ' || email_addr), $, '') <> lower(name || ' ' || email_addr)", f.Search)
	}
	query, args := w.newest(userColumns.List(), `"user"`, 0, math.MaxInt64, f.Limit)
	return all(t, userColumns.Scan, query, args...)
}

// A HostFilter selects the hosts to list. Fields that are zero match all.
type HostFilter struct {
	UserID   int64
	Excluded bool      // only hosts that are excluded from work
	Since    time.Time // of their last request
	Limit    int       // at least 1
}

// ListHosts returns the newest hosts that a filter lets through, newest first, without those
// that were merged into others. It may read the whole table.
func (t *View) ListHosts(f HostFilter) ([]Host, error) {
	var w where
	w.rest.WriteString(" AND userid <> 0")
	w.equal("userid", f.UserID)
	if f.Excluded {
		w.rest.WriteString(" AND max_results_day < 0")
	}
	if !f.Since.IsZero() {
		w.and("rpc_time >= $", unix(f.Since))
	}
	query, args := w.newest(hostColumns.List(), "host", 0, math.MaxInt64, f.Limit)
	return all(t, hostColumns.Scan, query, args...)
}

const hostsOfUsers = `SELECT userid, count(*), max(rpc_time) FROM host WHERE userid IN ` + ids + ` GROUP BY userid`

// A UserHosts has the number of an account's hosts and the time of their last request.
type UserHosts struct {
	Count int64
	Last  time.Time
}

// HostsOfUsers returns a UserHosts for each account that has hosts, by its id.
func (t *View) HostsOfUsers(list []int64) (map[int64]UserHosts, error) {
	out := make(map[int64]UserHosts)
	_, err := all(t, func(r row) (struct{}, error) {
		var id int64
		var h UserHosts
		err := r.Scan(&id, &h.Count, (*unix)(&h.Last))
		out[id] = h
		return struct{}{}, err
	}, hostsOfUsers, jsonList(list))
	return out, err
}
