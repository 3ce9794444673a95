package api

import (
	"context"
	"net/http"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
)

// retire deletes the output of a batch that is done. That it was there stays known.
func (a *API) retire(c *call, b store.APIBatch) (any, error) {
	n, err := a.discard(c.Context(), b)
	return wire.Retired{Deleted: n}, err
}

func (a *API) discard(ctx context.Context, b store.APIBatch) (int, error) {
	return a.clear(ctx, b, func(tx *store.View) error {
		s, err := Status(tx, b)
		if err == nil && !s.Done {
			err = faultf(http.StatusConflict, "wait until it is done, or cancel it with DELETE batches/ID first", "the batch %q is not done", b.Name)
		}
		return err
	})
}

// clear deletes the output of a batch unless check returns an error. It returns the number of workunits that had
// output.
func (a *API) clear(ctx context.Context, b store.APIBatch, check func(tx *store.View) error) (int, error) {
	// This is recorded first. An interrupted request is repeated, and until then no client can
	// fetch a part of the output.
	err := a.Store.Update(ctx, func(tx *store.Tx) error {
		if err := check(tx.View); err != nil {
			return err
		}
		return retired(tx, b)
	})
	if err != nil {
		return 0, err
	}
	return a.Discard(unique(b, ""))
}
