package boincimport

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/internal/foreigndir"
)

// BOINC's client does not confine its applications. They may have written anything in its folder,
// and an import often runs as root. So all of it is read through one door, which follows no link,
// and within limits.
const (
	MaxState   = 256 << 20 // bytes of client_state.xml (with many thousand tasks it has some tens of megabytes)
	maxNotes   = 1 << 20   // of accounts, preferences and settings
	maxHistory = 64 << 20  // of statistics and job logs
	maxUnknown = 16 << 30  // of a file whose size is not known
)

// etc is the folder where Debian's package has the files that people edit, with links to them in
// the client's folder.
const etc = "/etc/boinc-client"

// read returns a file of the client's. Of links only those are followed that Debian's package
// makes.
func (m *importer) read(name string, most int64) ([]byte, error) {
	b, err := m.door.Read(name, most)
	if errors.Is(err, foreigndir.ErrIrregular) {
		if to, errLink := m.door.Root().Readlink(name); errLink == nil && to == filepath.Join(etc, name) {
			return readEtc(m, name, most)
		}
	}
	return b, err
}

func readEtc(m *importer, name string, most int64) ([]byte, error) {
	d, err := foreigndir.Enter(m.ctx, etc)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Read(name, most)
}

// makeRoot makes a folder of the agent's and opens it.
func (m *importer) makeRoot(below string, perm fs.FileMode) (*os.Root, error) {
	if err := os.MkdirAll(filepath.Join(m.to, below), perm); err != nil {
		return nil, err
	}
	return foreigndir.OpenRoot(m.to, filepath.ToSlash(below))
}
