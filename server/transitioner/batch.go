package transitioner

import (
	"maps"
	"slices"

	"github.com/starling-grid/starling/server/store"
)

// endBatches makes the last results urgent of the batches that the workunits of due belong
// to. As every workunit is due when it has its outcome, and when results of it are made,
// that misses none. Only where several transitioners finish parts of a batch at the same
// moment each may see too many left; then the next transition of the batch does it.
//
// BOINC has no such thing: there only what replaces a result is raised, and the first ones
// stand where they are.
func (t *Transitioner) endBatches(tx *store.Tx, due []*work) error {
	if t.BatchEnd <= 0 || t.OnPriority <= 0 {
		return nil
	}
	batches := make(map[int64]bool)
	for _, w := range due {
		batches[w.wu.Batch] = true
	}
	delete(batches, 0) // is no batch
	for _, batch := range slices.Sorted(maps.Keys(batches)) {
		end, err := tx.AtBatchEnd(batch, t.BatchEnd)
		if err == nil && end {
			err = tx.RaiseBatch(batch, t.OnPriority)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
