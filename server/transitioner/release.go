package transitioner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
)

// A Releaser makes work active whose input files have arrived. Until then its results are inactive,
// no host gets one, and no deadline runs.
type Releaser struct {
	Store *store.Store
	Log   *slog.Logger
	Files Files // input files

	off map[string]time.Time // when files that could not be read are tried again
}

// Files is a tree of files.
type Files interface {
	Size(ctx context.Context, name string) (int64, error)
	Sum(ctx context.Context, name string) (blob.Info, error)
}

// Pass looks for awaited files and returns the number of workunits it released.
func (r *Releaser) Pass(ctx context.Context, now time.Time) (released int, err error) {
	for after := ""; ; {
		names, err := store.Read(ctx, r.Store, func(tx *store.View) ([]string, error) { return tx.AwaitedFiles(after, pass.Batch) })
		if err != nil || len(names) == 0 {
			return released, err
		}
		for _, name := range names {
			after = name
			if r.off[name].After(now) && r.off[name].Sub(now) <= retry {
				continue
			}
			_, err := r.Files.Size(ctx, name)
			if errors.Is(err, fs.ErrNotExist) {
				delete(r.off, name)
				continue
			}
			var sum blob.Info
			if err == nil {
				sum, err = r.Files.Sum(ctx, name)
			}
			if ctx.Err() != nil {
				return released, context.Cause(ctx)
			}
			if err != nil { // others are not to wait for it
				r.Log.Error("can't read an awaited input file", "file", name, "err", err, "retry_in", retry)
				if r.off == nil {
					r.off = make(map[string]time.Time)
				}
				r.off[name] = now.Add(retry)
				continue
			}
			delete(r.off, name)
			n, err := r.arrived(ctx, name, sum, now)
			released += n
			if err != nil {
				return released, err
			}
		}
	}
}

// arrived releases the workunits that wait for a file, because it is there. Files are put into
// place whole, and their content never changes.
func (r *Releaser) arrived(ctx context.Context, name string, sum blob.Info, now time.Time) (released int, err error) {
	for {
		var ids []int64
		done := 0
		err := r.Store.Update(ctx, func(tx *store.Tx) (err error) {
			done = 0
			if ids, err = tx.AwaitedBy(name, pass.Batch); err != nil {
				return err
			}
			tx.SetCause(now, "releaser", "input file "+name+" has come")
			for _, id := range ids {
				last, err := release(tx, id, name, sum)
				if err != nil {
					return err
				}
				if last {
					done++
				}
			}
			return nil
		})
		if err != nil {
			return released, fmt.Errorf("input file %s: %w", name, err)
		}
		released += done
		if len(ids) < pass.Batch {
			r.Log.Info("awaited input file has come", "file", name, "released", released)
			return released, nil
		}
	}
}

// release completes the description of one workunit and, when nothing is missing
// any more, makes its results ready to send.
func release(tx *store.Tx, id int64, name string, sum blob.Info) (last bool, err error) {
	wu, err := tx.Workunit(id)
	if err != nil {
		return false, err
	}
	doc, err := complete(wu.XMLDoc, name, sum)
	if err != nil {
		return false, fmt.Errorf("workunit %s: %w", wu.Name, err)
	}
	if last, err = tx.FileArrived(wu, name, doc); err != nil || !last {
		return last, err
	}
	return true, activate(tx, id)
}

// activate makes the results of a workunit ready to send.
func activate(tx *store.Tx, id int64) error {
	results, err := tx.ResultsOf(id)
	if err != nil {
		return err
	}
	for _, old := range results {
		if old.ServerState != store.Inactive {
			continue
		}
		x := old
		x.ServerState = store.Unsent
		if err := tx.SaveResult(old, x); err != nil {
			return err
		}
	}
	return nil
}

// complete puts size and checksum of a file, which can be downloaded now, into a workunit's
// description.
func complete(doc, name string, sum blob.Info) (string, error) {
	e, err := protocol.ParseElements([]byte(doc))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, f := range e.Files {
		if f.Name == name {
			f.NBytes, f.MD5, f.GeneratedLocally = sum.NBytes, sum.MD5, false
		}
		b.WriteString(f.XML())
	}
	for _, wu := range e.Workunits {
		b.WriteString(wu.XML())
	}
	return b.String(), nil
}
