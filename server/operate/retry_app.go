package operate

import (
	"context"
	"time"

	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// RetryApp makes the server give work again, at now, to an application's validator, assimilator and trickle handler
// that they could not handle before they were mended. It returns the number of workunits to validate.
func RetryApp(ctx context.Context, p *project.Project, name string, now time.Time) (workunits int, err error) {
	var app store.App
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		if app, err = tx.AppByName(name); err != nil {
			return err
		}
		return pass.Ask(tx, app.ID, now)
	})
	for after := int64(0); err == nil; {
		var ids []int64
		ids, err = store.Read(ctx, p.Store, func(tx *store.View) ([]int64, error) { return tx.Unvalidated(app.ID, after, now, cancelBatch) })
		if err != nil || len(ids) == 0 {
			break
		}
		when := make(map[int64]time.Time)
		for _, id := range ids {
			when[id] = now
		}
		err = p.Store.Update(ctx, func(tx *store.Tx) error { return tx.TransitionEachBy(when) })
		workunits, after = workunits+len(ids), ids[len(ids)-1]
	}
	return workunits, err
}
