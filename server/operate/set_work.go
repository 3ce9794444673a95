package operate

import (
	"context"
	"fmt"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// A SetWork has the outcome of SetWorkunits.
type SetWork struct {
	Changed   int
	Unchanged int // they were like that before
	Finished  int // they have an outcome, and stay as they are
}

// SetWorkunits changes settings of unfinished workunits with change: the priority, the bounds on
// results, the delay bound and the credit. Results that computers have keep their deadline. If a
// change is invalid for one of 500 workunits, none of these is changed.
func SetWorkunits(ctx context.Context, p *project.Project, ids []int64, change func(*workgen.Params), now time.Time) (done SetWork, err error) {
	for len(ids) > 0 {
		n := min(len(ids), cancelBatch)
		var part SetWork
		err := p.Store.Update(ctx, func(tx *store.Tx) error {
			part = SetWork{}
			tx.SetCause(now, "operator", "work set")
			for _, id := range ids[:n] {
				if err := setWorkunit(tx, id, change, now, &part); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return done, err
		}
		done.Changed += part.Changed
		done.Unchanged += part.Unchanged
		done.Finished += part.Finished
		ids = ids[n:]
	}
	return done, nil
}

func setWorkunit(tx *store.Tx, id int64, change func(*workgen.Params), now time.Time, done *SetWork) error {
	wu, err := tx.Workunit(id)
	if err != nil {
		return err
	}
	if wu.State() != store.Unfinished {
		done.Finished++
		return nil
	}
	params := workgen.Params{
		Priority: wu.Priority, TargetNResults: wu.TargetNResults, MinQuorum: wu.MinQuorum, MaxErrorResults: wu.MaxErrorResults,
		MaxTotalResults: wu.MaxTotalResults, MaxSuccessResults: wu.MaxSuccessResults, DelayBound: wu.DelayBound.Seconds(),
		RscFpopsEst: wu.RscFpopsEst, RscFpopsBound: wu.RscFpopsBound, RscMemoryBound: wu.RscMemoryBound, RscDiskBound: wu.RscDiskBound,
		RscBandwidthBound: wu.RscBandwidthBound, Credit: wu.Credit,
	}
	change(&params)
	if params, err = params.Complete(); err != nil {
		return fmt.Errorf("workunit %s: %w", wu.Name, err)
	}
	s := store.WorkunitSettings{
		Priority: params.Priority, MaxErrorResults: params.MaxErrorResults, MaxTotalResults: params.MaxTotalResults,
		MaxSuccessResults: params.MaxSuccessResults, DelayBound: params.Delay(), Credit: params.Credit,
	}
	if s == wu.Settings() {
		done.Unchanged++
		return nil
	}
	done.Changed++
	return tx.SetWorkunit(wu, s, now)
}

// Batch returns the workunits of a batch, or ErrNotFound if it is empty.
func Batch(ctx context.Context, p *project.Project, batch int64) (all []int64, err error) {
	if batch == 0 {
		return nil, errBatch0
	}
	err = p.Store.View(ctx, func(tx *store.View) error {
		all = nil
		for after := int64(0); ; {
			ids, err := tx.WorkunitsOfBatch(batch, after, cancelBatch)
			if err != nil || len(ids) == 0 {
				return err
			}
			all, after = append(all, ids...), ids[len(ids)-1]
		}
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("batch %d: %w", batch, store.ErrNotFound)
	}
	return all, err
}
