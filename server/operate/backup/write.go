package backup

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

const (
	// holdFor is the time after this process's last sign of life in which nothing is deleted.
	// holdEvery is the interval at which it gives one.
	holdFor   = 10 * time.Minute
	holdEvery = time.Minute
)

// Options select the content of a backup.
type Options struct {
	// WithoutFiles leaves out the files that are sent to computers or uploaded by them, for a
	// bucket that is backed up by other means.
	WithoutFiles bool
}

// Write makes a backup of an open project at to: a folder that is empty or does not exist,
// or a file whose name ends with .tar, .tar.gz or .tgz. The project may be served
// meanwhile, also by other computers. After an error nothing is left.
func Write(ctx context.Context, p *project.Project, to string, o Options) (rep Report, err error) {
	if err := outside(p.Dir, to); err != nil {
		return rep, err
	}
	done, err := p.Serving() // keeps keys from being rotated
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, done()) }()
	ctx, release, err := hold(ctx, p)
	if err != nil {
		return rep, err
	}
	defer release()
	s, err := newSink(to)
	if err != nil {
		return rep, err
	}
	defer func() {
		if err != nil {
			s.drop()
		}
	}()
	t := &tally{sink: s, sums: make(sums)}
	if rep.Head, err = write(ctx, p, t, o); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return rep, err
	}
	rep.Files, rep.Bytes = t.files, t.bytes
	return rep, nil
}

// outside sees that a backup does not lie in the project's folder: the next one would
// contain it.
func outside(dir, to string) error {
	real := func(path string) (string, error) {
		path, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		if whole, err := filepath.EvalSymlinks(path); err == nil {
			return whole, nil
		}
		above, err := filepath.EvalSymlinks(filepath.Dir(path)) // it does not exist yet
		return filepath.Join(above, filepath.Base(path)), err
	}
	dir, err := real(dir)
	if err != nil {
		return err
	}
	if to, err = real(to); err != nil {
		return err
	}
	if below, err := filepath.Rel(dir, to); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("%s is in the project's folder: choose a place outside of it, best on another disk", to)
	}
	return nil
}

func write(ctx context.Context, p *project.Project, t *tally, o Options) (h Head, err error) {
	scratch := t.scratch()
	defer os.Remove(scratch) //nolint:errcheck // it may be gone
	h = Head{
		Format: format, Program: version.Version, Created: time.Now().UTC().Truncate(time.Second), Project: p.Config.LongName,
		MasterURL: p.Config.MasterURL, DatabaseVersion: store.Latest, WithoutFiles: o.WithoutFiles,
	}
	if h.Census, err = store.Snapshot(ctx, p.Database(), scratch); err != nil {
		return h, err
	}
	h.Identity, err = store.Read(ctx, p.Store, (*store.View).Identity)
	if err != nil {
		return h, err
	}
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return h, err
	}
	if err := t.putBytes(entry{name: headName, mode: 0o600, modified: h.Created}, append(text, '\n')); err != nil {
		return h, err
	}
	if err := putFile(t, filepath.Join(p.Dir, "server.toml"), settingsName); err != nil {
		return h, err
	}
	if err := putFile(t, scratch, databaseName); err != nil {
		return h, err
	}
	if err := putFolder(ctx, t, p); err != nil {
		return h, err
	}
	if !o.WithoutFiles {
		if err := putTree(ctx, t, p.Download, projectDir+project.DownloadDir+"/"); err != nil {
			return h, err
		}
		if err := putTree(ctx, t, p.Upload, projectDir+project.UploadDir+"/"); err != nil {
			return h, err
		}
	}
	sums := t.sums.text()
	e := entry{name: sumsName, mode: 0o600, size: int64(len(sums)), modified: h.Created}
	if err := t.sink.put(e, strings.NewReader(sums)); err != nil {
		return h, err
	}
	return h, t.finish()
}

// hold keeps the project's files from being deleted until release is called. The context
// ends if that cannot be ensured any longer.
func hold(ctx context.Context, p *project.Project) (_ context.Context, release func(), err error) {
	holder := "backup " + rand.Text()
	renew := func(ctx context.Context) error {
		return p.Store.Update(ctx, func(tx *store.Tx) error { return tx.HoldDeletion(holder, time.Now().Add(holdFor)) })
	}
	if err := renew(ctx); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		last := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(holdEvery):
			}
			err := renew(ctx)
			switch {
			case err == nil:
				last = time.Now()
			case time.Since(last) > holdFor-2*holdEvery:
				cancel(fmt.Errorf("the project's files cannot be kept from being deleted: %w", err))
				return
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-ended
		ctx := context.WithoutCancel(ctx)
		err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.ReleaseDeletion(holder, time.Now()) })
		if err != nil {
			p.Log.Warn("deletion of files is held for a while", "minutes", holdFor.Minutes(), "err", err)
		}
	}, nil
}

// own reports whether a file of a project's folder is not copied as it is: the database, the
// project's files, and the state of running servers.
func own(name string) bool {
	switch name {
	case "server.toml", project.DownloadDir, project.UploadDir:
		return true
	}
	return project.IsRunState(name) || strings.HasPrefix(name, "project.db")
}

// putFolder copies the other files in the project's folder. Links in the folder itself are
// followed, as results may be on a separate disk. Links further down are not copied.
func putFolder(ctx context.Context, t *tally, p *project.Project) error {
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if own(e.Name()) || temporary(e.Name()) {
			continue
		}
		top := filepath.Join(p.Dir, e.Name())
		if top, err = filepath.EvalSymlinks(top); err != nil {
			return err
		}
		err := filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.Is(err, fs.ErrNotExist): // it was there a moment ago
				return nil
			case err != nil:
				return err
			case d.IsDir():
				if at != top && temporary(d.Name()) {
					return fs.SkipDir
				}
				return nil
			case !d.Type().IsRegular():
				p.Log.Warn("not in the backup: it is neither a file nor a folder", "path", at)
				return nil
			case temporary(d.Name()):
				return nil
			}
			below, err := filepath.Rel(top, at)
			if err != nil {
				return err
			}
			name := path.Join(projectDir, e.Name(), filepath.ToSlash(below))
			if !valid(name) {
				p.Log.Warn("not in the backup: its name has characters that no project uses", "path", at)
				return nil
			}
			err = putFile(t, at, name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// temporary reports whether a file is one that is being written.
func temporary(name string) bool {
	return name == ".tmp" || strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
}

// putFile copies a file up to its current length, even if it grows meanwhile.
func putFile(t *tally, from, name string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	return t.put(entry{name, st.Size(), st.Mode(), st.ModTime()}, io.LimitReader(f, st.Size()))
}

// putTree copies the files of a tree that are whole.
func putTree(ctx context.Context, t *tally, tree blob.Tree, prefix string) error {
	return tree.Walk(ctx, func(name string, modified time.Time) error {
		f, err := tree.Open(ctx, name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, protocol.ErrFileName) { // it has not arrived whole
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close()
		e := entry{prefix + blob.Path(name), f.NBytes, 0o644, modified}
		if _, twice := t.sums[e.name]; twice { // whole, and in part as well
			return nil
		}
		return t.put(e, f)
	})
}
