package store

import "github.com/starling-grid/starling/server/db"

var trustUser = db.Update(`"user"`, "trusted = $2", "deleted_time = 0")

// TrustUser makes an account trusted, or ends that. It returns ErrLost for an account that was
// deleted.
func (t *Tx) TrustUser(id int64, trust bool) error {
	return t.execOne(trustUser, id, flag(trust).Int())
}

const trustedUsers = `SELECT id FROM "user" WHERE trusted = 1 AND banned_time = 0 AND id IN ` + ids + ` ORDER BY id`

// TrustedUsers returns the accounts from a list that are trusted and not banned, in order.
func (t *View) TrustedUsers(list []int64) ([]int64, error) {
	return all(t, scanID, trustedUsers, jsonList(list))
}
