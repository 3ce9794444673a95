package filedeleter

import (
	"context"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// retry is the interval at which files that could not be deleted are tried again, as in BOINC. They
// are also tried at a restart.
const retry = time.Hour

// again puts what could not be deleted back into the queue, when it is time.
func (d *Deleter) again(ctx context.Context, now time.Time) error {
	if now.Before(d.next) {
		return nil
	}
	var n int64
	err := d.Store.Update(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.RetryDelete()
		return err
	})
	if err != nil {
		return err
	}
	d.next = now.Add(retry)
	if n > 0 {
		d.Log.Info("trying again to delete files", "workunits_and_results", n)
	}
	return nil
}
