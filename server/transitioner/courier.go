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
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store"
)

// A Courier passes the outputs of workunits on to the workunits that come after them, as input files.
// If a workunit was given up, so are these.
type Courier struct {
	Store    *store.Store
	Log      *slog.Logger
	Uploads  Uploads
	Download interface {
		Files
		Put(ctx context.Context, name string, r io.Reader) (blob.Info, error)
	}

	next time.Time
}

// Pass looks for workunits with an outcome for which others wait, and returns the number of outputs
// that it passed on. It is for one goroutine.
func (c *Courier) Pass(ctx context.Context, now time.Time) (passed int, err error) {
	if now.Before(c.next) && c.next.Sub(now) <= retry {
		return 0, nil
	}
	for after := (store.AwaitedOutput{}); ; {
		list, err := store.Read(ctx, c.Store, func(tx *store.View) ([]store.AwaitedOutput, error) { return tx.OutputsToPass(after, pass.Batch) })
		if err != nil || len(list) == 0 {
			return passed, err
		}
		for _, o := range list {
			after = o
			switch err := c.pass(ctx, o, now); {
			case errors.Is(err, store.ErrLost), errors.Is(err, store.ErrNotFound): // another process was faster
			case errors.Is(err, errUploads):
				c.Log.Error("can't pass an output on", "workunit_id", o.Predecessor, "output", o.Output, "err", err, "retry_in", retry)
				c.next = now.Add(retry)
			case err != nil:
				return passed, err
			default:
				passed++
			}
		}
	}
}

// pass passes one output on.
func (c *Courier) pass(ctx context.Context, o store.AwaitedOutput, now time.Time) error {
	var from store.Workunit
	var canonical store.Result
	err := c.Store.View(ctx, func(tx *store.View) (err error) {
		if from, err = tx.Workunit(o.Predecessor); err == nil && from.CanonicalResultID != 0 {
			canonical, err = tx.Result(from.CanonicalResultID)
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return c.giveUp(ctx, o, fmt.Sprintf("workunit %d, after which it comes, is no longer known", o.Predecessor), now)
	case err != nil:
		return err
	case from.ErrorMask != 0:
		return c.giveUp(ctx, o, "workunit "+from.Name+", after which it comes, was given up", now)
	case from.CanonicalResultID == 0: // it was revived meanwhile
		return c.Store.Update(ctx, func(tx *store.Tx) error {
			if err := tx.ReadyOutputs(o.Predecessor, false); err != nil {
				return err
			}
			return tx.Chain(o.Predecessor, now)
		})
	}
	var sum blob.Info
	if o.Output != "" {
		sum, err = c.copy(ctx, canonical, o)
		if errors.Is(err, fs.ErrNotExist) {
			return c.giveUp(ctx, o, "workunit "+from.Name+", after which it comes, has no output "+o.Output, now)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errUploads, err)
		}
	}
	return c.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.LockFiles(); err != nil {
			return err
		}
		tx.SetCause(now, "transitioner", "workunit "+from.Name+" has its outcome")
		wu, err := tx.Workunit(o.WorkunitID)
		if err != nil {
			return err
		}
		doc, err := complete(wu.XMLDoc, o.Name, sum)
		if err != nil {
			return fmt.Errorf("workunit %s: %w", wu.Name, err)
		}
		if wu.TokenID != 0 && o.Output != "" {
			if err := tx.KeepFile(wu.TokenID, o.Name, sum.NBytes); err != nil {
				return err
			}
		}
		last, err := tx.OutputCame(wu, o, doc)
		if err != nil || !last {
			return err
		}
		return activate(tx, wu.ID)
	})
}

// copy makes an input file of an output, unless that was done for another workunit.
func (c *Courier) copy(ctx context.Context, canonical store.Result, o store.AwaitedOutput) (blob.Info, error) {
	if sum, err := c.Download.Sum(ctx, o.Name); !errors.Is(err, fs.ErrNotExist) {
		return sum, err
	}
	refs, err := hook.Outputs(canonical)
	if err != nil {
		return blob.Info{}, err
	}
	for _, ref := range refs {
		if ref.Logical() != o.Output {
			continue
		}
		f, err := c.Uploads.Open(ctx, ref.FileName)
		if err != nil {
			return blob.Info{}, err
		}
		defer f.Close()
		return c.Download.Put(ctx, o.Name, f)
	}
	return blob.Info{}, fs.ErrNotExist
}

// giveUp gives up the workunit that waits for an output.
func (c *Courier) giveUp(ctx context.Context, o store.AwaitedOutput, why string, now time.Time) error {
	return c.Store.Update(ctx, func(tx *store.Tx) error {
		tx.SetCause(now, "transitioner", why)
		_, err := giveUp(tx, o.WorkunitID, store.ErrorPredecessor, now)
		return err
	})
}
