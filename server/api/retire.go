package api

import (
	"net/http"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
)

// retire deletes the output of a batch that is done. That it was there stays known.
func (a *API) retire(c *call) (any, error) {
	b, err := a.own(c)
	if err != nil {
		return nil, err
	}
	s, err := a.status(c.Context(), b)
	if err != nil {
		return nil, err
	}
	if !s.Done {
		return nil, faultf(http.StatusConflict, "wait until it is done, or cancel it with DELETE batches/ID first", "the batch %q is not done", b.Name)
	}
	// Noted first: whoever is interrupted repeats it, and nobody fetches half of it meanwhile.
	if err := a.Store.Update(c.Context(), func(tx *store.Tx) error { return tx.RetireAPIBatch(b.ID, time.Now()) }); err != nil {
		return nil, err
	}
	n, err := a.Discard(unique(b, ""))
	if err != nil {
		return nil, err
	}
	return wire.Retired{Deleted: n}, nil
}
