package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

var (
	holdDeletion    = db.Replace("deletion_hold", "holder, until", 1)
	releaseDeletion = db.Change(`DELETE FROM deletion_hold WHERE holder = $1 OR until <= $2`)
	deletionHeld    = `SELECT CASE WHEN EXISTS (SELECT 1 FROM deletion_hold WHERE until > $1) THEN 1 ELSE 0 END`
)

// HoldDeletion keeps files and rows from being deleted until some time, so that a copy of the
// project finds everything that the database names. Called again it moves the time.
//
// Deletions check DeletionHeld in the transaction in which they choose their rows. So everything
// stays that is named in a state of the database from after HoldDeletion was committed: whatever is
// deleted nevertheless was marked for it before.
func (t *Tx) HoldDeletion(holder string, until time.Time) error {
	return t.run(holdDeletion, holder, until.Unix())
}

// ReleaseDeletion ends the hold of HoldDeletion, and deletes holds that are over at now.
func (t *Tx) ReleaseDeletion(holder string, now time.Time) error {
	return t.run(releaseDeletion, holder, now.Unix())
}

// DeletionHeld reports whether deletions must wait at now.
func (t *View) DeletionHeld(now time.Time) (bool, error) {
	n, err := one(t, scanID, deletionHeld, now.Unix())
	return n > 0, err
}
