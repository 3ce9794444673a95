package purger

import (
	"context"
	"errors"
	"regexp"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// sweepEvery is how often the upload tree is searched.
const sweepEvery = time.Hour

// outputName is what output templates make of <OUTFILE_n/>.
var outputName = regexp.MustCompile(`^(.+)_r[0-9]+_[0-9]+$`)

// sweep removes messages that were handled, and antique uploads: a host that uploads long after its result was
// purged holds a certificate that is still good, and nothing else would ever
// delete the file. Files whose names are not those of an output stay.
//
// BOINC's antique file deleter takes files older than every workunit. Here a file
// goes when no result has its name any more and it has not changed for as long as
// finished workunits are kept, since one old workunit should not hold up all.
func (p *Purger) sweep(ctx context.Context, now time.Time) error {
	if now.Before(p.swept.Add(sweepEvery)) {
		return nil
	}
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.PurgeMsgs(now.Add(-p.After))
		return err
	})
	if err != nil {
		return err
	}
	var old []string
	err = p.Upload.Walk(ctx, func(name string, modified time.Time) error {
		if modified.After(now.Add(-p.After)) {
			return nil
		}
		m := outputName.FindStringSubmatch(name)
		if m == nil {
			return nil
		}
		return p.Store.View(ctx, func(tx *store.Tx) error {
			_, err := tx.ResultByName(m[1])
			if errors.Is(err, store.ErrNotFound) {
				old = append(old, name)
				return nil
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
