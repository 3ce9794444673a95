// Package purger moves workunits that finished long ago, with their results, from the database to
// archive files, and removes uploaded files that do not belong to a result any more.
//
// An archive is a text of one JSON object a line, a workunit with its results, compressed with
// gzip: archive/wu_FIRST-LAST.jsonl.gz, where FIRST and LAST are the least and the greatest number
// of a workunit in it. A second one of that name is wu_FIRST-LAST.2.jsonl.gz, and so on, since the
// first may be the only copy of its content. Rows are deleted only after the archive with them is
// on disk. A crash in between leaves both. Should a workunit be in two files, the newer is right.
//
// The file deleter and the transitioner define which workunits are finished.
package purger

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
)

const (
	batch = 1000 // workunits in an archive
	few   = 50   // workunits in a transaction, for which other changes wait
)

// A Purger handles workunits whose time has come.
type Purger struct {
	Store  *store.Store
	Log    *slog.Logger
	Dir    string // of the archives (created when needed)
	Upload Files  // output files
	Settings

	swept time.Time
}

// Settings are the purger's settings.
type Settings struct {
	PurgeAfter setting.Days `toml:"purge_after_days"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Number(&s.PurgeAfter, 30, 36500,
			`Days from the deletion of its files until a finished workunit, with its results, is moved from the
			database to archive/. 0: never. Files uploaded after that, or a day after the files of their result
			were deleted, are deleted.`).First(),
	}
}

// Files is a tree of files, see blob.Tree.
type Files interface {
	Walk(ctx context.Context, fn func(name string, modified time.Time) error) error
	Remove(ctx context.Context, name string) error
}

// Pass archives and deletes workunits that have been finished for After, and now and then looks for
// antique uploads. It returns the number of workunits it purged. With an After of 0 all workunits
// stay. It is for one goroutine.
func (p *Purger) Pass(ctx context.Context, now time.Time) (int, error) {
	n := 0
	for p.PurgeAfter > 0 {
		purged, more, err := p.purge(ctx, now)
		n += purged
		if err != nil {
			return n, err
		}
		if !more {
			break
		}
	}
	return n, p.sweep(ctx, now)
}

// purge processes one batch. more reports whether there may be another.
func (p *Purger) purge(ctx context.Context, now time.Time) (n int, more bool, err error) {
	var ids []int64
	var records []store.Record
	err = p.Store.View(ctx, func(tx *store.View) error {
		ids, records = nil, nil
		held, err := tx.DeletionHeld(now)
		if err != nil || held {
			return err
		}
		if ids, err = tx.Purgeable(now.Add(-p.PurgeAfter.Duration()), batch); err != nil {
			return err
		}
		records, err = load(tx, ids)
		return err
	})
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	name, err := p.write(ids, records)
	if err != nil {
		return 0, false, fmt.Errorf("archive: %w", err)
	}
	for i := 0; i < len(ids); i += few {
		end := min(i+few, len(ids))
		purged, err := p.remove(ctx, ids[i:end], records[i:end])
		if n += purged; err != nil {
			return n, false, err
		}
	}
	p.Log.Info("workunits purged", "workunits", n, "archive", name)
	return n, n > 0 && len(ids) == batch, nil
}

// remove deletes workunits that are in an archive, and returns the number of them.
func (p *Purger) remove(ctx context.Context, ids []int64, records []store.Record) (n int, err error) {
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		n = 0
		for i, id := range ids {
			// Workunits that have changed since they were archived stay, and are archived again.
			rec, err := tx.Record(id)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if !reflect.DeepEqual(rec, records[i]) {
				continue
			}
			if err := tx.Purge(id); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func load(tx *store.View, ids []int64) ([]store.Record, error) {
	var out []store.Record
	for _, id := range ids {
		rec, err := tx.Record(id)
		if err != nil {
			return nil, err
		}
		out = append(out, rec)
	}
	return out, nil
}

// write makes an archive durable and returns its name.
func (p *Purger) write(ids []int64, records []store.Record) (string, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	lines := json.NewEncoder(z)
	lines.SetEscapeHTML(false)
	first, last := ids[0], ids[0]
	for i, rec := range records {
		first, last = min(first, ids[i]), max(last, ids[i])
		if err := lines.Encode(rec); err != nil {
			return "", err
		}
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(p.Dir, 0o750); err != nil {
		return "", err
	}
	if err := atomicfile.SyncDir(filepath.Dir(p.Dir)); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := fmt.Sprintf("wu_%d-%d.jsonl.gz", first, last)
		if n > 1 {
			name = fmt.Sprintf("wu_%d-%d.%d.jsonl.gz", first, last, n)
		}
		path := filepath.Join(p.Dir, name)
		switch old, err := os.ReadFile(path); {
		case errors.Is(err, fs.ErrNotExist):
			return name, atomicfile.Write(path, b.Bytes(), 0o640)
		case err != nil:
			return "", err
		case bytes.Equal(old, b.Bytes()): // its rows could not be deleted then
			return name, nil
		}
	}
}
