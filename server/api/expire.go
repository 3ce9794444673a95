package api

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Expire gives up what is not finished of batches that have expired and, once that is taken by the
// assimilator, deletes their output. It returns how many batches are retired so.
func (a *API) Expire(ctx context.Context, now time.Time) (retired int, err error) {
	const atOnce = 20
	var list []store.APIBatch
	err = a.Store.View(ctx, func(tx *store.View) (err error) {
		list, err = tx.ExpiredAPIBatches(now, atOnce)
		return err
	})
	for _, b := range list {
		if err != nil {
			return retired, err
		}
		var s store.BatchStatus
		err = a.Store.View(ctx, func(tx *store.View) (err error) {
			s, err = tx.BatchStatus(b.Number())
			if errors.Is(err, store.ErrNotFound) { // none was made, or all are purged
				err = nil
			}
			return err
		})
		switch {
		case err != nil:
		case s.Unfinished > 0:
			_, err = a.giveUp(ctx, b)
		case s.Assimilate == s.Total:
			if _, err = a.clear(ctx, b, now); err == nil {
				a.Log.Info("batch expired", "batch", b.ID, "name", b.Name)
				retired++
			}
		}
	}
	return retired, err
}
