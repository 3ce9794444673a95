package state

import (
	"slices"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// Inputs returns the files without which a result cannot run.
func (db *DB) Inputs(r Result) []protocol.FileRef {
	v, _ := db.Versions.Get(r.Version)
	u, _ := db.Units.Get(Key(r.Project, r.WorkunitName))
	refs := make([]protocol.FileRef, 0, len(v.FileRefs)+len(u.FileRefs))
	refs = append(refs, v.FileRefs...)
	for _, ref := range u.FileRefs {
		f, _ := db.Files.Get(Key(r.Project, ref.FileName))
		if !f.GeneratedLocally {
			refs = append(refs, ref)
		}
	}
	return refs
}

// A WantedFile is a file that is to be downloaded or uploaded.
type WantedFile struct {
	Key string
	File
}

// Wanted returns the files that a result waits for, and those that their projects want stored here
// or uploaded, in the order of their keys. An output of a result that is still running is included
// if its application has asked to upload it. Callers must not change the list.
func (db *DB) Wanted() []WantedFile {
	if db.wanted.of != db.changes || db.wanted.files == nil {
		db.wanted.of, db.wanted.files = db.changes, db.findWanted()
	}
	return db.wanted.files
}

func (db *DB) findWanted() []WantedFile {
	seen := make(map[string]bool)
	wanted := []WantedFile{}
	want := func(r Result, name string, local FileStatus) {
		key := Key(r.Project, name)
		if seen[key] {
			return
		}
		seen[key] = true
		if f, ok := db.Files.Get(key); ok && f.Local == local && !f.Done {
			wanted = append(wanted, WantedFile{key, f})
		}
	}
	for _, r := range db.Results.All() {
		switch {
		case r.ReadyToReport:
		case r.State == protocol.ClientDownloading:
			for _, ref := range db.Inputs(r) {
				want(r, ref.FileName, FileAbsent)
			}
		case r.State == protocol.ClientUploading || r.State == protocol.ClientDownloaded:
			for _, ref := range r.FileRefs {
				want(r, ref.FileName, FilePresent)
			}
		}
	}
	for key, f := range db.Files.All() {
		if !seen[key] && (f.Fetched() || f.Send && f.Local == FilePresent) {
			wanted = append(wanted, WantedFile{key, f})
		}
	}
	slices.SortFunc(wanted, func(a, b WantedFile) int { return strings.Compare(a.Key, b.Key) })
	return wanted
}
