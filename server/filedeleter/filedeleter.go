// Package filedeleter removes the files of work that is done: inputs from the download tree and
// outputs from the upload tree, when the transitioner has marked them as deletable.
//
// Workunits share input files, so a file is deleted with the last workunit that needs it. Files
// marked <no_delete/> stay.
package filedeleter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

const batch = 100

// A Deleter handles workunits and results whose files may go.
type Deleter struct {
	Store            *store.Store
	Log              *slog.Logger
	Download, Upload Files

	next time.Time // when what could not be deleted is tried again
}

// Files is a tree of files. It is not an error to remove a file that does not exist.
type Files interface {
	Remove(ctx context.Context, name string) error
}

// Pass deletes what may go and returns for how many workunits and results. It is
// for one goroutine.
func (d *Deleter) Pass(ctx context.Context, now time.Time) (int, error) {
	if err := d.again(ctx, now); err != nil {
		return 0, err
	}
	inputs, err := d.each(ctx, now, store.InputsToDelete, func(ids []int64) error { return d.inputs(ctx, ids, now) })
	if err != nil {
		return inputs, err
	}
	outputs, err := d.each(ctx, now, store.OutputsToDelete, func(ids []int64) error { return d.outputs(ctx, ids, now) })
	return inputs + outputs, err
}

// each calls take with batches of a queue until that is empty, and returns how many
// ids there were. While a copy of the project is made, all stay.
func (d *Deleter) each(ctx context.Context, now time.Time, queue store.Queue, take func([]int64) error) (int, error) {
	n := 0
	for {
		var ids []int64
		err := d.Store.View(ctx, func(tx *store.View) error {
			ids = nil
			held, err := tx.DeletionHeld(now)
			if err != nil || held {
				return err
			}
			ids, err = tx.Waiting(queue, 0, batch)
			return err
		})
		if err != nil || len(ids) == 0 {
			return n, err
		}
		if err := take(ids); err != nil {
			return n, err
		}
		n += len(ids)
	}
}

// inputs removes the input files of workunits, within a transaction: as long as it is open, it is
// not possible to add a workunit that shares them.
func (d *Deleter) inputs(ctx context.Context, ids []int64, now time.Time) error {
	return d.Store.Update(ctx, func(tx *store.Tx) error {
		tx.SetCause(now, "file_deleter", "")
		if err := tx.LockFiles(); err != nil {
			return err
		}
		wus, err := tx.Workunits(ids)
		if err != nil {
			return err
		}
		shared, err := readShared(tx.View, wus)
		if err != nil {
			return err
		}
		if err := addPrograms(tx.View, shared); err != nil {
			return err
		}
		var gone []string
		for _, id := range ids {
			if err := d.inputsOf(ctx, tx, wus[id], shared, &gone); err != nil && !errors.Is(err, store.ErrLost) {
				return err
			}
		}
		return tx.DropFiles(gone)
	})
}

// readShared looks at the files that exactly one of some workunits needs. It returns by name
// whether further workunits need them. For other files the answer changes while these workunits are processed.
func readShared(tx *store.View, wus map[int64]store.Workunit) (map[string]bool, error) {
	needs := make(map[string]int)
	for _, wu := range wus {
		e, err := protocol.ParseElements([]byte(wu.XMLDoc))
		if err != nil {
			continue // removeInputs reports it
		}
		for _, f := range e.Files {
			for _, name := range blob.Names(f) {
				needs[name]++
			}
		}
	}
	maps.DeleteFunc(needs, func(_ string, n int) bool { return n > 1 })
	names := slices.Sorted(maps.Keys(needs))
	others, err := tx.SharedFiles(names, slices.Sorted(maps.Keys(wus)))
	shared := make(map[string]bool, len(names))
	for _, name := range names {
		shared[name] = others[name]
	}
	return shared, err
}

// addPrograms adds the files of app versions: a workunit may have one of them as an input, too, as its sender names
// it, or because it is called the same and has the same content.
func addPrograms(tx *store.View, shared map[string]bool) error {
	versions, err := tx.AllAppVersions()
	if err != nil {
		return err
	}
	for _, v := range versions {
		e, err := protocol.ParseElements([]byte(v.XMLDoc))
		if err != nil {
			return fmt.Errorf("app version %d: %w", v.ID, err)
		}
		for _, f := range e.Files {
			for _, name := range blob.Names(f) {
				shared[name] = true
			}
		}
	}
	return nil
}

func (d *Deleter) inputsOf(ctx context.Context, tx *store.Tx, old store.Workunit, shared map[string]bool, gone *[]string) error {
	if old.FileDeleteState != store.DeleteReady {
		return nil
	}
	wu := old
	wu.FileDeleteState = store.DeleteDone
	if err := d.removeInputs(ctx, tx.View, old, shared, gone); err != nil {
		wu.FileDeleteState = store.DeleteError
		d.Log.Error("can't delete input files", "workunit", wu.Name, "err", err)
	}
	return tx.SaveWorkunit(old, wu)
}

func (d *Deleter) removeInputs(ctx context.Context, tx *store.View, wu store.Workunit, known map[string]bool, gone *[]string) error {
	e, err := protocol.ParseElements([]byte(wu.XMLDoc))
	if err != nil {
		return err
	}
	for _, f := range e.Files {
		if f.NoDelete || f.GeneratedLocally || len(f.DownloadURLs) > 0 {
			continue
		}
		for _, name := range blob.Names(f) {
			shared, ok := known[name]
			if !ok {
				others, err := tx.SharedFiles([]string{name}, []int64{wu.ID})
				if err != nil {
					return err
				}
				shared = others[name]
			}
			if shared {
				continue
			}
			if err := d.Download.Remove(ctx, name); err != nil {
				return fmt.Errorf("input file %s: %w", name, err)
			}
			*gone = append(*gone, name)
		}
	}
	return nil
}

// outputs removes the output files of results. These are not shared. If a result is reported late
// meanwhile, it is found changed and is processed again, with its files.
func (d *Deleter) outputs(ctx context.Context, ids []int64, now time.Time) error {
	results, err := store.Read(ctx, d.Store, func(tx *store.View) (map[int64]store.Result, error) { return tx.Results(ids) })
	if err != nil {
		return err
	}
	after := make(map[int64]store.FileDeleteState, len(ids))
	for _, id := range ids {
		r, ok := results[id]
		if !ok {
			continue
		}
		after[id] = store.DeleteDone
		if err := d.removeOutputs(ctx, r); err != nil {
			after[id] = store.DeleteError
			d.Log.Error("can't delete output files", "result", r.Name, "err", err)
		}
	}
	return d.Store.Update(ctx, func(tx *store.Tx) error {
		tx.SetCause(now, "file_deleter", "")
		for _, id := range ids {
			old, ok := results[id]
			if !ok || old.FileDeleteState != store.DeleteReady {
				continue
			}
			r := old
			r.FileDeleteState = after[id]
			if err := tx.SaveResult(old, r); err != nil && !errors.Is(err, store.ErrLost) {
				return err
			}
		}
		return nil
	})
}

func (d *Deleter) removeOutputs(ctx context.Context, r store.Result) error {
	e, err := protocol.ParseElements([]byte(r.XMLDocIn))
	if err != nil {
		return err
	}
	for _, f := range e.Files {
		if f.NoDelete {
			continue
		}
		if err := d.Upload.Remove(ctx, f.Name); err != nil {
			return fmt.Errorf("output file %s: %w", f.Name, err)
		}
	}
	return nil
}
