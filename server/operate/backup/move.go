package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// A Moved has the outcome of Move. The originals stay where they were, unused.
type Moved struct {
	Files        int    // copied
	OldFiles     string // where they are left ("": not moved)
	Rows         int64  // of the database
	OldDatabase  string // the file that is left, or the database of a server ("": not moved)
	OldMasterURL string // the former address, which is still answered ("": unchanged)
}

// Move moves the database or the files of the project in dir, or both, somewhere else, or changes
// its address. The project must not be in use meanwhile: Move returns project.ErrServed if a server
// runs on this computer. It cannot detect servers on other computers. All data is copied and
// compared first, and the settings are changed last: after an error the project is as it was, and
// Move may be called again.
func Move(ctx context.Context, dir string, w Where, log *slog.Logger) (m Moved, err error) {
	done, err := project.Alone(dir)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, done()) }()
	p, err := project.Open(ctx, dir, log)
	if err != nil {
		return m, err
	}
	defer func() {
		if p != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	name := filepath.Join(dir, "server.toml")
	text, err := os.ReadFile(name)
	if err != nil {
		return m, err
	}
	settings, c, err := w.settings(string(text))
	if err != nil {
		return m, err
	}
	if c.MasterURL != p.Config.MasterURL {
		m.OldMasterURL = p.Config.MasterURL
		former := slices.DeleteFunc(append(slices.Clone(c.FormerURLs), m.OldMasterURL), func(u string) bool { return u == c.MasterURL })
		slices.Sort(former)
		settings = project.EditSettings(settings, map[string]any{"former_urls": slices.Compact(former)})
		if c, err = project.ParseConfig("server.toml", []byte(settings)); err != nil {
			return m, err
		}
	}
	if c.Files != p.Config.Files {
		if m.Files, m.OldFiles, err = moveFiles(ctx, p, c); err != nil {
			return m, err
		}
	}
	retire := func() error { return nil }
	if c.Database != p.Config.Database {
		old := p.Database()
		if err := p.Close(); err != nil {
			return m, err
		}
		p = nil
		if m.Rows, m.OldDatabase, retire, err = moveDatabase(ctx, dir, old, c); err != nil {
			return m, err
		}
	}
	mode := fs.FileMode(0o644)
	if c.Database != "" {
		mode = 0o600 // the URL may hold a password
	}
	if err := atomicfile.Write(name, []byte(settings), mode); err != nil {
		return m, err
	}
	return m, retire()
}

// moveDatabase copies a database. retire takes the old one, if it is a file, out of the way.
func moveDatabase(ctx context.Context, dir, old string, c project.Config) (rows int64, left string, retire func() error, err error) {
	file := filepath.Join(dir, "project.db")
	if c.Database == "" {
		if _, err := os.Lstat(file); err == nil {
			return 0, "", nil, fmt.Errorf("%s exists: it is not the database that is in use; move it away first", file)
		}
		// Under its own name only once it is whole.
		aside := file + ".moving"
		for _, name := range []string{aside, aside + "-wal", aside + "-shm"} { // of a move that was interrupted
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return 0, "", nil, err
			}
		}
		census, err := store.Copy(ctx, old, aside)
		if err != nil {
			return 0, "", nil, err
		}
		return census.Rows(), "the database of the PostgreSQL server", func() error { return nil }, atomicfile.Rename(aside, file)
	}
	found, err := store.Inspect(ctx, c.Database)
	if err != nil {
		return 0, "", nil, err
	}
	if !found.Empty && found.Identity != "" {
		return 0, "", nil, errors.New("the database already holds a project: name an empty one")
	}
	census, err := store.Copy(ctx, old, c.Database)
	if err != nil {
		return 0, "", nil, err
	}
	if store.IsURL(old) {
		return census.Rows(), "the database of the PostgreSQL server", func() error { return nil }, nil
	}
	left = old + ".moved"
	return census.Rows(), left, func() error {
		for _, end := range []string{"", "-wal", "-shm"} {
			if err := os.Rename(old+end, left+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return atomicfile.SyncDir(dir)
	}, nil
}

// moveFiles copies all files that are whole. A copy that is there already, from a move that
// was interrupted, is compared.
func moveFiles(ctx context.Context, p *project.Project, c project.Config) (n int, left string, err error) {
	for name, from := range map[string]blob.Tree{project.DownloadDir: p.Download, project.UploadDir: p.Upload} {
		to, err := project.OpenTree(ctx, p.Dir, c, name)
		if err != nil {
			return n, "", err
		}
		err = from.Walk(ctx, func(name string, _ time.Time) error {
			moved, err := moveFile(ctx, from, to, name)
			n += moved
			return err
		})
		if err = errors.Join(err, to.Close()); err != nil {
			return n, "", err
		}
	}
	left = p.Config.Files
	if left == "" {
		left = filepath.Join(p.Dir, project.DownloadDir) + " and " + filepath.Join(p.Dir, project.UploadDir)
	}
	return n, left, nil
}

func moveFile(ctx context.Context, from, to blob.Tree, name string) (int, error) {
	f, err := from.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, protocol.ErrFileName) { // it has not arrived whole
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	put, err := to.Put(ctx, name, f)
	if err != nil {
		return 0, err
	}
	got, err := to.Sum(ctx, name)
	if err == nil && (got != put || got.NBytes != f.NBytes) {
		err = fmt.Errorf("the copy of file %s differs from the original", name)
	}
	return 1, err
}
