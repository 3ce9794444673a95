package transitioner

import (
	"errors"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Cancel gives a workunit up at the request of its owner. It reports whether there was anything to
// give up: a workunit with an outcome keeps it. Unsent results will not be sent. Hosts get the
// order to abort the others when they make contact.
//
// Source: BOINC tools/backend_lib.cpp, cancel_job.
func Cancel(tx *store.Tx, id int64, now time.Time) (bool, error) {
	return CancelBecause(tx, id, now, "work cancel")
}

// CancelBecause is like Cancel, with the reason for the history.
func CancelBecause(tx *store.Tx, id int64, now time.Time, why string) (bool, error) {
	tx.SetCause(now, "operator", why)
	return giveUp(tx, id, store.ErrorCancelled, now)
}

// giveUp gives a workunit up for one reason, and reports whether it was unfinished.
func giveUp(tx *store.Tx, id int64, reason store.ErrorMask, now time.Time) (bool, error) {
	old, err := tx.Workunit(id)
	if err != nil {
		return false, err
	}
	if old.CanonicalResultID != 0 || old.ErrorMask != 0 {
		return false, nil
	}
	results, err := tx.ResultsOf(id)
	if err != nil {
		return false, err
	}
	for _, r := range results {
		if r.ServerState != store.Unsent && r.ServerState != store.Inactive {
			continue
		}
		x := r
		x.ServerState, x.Outcome = store.Over, store.DidntNeed
		if err := tx.SaveResult(r, x); err != nil && !errors.Is(err, store.ErrLost) {
			return false, err
		}
	}
	wu := old
	wu.ErrorMask |= reason
	wu.TransitionTime = now
	return true, tx.SaveWorkunit(old, wu)
}
