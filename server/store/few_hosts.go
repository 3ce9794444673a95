package store

import (
	"time"

	"github.com/starling-grid/starling/server/db"
)

const (
	fewHosts = 20   // with more active hosts, a workunit seldom needs results of all
	mostLeft = 1000 // unfinished workunits of a batch that are looked at
)

const tooFewHosts = `
WITH active AS MATERIALIZED (
       SELECT h.id, h.userid, (SELECT u.teamid FROM "user" u WHERE u.id = h.userid) AS teamid
       FROM   host h WHERE h.rpc_time >= $2 AND h.userid <> 0 AND h.max_results_day >= 0 LIMIT 0 + $4)
SELECT w.id
FROM   (SELECT w.id, w.min_quorum, w.target_type, w.target_id FROM workunit w
        WHERE w.batch = +$1 AND w.batch <> 0 AND w.suspicious = 0 AND w.target_type IN (0, 3) AND ` + stillNeeded + ` LIMIT 0 + $5) w
WHERE  (SELECT count(*) FROM active) < 0 + $4
  AND  (SELECT count(*) FROM result r WHERE r.workunitid = w.id AND (r.server_state = 4 OR (r.outcome = 1 AND r.validate_state <> 2)))
     + (SELECT count(DISTINCT CASE WHEN $3 = 1 THEN h.userid ELSE h.id END) FROM active h
        WHERE (w.target_type = 0 OR h.teamid = w.target_id) AND NOT EXISTS (
        SELECT 1 FROM result o WHERE o.workunitid = w.id AND (o.hostid = h.id OR ($3 = 1 AND o.userid = h.userid)) AND ` + counts + `))
     < w.min_quorum
LIMIT  1`

// TooFewHosts asks for a workunit of a batch whose quorum needs more results than it has, successful or in
// progress, and than hosts with a request since a time may have. Each of them, or with perUser each of their
// users, may have one of a workunit, if they are of the team that it is for. Workunits for one computer or
// account do not count. With many active hosts or workunits it may find none.
func TooFewHosts(batch int64, since time.Time, perUser bool, found func(id int64)) Question {
	return db.NewQuestion(scanID, found, tooFewHosts, batch, unix(since), flag(perUser).Int(), fewHosts, mostLeft)
}
