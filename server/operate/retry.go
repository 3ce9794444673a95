package operate

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
)

// A RetrySpec selects the workunits that were given up and are to be revived, and has the options
// for that.
type RetrySpec struct {
	IDs []int64 // these, or, if empty, all of the following
	// App and Batch, of which exactly one is given, and the errors for which the workunits were
	// given up (0: any).
	App    string
	Batch  int64
	Errors store.ErrorMask
	// Again: the project may be handed an outcome a second time, after the first one was that the
	// workunit was given up.
	Again  bool
	Reason string // for the workunits' history
	DryRun bool   // nothing is changed
}

// A Retried has the outcome of Retry, in a dry run the expected one.
type Retried struct {
	Workunits int                          // that are revived
	Refused   map[transitioner.Refusal]int // why others are not
}

// Retry revives workunits that were given up. An id that does not exist is an error, and
// nothing of its group of 500 is done.
func Retry(ctx context.Context, p *project.Project, r RetrySpec, now time.Time) (Retried, error) {
	done := Retried{Refused: make(map[transitioner.Refusal]int)}
	if len(r.IDs) > 0 {
		for ids := r.IDs; len(ids) > 0; {
			n := min(len(ids), cancelBatch)
			if err := retry(ctx, p, r, ids[:n], now, &done); err != nil {
				return done, err
			}
			ids = ids[n:]
		}
		return done, nil
	}
	if r.App == "" && r.Batch == 0 {
		return done, errBatch0
	}
	var app int64
	mask := r.Errors
	if mask == 0 {
		mask = ^store.ErrorMask(0)
	}
	for after := int64(0); ; {
		var ids []int64
		err := p.Store.View(ctx, func(tx *store.View) error {
			if r.App != "" && app == 0 {
				a, err := tx.AppByName(r.App)
				if err != nil {
					return err
				}
				app = a.ID
			}
			if r.Batch != 0 && after == 0 {
				if some, err := tx.WorkunitsOfBatch(r.Batch, 0, 1); err != nil || len(some) == 0 {
					return fmt.Errorf("batch %d: %w", r.Batch, cmp.Or(err, store.ErrNotFound))
				}
			}
			var err error
			ids, err = tx.GivenUp(mask, app, r.Batch, after, cancelBatch)
			return err
		})
		if err != nil || len(ids) == 0 {
			return done, err
		}
		if err := retry(ctx, p, r, ids, now, &done); err != nil {
			return done, err
		}
		after = ids[len(ids)-1]
	}
}

// retry revives some workunits in one transaction, or only looks at them.
func retry(ctx context.Context, p *project.Project, r RetrySpec, ids []int64, now time.Time, done *Retried) error {
	var refused []transitioner.Refusal
	each := func(v *store.View, tx *store.Tx) error {
		refused = refused[:0]
		for _, id := range ids {
			var no transitioner.Refusal
			var err error
			if r.DryRun {
				var wu store.Workunit
				wu, err = v.Workunit(id)
				no = transitioner.MayRetry(wu, r.Again)
			} else {
				no, err = transitioner.Retry(tx, id, r.Again, now, because("work retry", r.Reason))
			}
			if err != nil {
				return err
			}
			refused = append(refused, no)
		}
		return nil
	}
	if err := transact(ctx, p, r.DryRun, each); err != nil {
		return err
	}
	for _, no := range refused {
		if no == "" {
			done.Workunits++
		} else {
			done.Refused[no]++
		}
	}
	return nil
}

// ParseErrors reads reasons for which workunits are given up, by names such as
// couldnt_send, with commas between them.
func ParseErrors(s string) (mask store.ErrorMask, err error) {
	for name := range strings.SplitSeq(s, ",") {
		bit, ok := errorNames[name]
		if !ok {
			return 0, fmt.Errorf("unknown error %q; the errors are %s", name, ErrorNames)
		}
		mask |= bit
	}
	return mask, nil
}

// ErrorNames are the names that ParseErrors accepts.
const ErrorNames = "couldnt_send,too_many_errors,too_many_successes,too_many_total,no_canonical,predecessor"

var errorNames = map[string]store.ErrorMask{
	"couldnt_send": store.ErrorCouldntSend, "too_many_errors": store.ErrorTooManyErrors,
	"too_many_successes": store.ErrorTooManySuccesses, "too_many_total": store.ErrorTooManyTotal, "no_canonical": store.ErrorNoCanonical,
	"predecessor": store.ErrorPredecessor,
}
