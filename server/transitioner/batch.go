package transitioner

import (
	"maps"
	"slices"

	"github.com/starling-grid/starling/server/store"
)

// endBatches makes the last results urgent in the batches of workunits that were looked at.
// Every workunit is looked at when its outcome was taken, and when results of it are made, so this
// misses none. There is one exception: where several transitioners finish parts of a batch at the same
// moment, each may see too many workunits left. Then the next transition of the batch does it.
//
// BOINC has nothing like this: it raises only the priority of a replacement, and the first results
// stay where they are.
func (t *Transitioner) endBatches(tx *store.Tx, seen []store.Workunit) error {
	if t.Urgent.BatchEnd <= 0 || t.Urgent.OnPriority <= 0 {
		return nil
	}
	batches := make(map[int64]bool)
	for _, wu := range seen {
		batches[wu.Batch] = true
	}
	delete(batches, 0) // not a batch
	for _, batch := range slices.Sorted(maps.Keys(batches)) {
		end, err := tx.AtBatchEnd(batch, t.Urgent.BatchEnd)
		if err == nil && end {
			err = tx.RaiseBatch(batch, t.Urgent.OnPriority)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
