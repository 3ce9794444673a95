package store

const suspicionsOf = `
SELECT id FROM workunit
WHERE  suspicious = 1 AND canonical_resultid + error_mask = 0 AND need_validate = 0
  AND  EXISTS (SELECT 1 FROM result r WHERE r.workunitid = workunit.id AND r.userid = $1 AND r.outcome = 1)
ORDER  BY id`

// SuspicionsOf returns the unfinished suspicious workunits of which an account has returned a result.
func (t *View) SuspicionsOf(userID int64) ([]int64, error) {
	return all(t, scanID, suspicionsOf, userID)
}

const trustedUsers = `SELECT id FROM "user" WHERE trusted = 1 AND banned_time = 0 AND id IN ` + ids + ` ORDER BY id`

// TrustedUsers returns the accounts from a list that are trusted and not banned, in order.
func (t *View) TrustedUsers(list []int64) ([]int64, error) {
	return all(t, scanID, trustedUsers, jsonList(list))
}
