// Package project opens a project: a directory with settings, keys, files and a database,
// and sees that they belong together.
//
// Several processes may have one project open: operators add work (server/operate) while
// it is served (server). The package does neither.
package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync/atomic"

	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

// Files and folders of a project's directory.
const (
	databaseFile = "project.db"
	KeysDir      = "keys"
	DownloadDir  = "download"
	UploadDir    = "upload"
	TemplatesDir = "templates"
	ResultsDir   = "results"
	ArchiveDir   = "archive"
	SiteDir      = "site"
	StatsDir     = "stats"
	IncomingDir  = "incoming" // files that are arriving
)

// A Project is an open project directory. It is safe for concurrent use.
type Project struct {
	Dir      string
	Config   Config
	Store    *store.Store
	Download blob.Tree
	Upload   blob.Tree

	Log *slog.Logger

	keys *atomic.Pointer[keys] // shared by copies
}

// Within returns the path of a file that the settings of the project in dir name.
func Within(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// Open opens the project in dir. If the database is gone, empty, another project's, or not of this
// program's version, it returns an error with a remedy. The caller closes the project.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Project, error) {
	return open(ctx, dir, log, asIs)
}

// Upgrade is like Open, but first brings a database of an older version up to date. It is for
// callers that run while no older program uses the project.
func Upgrade(ctx context.Context, dir string, log *slog.Logger) (*Project, error) {
	return open(ctx, dir, log, upgrade)
}

// Adopt is Upgrade for an operator who has decided that the existing database is to be this
// project's, whatever it was before. A database that is gone or empty is created again.
func Adopt(ctx context.Context, dir string, log *slog.Logger) (*Project, error) {
	return open(ctx, dir, log, adopt)
}

// Unreachable reports whether an error of these functions means that the project's database or file
// storage does not answer. It may answer later.
func Unreachable(err error) bool { return store.Unreachable(err) || blob.Unreachable(err) }

// A liberty defines the changes that are allowed to a database when it is opened.
type liberty int

const (
	asIs    liberty = iota
	upgrade         // its tables may be changed
	adopt           // it may be any
)

func open(ctx context.Context, dir string, log *slog.Logger, may liberty) (*Project, error) {
	c, err := configured(ctx, dir)
	if err != nil {
		return nil, err
	}
	p := &Project{Dir: dir, Config: c, Log: log, keys: new(atomic.Pointer[keys])}
	if err := p.ReadKeys(); err != nil {
		return nil, err
	}
	if err := p.open(ctx, may); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Project) open(ctx context.Context, may liberty) (err error) {
	if err := p.openDatabase(ctx, may); err != nil {
		return err
	}
	if err := p.mounted(ctx); err != nil {
		return err
	}
	if p.Download, err = OpenTree(ctx, p.Dir, p.Config, DownloadDir); err != nil {
		return err
	}
	p.Upload, err = OpenTree(ctx, p.Dir, p.Config, UploadDir)
	return err
}

// mounted returns an error if a folder of files is missing or empty although the project has work. With
// a new one in its place, all results whose files it holds would fail.
func (p *Project) mounted(ctx context.Context) error {
	for _, name := range []string{DownloadDir, UploadDir} {
		dir := filepath.Join(p.Dir, name)
		if p.Config.Files != "" || blob.Made(dir) {
			continue
		}
		st, err := store.Read(ctx, p.Store, func(tx *store.View) (store.Status, error) { return tx.Status(0) })
		if err != nil || st.Workunits.Total == 0 {
			return err
		}
		return fmt.Errorf("%s is missing or empty: mount its disk. If it has no files, or they are lost, make the folder %s; results whose files are missing will fail", dir, filepath.Join(dir, ".part"))
	}
	return nil
}

// OpenTree opens the files of one kind, DownloadDir or UploadDir, of the project in dir
// where its settings have them. The caller closes it.
func OpenTree(ctx context.Context, dir string, c Config, name string) (blob.Tree, error) {
	local := filepath.Join(dir, name)
	if c.Files != "" {
		b, err := blob.OpenBucket(ctx, c.Files, name, local)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	d, err := blob.Open(local)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Close closes database and files.
func (p *Project) Close() error {
	var errs []error
	if p.Store != nil {
		errs = append(errs, p.Store.Close())
	}
	for _, d := range []blob.Tree{p.Download, p.Upload} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(errs...)
}

// Uploaded reports whether an output file is there.
func (p *Project) Uploaded(ctx context.Context, name string) (bool, error) {
	_, err := p.Upload.Size(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
