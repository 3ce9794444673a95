package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

var (
	touchUser   = db.Update(`"user"`, "venue = venue")
	addSession  = db.Insert("web_session", "hash, userid, expires")
	endSession  = db.Change(`DELETE FROM web_session WHERE hash = $1`)
	endSessions = db.Change(`DELETE FROM web_session WHERE userid = $1`)
	endExpired  = db.Change(`DELETE FROM web_session WHERE expires <= $1`)
	endOldest   = db.Change(`DELETE FROM web_session WHERE userid = $1 AND hash NOT IN (SELECT hash FROM web_session WHERE userid = $1 ORDER BY expires DESC, hash LIMIT 0 + $2)`)
)

var userOfSession = `SELECT ` + userColumns.List() + ` FROM "user" WHERE id = (SELECT userid FROM web_session WHERE hash = $1 AND expires > $2)`

// AddSession stores a visit of a user to the web pages until it expires, under a hash of the
// browser's cookie. It deletes visits that have expired at now, and the user's oldest above maxVisits.
func (t *Tx) AddSession(hash string, userID int64, now, expires time.Time) error {
	if err := t.run(endExpired, unix(now)); err != nil {
		return err
	}
	if err := t.run(touchUser, userID); err != nil { // so that another transaction that ends all visits sees it
		return err
	}
	if err := t.run(endOldest, userID, maxVisits-1); err != nil {
		return err
	}
	return t.run(addSession, hash, userID, unix(expires))
}

// maxVisits is the maximum number of visits of a user at a time.
const maxVisits = 50

// UserOfSession returns the user of a visit at now, or ErrNotFound.
func (t *View) UserOfSession(hash string, now time.Time) (User, error) {
	return one(t, userColumns.Scan, userOfSession, hash, unix(now))
}

// EndSession ends a visit, if there is one of that hash.
func (t *Tx) EndSession(hash string) error { return t.run(endSession, hash) }

// EndSessions ends all visits of a user.
func (t *Tx) EndSessions(userID int64) error { return t.run(endSessions, userID) }
