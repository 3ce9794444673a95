package modeltest

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// purge runs a purger. Work that it may take must be as in the final rest.
func (w *world) purge(process int) {
	granted := make(map[string]map[int64]float64)
	w.view(func(tx *store.View) error {
		ids, err := tx.Purgeable(w.now.Add(-w.keep.Duration()), len(w.names))
		if err != nil {
			return err
		}
		wus, err := tx.Workunits(ids)
		for _, id := range ids {
			name := wus[id].Name
			granted[name] = make(map[int64]float64)
			w.checkWorkunit(tx, name, granted[name])
		}
		return err
	})
	w.pass(process, purging)
	w.view(func(tx *store.View) error {
		for _, name := range slices.Sorted(maps.Keys(granted)) {
			_, err := tx.WorkunitByName(name)
			if _, known := w.wus[name]; !known || err == nil {
				continue // another purger was there, or it has changed meanwhile
			}
			if !errors.Is(err, store.ErrNotFound) {
				return err
			}
			w.purged[name] = true
			for host, credit := range granted[name] {
				w.kept[host] += credit
			}
			delete(w.wus, name)
		}
		w.names = slices.DeleteFunc(w.names, func(name string) bool { return w.wus[name] == nil })
		return nil
	})
}

// clear moves all finished work to the archive, and checks that all of it is moved and leaves no
// file behind.
func (w *world) clear() {
	if w.failed {
		return
	}
	w.now = w.now.Add(w.keep.Duration() + 2*time.Hour) // the purger looks for files once an hour
	w.purge(0)
	for _, name := range w.names {
		w.failf("%s is not purged", name)
	}
	for name := range w.files {
		w.failf("output %s is left after all", name)
	}
	w.doctor()
	w.checkArchive()
}

// checkArchive sees that all that was purged since it looked last is in the archive.
func (w *world) checkArchive() {
	files, err := os.ReadDir(w.archive)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.failf("%v", err)
	}
	found := make(map[string]bool)
	for _, f := range files {
		path := filepath.Join(w.archive, f.Name())
		must(w.t, readArchive(path, found))
		must(w.t, os.Remove(path))
	}
	for name := range w.purged {
		if !found[name] {
			w.failf("%s is in no archive", name)
		}
	}
	clear(w.purged)
}

func readArchive(path string, found map[string]bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var rec store.Record
		if err := json.Unmarshal(s.Bytes(), &rec); err != nil {
			return err
		}
		found[rec.Workunit["name"].(string)] = true
	}
	return s.Err()
}
