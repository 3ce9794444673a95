// Package filedeleter removes the files of work that is done: inputs from the
// download tree and outputs from the upload tree, when the transitioner has
// said that they may go.
//
// Workunits share input files, so a file goes with the last workunit that
// needs it. Files marked <no_delete/> stay.
package filedeleter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

const (
	batch = 100
	again = time.Hour // files that could not be deleted wait so long
)

// A Deleter handles workunits and results whose files may go.
type Deleter struct {
	Store            *store.Store
	Log              *slog.Logger
	Download, Upload Files

	retried time.Time // when it last tried again what had failed
}

// Files is a tree of files. To remove one that is not there is no error.
type Files interface{ Remove(name string) error }

// Pass deletes what may go and returns for how many workunits and results. It
// is for one goroutine.
func (d *Deleter) Pass(ctx context.Context, now time.Time) (int, error) {
	n := 0
	run := func(queue func(*store.Tx, int64, int) ([]int64, error), one func(*store.Tx, int64) error) error {
		m, err := d.pass(ctx, queue, one)
		n += m
		return err
	}
	if err := run((*store.Tx).WorkunitsToDelete, d.inputs); err != nil {
		return n, err
	}
	if err := run((*store.Tx).ResultsToDelete, d.outputs); err != nil {
		return n, err
	}
	if since := now.Sub(d.retried); since >= 0 && since < again {
		return n, nil
	}
	d.retried = now
	if _, err := d.pass(ctx, (*store.Tx).WorkunitsDeleteFailed, d.inputs); err != nil {
		return n, err
	}
	_, err := d.pass(ctx, (*store.Tx).ResultsDeleteFailed, d.outputs)
	return n, err
}

// pass runs one on a queue, a batch a transaction. Files are removed within the
// transaction: so long as it is open, nobody adds a workunit that shares them.
func (d *Deleter) pass(ctx context.Context, queue func(*store.Tx, int64, int) ([]int64, error),
	one func(*store.Tx, int64) error,
) (int, error) {
	n := 0
	for after := int64(0); ; {
		var ids []int64
		err := d.Store.View(ctx, func(tx *store.Tx) (err error) {
			ids, err = queue(tx, after, batch)
			return err
		})
		if err != nil || len(ids) == 0 {
			return n, err
		}
		err = d.Store.Update(ctx, func(tx *store.Tx) error {
			for _, id := range ids {
				if err := one(tx, id); err != nil && !errors.Is(err, store.ErrLost) {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		n += len(ids)
		after = ids[len(ids)-1]
	}
}

// open reports whether there are files that may go.
func open(s store.FileDeleteState) bool { return s == store.DeleteReady || s == store.DeleteError }

func (d *Deleter) inputs(tx *store.Tx, id int64) error {
	old, err := tx.Workunit(id)
	if err != nil {
		return err
	}
	if !open(old.FileDeleteState) {
		return nil
	}
	wu := old
	wu.FileDeleteState = store.DeleteDone
	if err := d.removeInputs(tx, old); err != nil {
		wu.FileDeleteState = store.DeleteError
		d.Log.Error("can't delete input files", "workunit", wu.Name, "err", err)
	}
	return tx.SaveWorkunit(old, wu)
}

func (d *Deleter) removeInputs(tx *store.Tx, wu store.Workunit) error {
	e, err := protocol.ParseElements([]byte(wu.XMLDoc))
	if err != nil {
		return err
	}
	for _, f := range e.Files {
		if f.NoDelete {
			continue
		}
		shared, err := tx.FileShared(f.Name, wu.ID)
		if err != nil {
			return err
		}
		if shared {
			continue
		}
		if err := d.Download.Remove(f.Name); err != nil {
			return fmt.Errorf("input file %s: %w", f.Name, err)
		}
	}
	return nil
}

func (d *Deleter) outputs(tx *store.Tx, id int64) error {
	old, err := tx.Result(id)
	if err != nil {
		return err
	}
	if !open(old.FileDeleteState) {
		return nil
	}
	r := old
	r.FileDeleteState = store.DeleteDone
	if err := d.removeOutputs(old); err != nil {
		r.FileDeleteState = store.DeleteError
		d.Log.Error("can't delete output files", "result", r.Name, "err", err)
	}
	return tx.SaveResult(old, r)
}

func (d *Deleter) removeOutputs(r store.Result) error {
	e, err := protocol.ParseElements([]byte(r.XMLDocIn))
	if err != nil {
		return err
	}
	for _, f := range e.Files {
		if f.NoDelete {
			continue
		}
		if err := d.Upload.Remove(f.Name); err != nil {
			return fmt.Errorf("output file %s: %w", f.Name, err)
		}
	}
	return nil
}
