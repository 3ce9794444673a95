package transitioner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
)

// publishEvery is the interval at which a Publisher looks, since files may be in a bucket.
const publishEvery = 10 * time.Second

// A Publisher makes input files of the files that hosts were ordered to upload. A task had made
// these on the host. After that any host can compute the workunits that need them.
type Publisher struct {
	Store    *store.Store
	Log      *slog.Logger
	Uploads  Uploads
	Download interface {
		Put(ctx context.Context, name string, r io.Reader) (blob.Info, error)
	}

	next time.Time
}

// errUploads marks errors of the file storage: it is away, or has another file of that name.
var errUploads = errors.New("copy of an uploaded file")

// Uploads are the files that hosts have sent.
type Uploads interface {
	Open(ctx context.Context, name string) (*blob.File, error)
	Remove(ctx context.Context, name string) error
}

// Pass looks for uploaded files and returns the number that it published. It is for one goroutine.
func (p *Publisher) Pass(ctx context.Context, now time.Time) (published int, err error) {
	if now.Before(p.next) && p.next.Sub(now) <= retry {
		return 0, nil
	}
	p.next = now.Add(publishEvery)
	for after := ""; ; {
		names, err := store.Read(ctx, p.Store, func(tx *store.View) ([]string, error) { return tx.WantedCopies(after, pass.Batch) })
		if err != nil || len(names) == 0 {
			return published, err
		}
		for _, name := range names {
			after = name
			came, err := p.publish(ctx, name, now)
			switch {
			case errors.Is(err, errUploads): // others are not to wait for it
				p.Log.Error("can't publish a file that a task made", "file", name, "err", err, "retry_in", retry)
				p.next = now.Add(retry)
			case err != nil:
				return published, fmt.Errorf("file %s, which a task made: %w", name, err)
			case came:
				published++
			}
		}
	}
}

// publish makes an uploaded file an input file, if it is there. It stops waiting for a file that is
// no longer needed.
func (p *Publisher) publish(ctx context.Context, name string, now time.Time) (came bool, err error) {
	needed, err := store.Read(ctx, p.Store, func(tx *store.View) ([]int64, error) { return tx.NeedFile(name, 0, 1) })
	if err != nil {
		return false, err
	}
	if len(needed) == 0 {
		return false, p.Store.Update(ctx, func(tx *store.Tx) error { return tx.EndCopy(name, now) })
	}
	sum, err := p.copy(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("%w: %w", errUploads, err)
	}
	n := 0
	err = p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if err := tx.LockFiles(); err != nil {
			return err
		}
		tx.SetCause(now, "transitioner", "file "+name+" was uploaded, which a task made")
		if n, err = describeAll(tx, name, sum); err != nil {
			return err
		}
		return tx.EndCopy(name, now)
	})
	if err != nil {
		return false, err
	}
	p.Log.Info("file that a task made is published", "file", name, "workunits", n)
	if err := p.Uploads.Remove(ctx, name); err != nil {
		p.Log.Warn("can't delete an uploaded file that is published", "file", name, "err", err)
	}
	return true, nil
}

// copy puts an uploaded file among those that hosts can download.
func (p *Publisher) copy(ctx context.Context, name string) (blob.Info, error) {
	f, err := p.Uploads.Open(ctx, name)
	if err != nil {
		return blob.Info{}, err
	}
	defer f.Close()
	return p.Download.Put(ctx, name, f)
}

// describeAll marks a file as downloadable in all workunits that need it, and returns the number of
// these.
func describeAll(tx *store.Tx, name string, sum blob.Info) (n int, err error) {
	for after := int64(0); ; {
		ids, err := tx.NeedFile(name, after, pass.Batch)
		if err != nil || len(ids) == 0 {
			return n, err
		}
		for _, id := range ids {
			wu, err := tx.Workunit(id)
			if err != nil {
				return n, err
			}
			doc, err := complete(wu.XMLDoc, name, sum)
			if err != nil {
				return n, err
			}
			if err := tx.Describe(wu, doc); err != nil {
				return n, err
			}
		}
		n, after = n+len(ids), ids[len(ids)-1]
	}
}
