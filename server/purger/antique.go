package purger

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// The upload tree is searched every hour, or once a day where workunits are kept for ever.
const (
	sweepEvery = time.Hour
	sweepDaily = 24 * time.Hour
)

// lateAge is the minimum age of a file that arrived after its result's files were deleted: a file
// must not disappear while a host is still uploading it.
const lateAge = 24 * time.Hour

// outputName matches the names that output templates produce for <OUTFILE_n/>.
var outputName = regexp.MustCompile(`^(.+)_r[0-9]+_[0-9]+$`)

// sweep removes messages that were handled, and antique uploads. A host may upload a file long
// after its result's files were deleted, or after the result was purged, with a certificate that is
// still valid. Such a file would otherwise never be deleted. Files with names that are not names of
// outputs stay.
//
// BOINC's antique file deleter takes files older than every workunit. Then one old workunit keeps
// all files. Here a file is deleted when the files of its result have been deleted and it is a day
// old. It is also deleted when there is no result of its name any more and it has not changed for
// as long as finished workunits are kept.
func (p *Purger) sweep(ctx context.Context, now time.Time) error {
	every := sweepDaily
	if p.PurgeAfter > 0 {
		every = sweepEvery
	}
	if since := now.Sub(p.swept); since >= 0 && since < every {
		return nil
	}
	held, err := store.Read(ctx, p.Store, func(tx *store.View) (bool, error) { return tx.DeletionHeld(now) })
	if err != nil || held {
		return err
	}
	err = p.Store.Update(ctx, func(tx *store.Tx) error { return tx.ForgetTokenDays(now) })
	if err != nil {
		return err
	}
	if p.PurgeAfter > 0 {
		err := p.Store.Update(ctx, func(tx *store.Tx) error {
			_, err := tx.PurgeMsgs(now.Add(-p.PurgeAfter.Duration()))
			return err
		})
		if err != nil {
			return err
		}
	}
	purged := func(modified time.Time) bool {
		return p.PurgeAfter > 0 && !modified.After(now.Add(-p.PurgeAfter.Duration()))
	}
	late := func(modified time.Time) bool { return !modified.After(now.Add(-lateAge)) }
	var old []string
	err = p.Upload.Walk(ctx, func(name string, modified time.Time) error {
		if !purged(modified) && !late(modified) {
			return nil
		}
		m := outputName.FindStringSubmatch(name)
		if m == nil {
			return nil
		}
		return p.Store.View(ctx, func(tx *store.View) error {
			r, err := tx.ResultByName(m[1])
			switch {
			case errors.Is(err, store.ErrNotFound):
				if purged(modified) {
					old = append(old, name)
				}
				return nil
			case err == nil && r.FileDeleteState == store.DeleteDone && late(modified):
				old = append(old, name)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := p.Upload.Remove(ctx, name); err != nil {
			p.Log.Error("can't delete antique upload", "file", name, "err", err)
			continue
		}
		p.Log.Info("antique upload deleted", "file", name)
	}
	p.swept = now
	return nil
}
