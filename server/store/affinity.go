package store

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/db"
)

var (
	chain = db.Update("workunit", `has_successor = 1,
       transition_time = CASE WHEN transition_time < $2 THEN transition_time ELSE $2 END`)
	waitingSuccessors = `SELECT id FROM workunit WHERE predecessor = $1 AND predecessor_pending = 1 ORDER BY id`
	noSuccessors      = db.Update("workunit", "has_successor = 0")
	releaseSuccessor  = db.UpdateReading("workunit", `predecessor_pending = 0, reserved_until = $2,
       awaiting = CASE WHEN EXISTS (SELECT 1 FROM awaited_file f WHERE f.workunitid = $1) OR EXISTS (SELECT 1 FROM awaited_output o WHERE o.workunitid = $1) THEN 1 ELSE 0 END`, "predecessor_pending = 1")
	insertAffinity = db.InsertIfMissing("affinity", "host_id, workunitid, resultid")
	deleteAffinity = db.Change(`DELETE FROM affinity WHERE host_id = $1 AND workunitid = $2`)
	endReservation = db.UpdateReading("workunit", "reserved_until = 0", "NOT EXISTS (SELECT 1 FROM affinity a WHERE a.workunitid = $1)")
	reserve        = db.Update("workunit", "reserved_until = $2")
)

// chained looks only at the last successes of a host, since the results of a chain follow each
// other.
var chained = `
SELECT COALESCE(MAX(l.received_time), 0)
FROM   (SELECT workunitid, received_time FROM result WHERE hostid = $1 AND server_state = 5 AND outcome = 1 ORDER BY id DESC LIMIT 20) l
JOIN   workunit w ON w.id = l.workunitid
WHERE  w.has_successor = 1`

var keptFor = `
SELECT ` + keptColumns.List() + `
FROM   affinity a JOIN result r ON r.workunitid = a.workunitid JOIN workunit w ON w.id = r.workunitid
WHERE  a.host_id = $1 AND r.server_state = 2 AND ` + stillNeeded + `
ORDER  BY r.priority DESC, r.id LIMIT 0 + $2`

// Chain makes the transitioner look for successors of a workunit when it has an
// outcome, which may be now.
func (t *Tx) Chain(predecessor int64, now time.Time) error {
	return t.execOne(chain, predecessor, unix(now))
}

// WaitingSuccessors returns the workunits that wait for the outcome of another.
func (t *View) WaitingSuccessors(id int64) ([]int64, error) {
	return all(t, scanID, waitingSuccessors, id)
}

// ReleaseSuccessor ends the wait of a workunit for its predecessor. Until a time
// it is kept for the hosts of Affinity.
func (t *Tx) ReleaseSuccessor(id int64, reservedUntil time.Time) error {
	if err := t.execOne(releaseSuccessor, id, unix(reservedUntil)); err != nil {
		return fmt.Errorf("workunit %d: %w", id, err)
	}
	return nil
}

// NoSuccessors notes that no successor of a workunit waits.
func (t *Tx) NoSuccessors(id int64) error { return t.execOne(noSuccessors, id) }

// AddAffinity notes that a host has the files of the result after which a workunit
// comes.
func (t *Tx) AddAffinity(hostID, workunitID, resultID int64) error {
	return t.run(insertAffinity, hostID, workunitID, resultID)
}

// DropAffinity notes that a host has lost these files. A workunit that is not kept for any other
// host becomes free for all.
func (t *Tx) DropAffinity(hostID, workunitID int64) error {
	if err := t.run(deleteAffinity, hostID, workunitID); err != nil {
		return err
	}
	return t.run(endReservation, workunitID)
}

// ReserveUntil keeps a workunit for the hosts of Affinity until at, and no longer.
func (t *Tx) ReserveUntil(id int64, at time.Time) error { return t.execOne(reserve, id, unix(at)) }

// A Kept candidate is kept for a host that had the result Predecessor.
type Kept struct {
	Predecessor int64 `db:"a.resultid"`
	Candidate   `db:""`
}

var keptColumns = db.ColumnsOf[Kept]()

// KeptFor asks for Unsent results that are kept for a host, in the order in which they should be sent.
func KeptFor(hostID int64, limit int, found func(Kept)) Question {
	return db.NewQuestion(keptColumns.Scan, found, keptFor, hostID, limit)
}

// Chained asks when a host reported the last of its recent successes that have a successor. The answer is the
// zero time if none has.
func Chained(hostID int64, found func(time.Time)) Question {
	return db.NewQuestion(func(r row) (at time.Time, err error) {
		err = r.Scan((*unix)(&at))
		return at, err
	}, found, chained, hostID)
}
