package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
)

// cancelBatch is how many workunits are cancelled in one transaction.
const cancelBatch = 500

// A Cancelled says what Cancel did.
type Cancelled struct {
	Workunits int // given up now
	Finished  int // had an outcome before, and keep it
}

// Cancel gives workunits up: results that were not sent are not needed any more,
// those that hosts have are aborted at their next contact, and the assimilator
// is told. Workunits that have a canonical result or were given up stay as they
// are. An id that does not exist is an error, and nothing of its group of 500 is
// done.
func Cancel(ctx context.Context, p *project.Project, ids []int64, now time.Time) (c Cancelled, err error) {
	for len(ids) > 0 {
		n := min(len(ids), cancelBatch)
		var part Cancelled
		err := p.Store.Update(ctx, func(tx *store.Tx) error {
			part = Cancelled{}
			for _, id := range ids[:n] {
				done, err := transitioner.Cancel(tx, id, now)
				if err != nil {
					return err
				}
				if done {
					part.Workunits++
				} else {
					part.Finished++
				}
			}
			return nil
		})
		if err != nil {
			return c, err
		}
		c.Workunits += part.Workunits
		c.Finished += part.Finished
		ids = ids[n:]
	}
	return c, nil
}

// CancelBatch cancels all workunits of a batch.
func CancelBatch(ctx context.Context, p *project.Project, batch int64, now time.Time) (c Cancelled, err error) {
	for after := int64(0); ; {
		var ids []int64
		err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
			ids, err = tx.WorkunitsOfBatch(batch, after, cancelBatch)
			return err
		})
		if err == nil && len(ids) == 0 && after == 0 {
			err = fmt.Errorf("batch %d: %w", batch, store.ErrNotFound)
		}
		if err != nil || len(ids) == 0 {
			return c, err
		}
		part, err := Cancel(ctx, p, ids, now)
		c.Workunits += part.Workunits
		c.Finished += part.Finished
		if err != nil {
			return c, err
		}
		after = ids[len(ids)-1]
	}
}
