// Package files handles the files of results, app versions and projects on this computer. They are fetched and sent,
// kept between tasks where their project wishes that, and removed when nothing needs them any more.
//
//	transfers.go  which files are fetched and sent
//	stored.go     files that projects keep here between their tasks
//	collect.go    records and files that are forgotten
package files

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/appinfo"
	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/filexfer"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/state"
)

// Files are the files of an agent. They belong to the loop.
type Files struct {
	*core.Core
	Xfer     *filexfer.Client
	Presence *usage.Presence
	Disk     *usage.Disk
	// Attempted is called after each attempt to transfer a file.
	Attempted func(state.File)
	// Forgotten is called after records and files were forgotten.
	Forgotten func()

	// The following fields are lost at a restart, and may be.
	transfers map[string]*transfer // file key → transfer in progress
	stale     bool                 // there may be records or files to forget
	collected collected            // when that was looked for last
}

// Open initializes the records of transfers, which are empty at first.
func (fs *Files) Open() { fs.transfers, fs.stale = make(map[string]*transfer), true }

// Transferred is an event: a transfer has ended.
type Transferred struct {
	Key      string // of the file
	transfer *transfer
	Err      error
}

// Event names it.
func (Transferred) Event() string { return "transfer ended" }

// Handle handles an event, if it belongs to this component.
func (fs *Files) Handle(e core.Event) bool {
	t, ok := e.(Transferred)
	if ok {
		fs.transferred(t.Key, t.transfer, t.Err, time.Now())
	}
	return ok
}

// Stale makes Collect look for records and files that nothing needs any more.
func (fs *Files) Stale() { fs.stale = true }

// Limit applies the preferences in force.
func (fs *Files) Limit() {
	fs.Xfer.Down.Set(fs.Prefs.MaxBytesSecDown)
	fs.Xfer.Up.Set(fs.Prefs.MaxBytesSecUp)
	fs.Stale() // the limits on stored files may be others
}

// Idle reports whether no transfer is in progress.
func (fs *Files) Idle() bool { return len(fs.transfers) == 0 }

// Busy reports whether a transfer of a project is in progress, and cancels it.
func (fs *Files) Busy(project string) bool {
	for _, t := range fs.transfers {
		if t.file.Project == project {
			t.cancel()
			return true
		}
	}
	return false
}

// Transfers returns the transfers in progress, by the keys of their files.
func (fs *Files) Transfers() map[string]view.Transfer {
	all := make(map[string]view.Transfer, len(fs.transfers))
	for key, t := range fs.transfers {
		all[key] = view.Transfer{File: t.file, Since: t.since, Bytes: t.bytes.Load(), Moved: time.Unix(0, t.moved.Load())}
	}
	return all
}

// Cancel cancels a file's transfer, if one is in progress.
func (fs *Files) Cancel(key string) {
	if t := fs.transfers[key]; t != nil {
		t.cancel()
	}
}

// Forget removes a project's folder. If the folder has programs of the volunteer, or belongs to
// another project as well, it removes only the files of the project's records, which must still be
// there. A call that is repeated after a crash or a failure removes the rest.
func (fs *Files) Forget(project string) error {
	folder, others := fs.ProjectDir(project), fs.sharing(project)
	if !appinfo.Exists(folder) && len(others) == 0 {
		return os.RemoveAll(folder)
	}
	dir, err := foreigndir.OpenRoot(fs.Dir, core.ProjectsDir+"/"+protocol.EscapeURL(project))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	var errs []error
	for _, f := range fs.DB.Files.Of(project) {
		if !f.Own && !slices.ContainsFunc(others, func(u string) bool { return has(&fs.DB.Files, u, f.Name) }) {
			errs = append(errs, filexfer.Remove(dir, f.Name))
		}
	}
	errNames := foreigndir.Names(dir, ".", func(name string) bool { // messages of its applications
		result, _, ok := appipc.ParseTrickleName(name)
		if ok && !slices.ContainsFunc(others, func(u string) bool { return has(&fs.DB.Results, u, result) }) {
			errs = append(errs, dir.Remove(name))
		}
		return true
	})
	return errors.Join(append(errs, errNames)...)
}

// sharing returns the other projects whose folder is the same, also for file systems that ignore case.
func (fs *Files) sharing(project string) (others []string) {
	for u := range fs.DB.Projects.All() {
		if u != project && strings.EqualFold(protocol.EscapeURL(u), protocol.EscapeURL(project)) {
			others = append(others, u)
		}
	}
	return others
}

// has reports whether a project has a record with the given name.
func has[V any](t *state.Table[V], project, name string) bool {
	_, ok := t.Get(state.Key(project, name))
	return ok
}
