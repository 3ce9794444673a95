package store

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/server/db"
)

var (
	attend = db.Replace("front", "name, seen_time", 1)
	absent = db.Change(`DELETE FROM front WHERE seen_time < $1`)
	leave  = db.Change(`DELETE FROM front WHERE name = $1`)
	fronts = `SELECT name FROM front ORDER BY name`
)

// Attend notes that a process answers schedulers' requests at now, removes processes that were not
// seen since before, and returns the shard of this process. Two processes that call it at the same
// moment may count differently for a while.
func (t *Tx) Attend(name string, now, before time.Time) (Shard, error) {
	if err := t.run(attend, name, now.Unix()); err != nil {
		return Shard{}, err
	}
	if err := t.run(absent, before.Unix()); err != nil {
		return Shard{}, err
	}
	list, err := all(t.View, scanString, fronts)
	return Shard{Index: int64(max(0, slices.Index(list, name))), Count: int64(len(list))}, err
}

// Leave takes a process off that Attend has noted.
func (t *Tx) Leave(name string) error { return t.run(leave, name) }
