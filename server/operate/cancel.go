package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
)

// cancelBatch is the number of workunits cancelled in one transaction.
const cancelBatch = 500

// errBatch0 is returned where all workunits without a batch would otherwise be meant.
var errBatch0 = errors.New("the batch is 0: batches are numbered from 1")

// A CancelSpec selects the workunits to cancel.
type CancelSpec struct {
	IDs    []int64 // these, or, if empty, …
	Batch  int64   // … all of a batch
	Reason string  // for the workunits' history
	DryRun bool    // nothing is changed
	// Undo: those that were cancelled are revived, as long as their files are not deleted.
	Undo bool
}

// A Cancelled has the outcome of CancelWork, in a dry run the expected one.
type Cancelled struct {
	Workunits  int                          // given up now, or revived
	Finished   int                          // had an outcome before, and keep it
	InProgress int                          // results that computers have of those that are given up
	Refused    map[transitioner.Refusal]int // why others are not revived
}

// CancelWork gives workunits up: unsent results are not needed any more, those that hosts have are
// aborted at their next contact, and the assimilator gets the outcome. Workunits that have a
// canonical result or were given up stay as they are. An ID that does not exist is an error, and
// nothing of its group of 500 is done.
func CancelWork(ctx context.Context, p *project.Project, s CancelSpec, now time.Time) (c Cancelled, err error) {
	c.Refused = make(map[transitioner.Refusal]int)
	if len(s.IDs) == 0 && s.Batch == 0 {
		return c, errBatch0
	}
	for after := int64(0); ; {
		ids := s.IDs[:min(len(s.IDs), cancelBatch)]
		s.IDs = s.IDs[len(ids):]
		if s.Batch != 0 {
			err := p.Store.View(ctx, func(tx *store.View) (err error) {
				ids, err = tx.WorkunitsOfBatch(s.Batch, after, cancelBatch)
				return err
			})
			if err == nil && len(ids) == 0 && after == 0 {
				err = fmt.Errorf("batch %d: %w", s.Batch, store.ErrNotFound)
			}
			if err != nil {
				return c, err
			}
		}
		if len(ids) == 0 {
			return c, nil
		}
		if err := s.each(ctx, p, ids, now, &c); err != nil {
			return c, err
		}
		after = ids[len(ids)-1]
	}
}

// each processes some workunits in one transaction, and adds up the outcome.
func (s *CancelSpec) each(ctx context.Context, p *project.Project, ids []int64, now time.Time, c *Cancelled) error {
	var part Cancelled
	var refused []transitioner.Refusal
	err := transact(ctx, p, s.DryRun, func(v *store.View, tx *store.Tx) error {
		part, refused = Cancelled{}, nil
		for _, id := range ids {
			if s.Undo {
				no, err := s.undo(v, tx, id, now)
				if err != nil {
					return err
				}
				refused = append(refused, no)
				continue
			}
			done, sent, err := s.one(v, tx, id, now)
			if err != nil {
				return err
			}
			if done {
				part.Workunits++
				part.InProgress += sent
			} else {
				part.Finished++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, no := range refused {
		if no == "" {
			c.Workunits++
		} else {
			c.Refused[no]++
		}
	}
	c.Workunits, c.Finished, c.InProgress = c.Workunits+part.Workunits, c.Finished+part.Finished, c.InProgress+part.InProgress
	return nil
}

// transact runs change in a transaction. In a dry run tx is nil: change can only read, by v.
func transact(ctx context.Context, p *project.Project, dry bool, change func(v *store.View, tx *store.Tx) error) error {
	if dry {
		return p.Store.View(ctx, func(v *store.View) error { return change(v, nil) })
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error { return change(tx.View, tx) })
}

// one cancels a workunit, or only checks whether there is anything to cancel. sent is the number of
// its results that computers have.
func (s *CancelSpec) one(v *store.View, tx *store.Tx, id int64, now time.Time) (done bool, sent int, err error) {
	j, err := v.Job(id)
	if err != nil {
		return false, 0, err
	}
	for _, r := range j.Results {
		if r.ServerState == store.InProgress {
			sent++
		}
	}
	if s.DryRun {
		return j.Workunit.CanonicalResultID == 0 && j.Workunit.ErrorMask == 0, sent, nil
	}
	done, err = transitioner.CancelBecause(tx, id, now, because("work cancel", s.Reason))
	return done, sent, err
}

func (s *CancelSpec) undo(v *store.View, tx *store.Tx, id int64, now time.Time) (transitioner.Refusal, error) {
	if s.DryRun {
		wu, err := v.Workunit(id)
		return transitioner.MayUncancel(wu), err
	}
	return transitioner.Uncancel(tx, id, now, because("work cancel --undo", s.Reason))
}

// because returns the text for the history about a command.
func because(command, reason string) string {
	if reason = strings.Join(strings.Fields(reason), " "); reason != "" {
		return command + ": " + reason
	}
	return command
}
