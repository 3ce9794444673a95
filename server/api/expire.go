package api

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Expire gives up the unfinished work of batches that have expired. Once the assimilator has taken
// that, it deletes their output. It returns the number of batches retired in this way.
func (a *API) Expire(ctx context.Context, now time.Time) (retired int, err error) {
	const atOnce = 20
	list, err := store.Read(ctx, a.Store, func(tx *store.View) ([]store.APIBatch, error) { return tx.ExpiredAPIBatches(now, atOnce) })
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
			if _, err = a.clear(ctx, b, func(*store.View) error { return nil }); err == nil {
				a.Log.Info("batch expired", "batch", b.ID, "name", b.Name)
				retired++
			}
		}
	}
	return retired, err
}
