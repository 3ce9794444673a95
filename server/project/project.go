// Package project opens a project: a directory with settings, keys, files and a database,
// and sees that they belong together.
//
// Several processes may have one project open: operators add work (server/operate) while
// it is served (server). The package does neither.
package project

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/scheduler"
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
)

// A Project is an open project directory. It is safe for concurrent use.
type Project struct {
	Dir      string
	Config   Config
	Store    *store.Store
	Download blob.Tree
	Upload   blob.Tree

	Log *slog.Logger

	uploadKey *protocol.PrivateKey
	codeSign  *protocol.PublicKey
	oldKeys   []scheduler.OldKey
}

// Open opens the project in dir. It returns an error that says what to do if the
// database is gone, empty or another project's. The caller closes it.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Project, error) {
	return open(ctx, dir, log, false)
}

// Adopt is Open for an operator who has decided that the database that is there is to
// be this project's, whatever it was before. One that is gone or empty is made anew.
func Adopt(ctx context.Context, dir string, log *slog.Logger) (*Project, error) {
	return open(ctx, dir, log, true)
}

func open(ctx context.Context, dir string, log *slog.Logger, adopt bool) (*Project, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	p := &Project{Dir: dir, Config: c, Log: log}
	if err := p.ReadKeys(); err != nil {
		return nil, err
	}
	if err := p.open(ctx, adopt); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Project) open(ctx context.Context, adopt bool) (err error) {
	if p.Download, err = p.tree(ctx, DownloadDir); err != nil {
		return err
	}
	if p.Upload, err = p.tree(ctx, UploadDir); err != nil {
		return err
	}
	return p.openDatabase(ctx, adopt)
}

// tree opens the files of one kind.
func (p *Project) tree(ctx context.Context, name string) (blob.Tree, error) {
	local := filepath.Join(p.Dir, name)
	if p.Config.Files != "" {
		b, err := blob.OpenBucket(ctx, p.Config.Files, name, local)
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
