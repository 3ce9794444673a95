package store

import "github.com/starling-grid/starling/server/db"

// A Precedence is that a workunit waits for another one, or for an output of it.
type Precedence struct{ Before, After int64 }

const (
	mostPrecedences = 100_000 // that are looked at

	precedences = `
SELECT w.predecessor, w.id AS later FROM workunit w
WHERE  w.batch = +$1 AND w.batch <> 0 AND w.awaiting = 1 AND w.predecessor_pending = 1 AND ` + stillNeeded + `
UNION  ALL
SELECT o.predecessor, o.workunitid FROM workunit w JOIN awaited_output o ON o.workunitid = w.id
WHERE  w.batch = +$1 AND w.batch <> 0 AND w.awaiting = 1 AND ` + stillNeeded + `
ORDER  BY later LIMIT 0 + $2`
)

// Precedences asks which workunits of a batch wait for which others. Those for which one waits come before it.
func Precedences(batch int64, each func(Precedence)) Question {
	return db.NewQuestion(func(r row) (p Precedence, err error) { return p, r.Scan(&p.Before, &p.After) }, each, precedences, batch, mostPrecedences)
}
