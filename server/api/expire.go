package api

import (
	"context"
	"errors"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Expire gives up the unfinished work of batches that have expired. Once the assimilator has taken
// that, it deletes their output. It returns the number of batches retired in this way. One batch that cannot be
// ended yet does not keep others.
func (a *API) Expire(ctx context.Context, now time.Time) (retired int, err error) {
	const atOnce = 20
	for after := int64(0); ; {
		list, failed := store.Read(ctx, a.Store, func(tx *store.View) ([]store.APIBatch, error) { return tx.ExpiredAPIBatches(now, after, atOnce) })
		if failed != nil || len(list) == 0 {
			return retired, errors.Join(err, failed)
		}
		for _, b := range list {
			after = b.ID
			ended, failed := a.expire(ctx, b)
			if err = errors.Join(err, failed); ended {
				a.Log.Info("batch expired", "batch", b.ID, "name", b.Name)
				retired++
			}
		}
	}
}

// expire gives up the work of a batch that has expired, or ends the batch. It is recorded after the output is deleted:
// after a crash in between, the next pass repeats it.
func (a *API) expire(ctx context.Context, b store.APIBatch) (ended bool, err error) {
	count := func(tx *store.View) (s store.BatchStatus, err error) {
		s, err = tx.BatchStatus(b.Number())
		if errors.Is(err, store.ErrNotFound) { // none was made, or all are purged
			err = nil
		}
		return s, err
	}
	s, err := store.Read(ctx, a.Store, count)
	switch {
	case err != nil:
		return false, err
	case s.Unfinished > 0:
		_, err = a.giveUp(ctx, b)
		return false, err
	case s.Assimilate != s.Total:
		return false, nil
	}
	if _, err := a.Discard(unique(b, "")); err != nil {
		return false, err
	}
	err = a.Store.Update(ctx, func(tx *store.Tx) error {
		now, err := count(tx.View)
		if ended = err == nil && now.Assimilate == now.Total && now.Total <= s.Total; ended { // no request has made more of it meanwhile
			err = retired(tx, b)
		}
		return err
	})
	return ended && err == nil, err
}
