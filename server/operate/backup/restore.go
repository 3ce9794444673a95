package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// Places for the data of a restored project, for Where.
const (
	Local = "local" // in its folder: SQLite, or folders for files
)

// A Where has the settings that differ in the restored project. The value "" leaves a setting as in
// the backup.
type Where struct {
	Database    string // Local, or the URL of an empty PostgreSQL database
	Files       string // Local, or the place of a bucket, see blob.OpenBucket
	MasterURL   string
	Listen      string
	AdminListen string
}

// Check reads a whole backup and returns its description, or an error if it is damaged.
func Check(ctx context.Context, from string) (Report, error) {
	return each(from, func(Head, []byte) (func(entry, io.Reader) error, error) {
		return func(entry, io.Reader) error { return context.Cause(ctx) }, nil
	})
}

// Restore makes a project from a backup in dir, which is empty or does not exist. If w has another
// address, the project listens there and on no other port of the backup, since the original may be
// served on the same computer. Its database must be empty, and so must its bucket, unless Where
// names it. The settings are written last. An error before that empties dir again.
func Restore(ctx context.Context, from, dir string, w Where, log *slog.Logger) (rep Report, err error) {
	if err := project.Vacant(dir); err != nil {
		return rep, err
	}
	var settings string
	var c project.Config
	var into *intake
	rep, err = each(from, func(_ Head, text []byte) (func(entry, io.Reader) error, error) {
		if w.MasterURL != "" {
			text = []byte(project.EditSettings(string(text), map[string]any{"listen": "", "admin_listen": "", "redirect_listen": ""}))
		}
		if settings, c, err = w.settings(string(text)); err != nil {
			return nil, err
		}
		if err := vacant(ctx, c, w); err != nil {
			return nil, err
		}
		into, err = newIntake(ctx, dir, c)
		if err != nil {
			return nil, err
		}
		return into.take, nil
	})
	if into != nil {
		defer into.close()
	}
	if err == nil {
		err = settle(ctx, dir, c, rep.Head)
	}
	if err != nil {
		if into != nil {
			err = errors.Join(err, empty(dir))
		}
		return rep, err
	}
	mode := fs.FileMode(0o644)
	if c.Database != "" {
		mode = 0o600 // the URL may hold a password
	}
	if err := atomicfile.Write(filepath.Join(dir, "server.toml"), []byte(settings), mode); err != nil {
		return rep, err
	}
	p, err := project.Open(ctx, dir, log)
	if err != nil {
		return rep, err
	}
	return rep, p.Close()
}

// empty removes the files and folders in dir.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// settings returns the settings of the restored project.
func (w Where) settings(text string) (string, project.Config, error) {
	changes := make(map[string]any)
	for key, value := range map[string]string{
		"database": w.Database, "files": w.Files, "listen": w.Listen, "admin_listen": w.AdminListen,
	} {
		switch value {
		case "":
		case Local:
			changes[key] = ""
		default:
			changes[key] = value
		}
	}
	if w.MasterURL != "" {
		u, err := project.MasterURL(w.MasterURL)
		if err != nil {
			return "", project.Config{}, err
		}
		changes["master_url"] = u
	}
	text = project.EditSettings(text, changes)
	c, err := project.ParseConfig("server.toml", []byte(text))
	return text, c, err
}

// vacant sees that nothing is overwritten.
func vacant(ctx context.Context, c project.Config, w Where) error {
	if c.Database != "" {
		found, err := store.Inspect(ctx, c.Database)
		if err != nil {
			return err
		}
		if !found.Empty && found.Identity != "" {
			return errors.New("the database already holds a project: name an empty one with --db, or --db local for a file in the project's folder")
		}
	}
	if c.Files == "" || w.Files != "" {
		return nil
	}
	b, err := blob.OpenBucket(ctx, c.Files, project.DownloadDir, os.TempDir())
	if err != nil {
		return err
	}
	defer b.Close()
	taken := errors.New("taken")
	switch err := b.Walk(ctx, func(string, time.Time) error { return taken }); {
	case errors.Is(err, taken):
		return fmt.Errorf("the bucket already holds files: name another one with --files, or --files local for folders in the project's folder; if these files are the project's, and no server uses them, name it (--files %q)", c.Files)
	default:
		return err
	}
}

// An intake takes the files of a backup into a project's folder, and to its bucket.
type intake struct {
	ctx   context.Context
	dir   string
	trees map[string]*blob.Bucket // by folder (nil: none)
	dirs  map[string]bool
}

func newIntake(ctx context.Context, dir string, c project.Config) (*intake, error) {
	in := &intake{ctx: ctx, dir: dir, dirs: make(map[string]bool)}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, project.KeysDir), 0o700); err != nil {
		return nil, err
	}
	in.trees = make(map[string]*blob.Bucket)
	for _, name := range []string{project.DownloadDir, project.UploadDir} {
		if c.Files == "" {
			d, err := blob.Open(filepath.Join(dir, name))
			if err == nil {
				err = d.Close()
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		b, err := blob.OpenBucket(ctx, c.Files, name, filepath.Join(dir, name))
		if err != nil {
			in.close()
			return nil, err
		}
		in.trees[name] = b
	}
	return in, nil
}

func (in *intake) close() {
	for _, t := range in.trees {
		_ = t.Close()
	}
}

func (in *intake) take(e entry, r io.Reader) error {
	if in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	name, ok := strings.CutPrefix(e.name, projectDir)
	if !ok {
		return errors.New("is not of a project")
	}
	top, _, _ := strings.Cut(name, "/")
	if t := in.trees[top]; t != nil {
		_, err := t.Put(in.ctx, path.Base(name), r)
		return err
	}
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return errors.New("is not a name for a file here")
	}
	at := filepath.Join(in.dir, local)
	if dir := filepath.Dir(at); !in.dirs[dir] {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			return err
		}
		in.dirs[dir] = true
	}
	e.mode |= 0o600 // else it could not be replaced some day
	return writeFile(at, e, r)
}

// settle puts the database where it belongs, and makes all that was taken durable.
func settle(ctx context.Context, dir string, c project.Config, h Head) error {
	file := filepath.Join(dir, "project.db")
	if h.DatabaseVersion > store.Latest {
		return store.Found{Version: h.DatabaseVersion}.Fits()
	}
	s, err := store.Open(ctx, file) // brings it up to date
	if err != nil {
		return err
	}
	if err = s.Check(ctx); err == nil {
		err = s.SkipNumbers(ctx)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	census, err := store.TakeCensus(ctx, file)
	if err != nil {
		return err
	}
	if h.DatabaseVersion == store.Latest {
		if d := h.Census.Differences(census); len(d) > 0 {
			return fmt.Errorf("the database in the backup is not the one that was copied: it differs in %s", strings.Join(d, ", "))
		}
	}
	if c.Database != "" {
		if _, err := store.Copy(ctx, file, c.Database); err != nil {
			return err
		}
		for _, name := range []string{file, file + "-wal", file + "-shm"} {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return atomicfile.SyncDir(at)
	})
}
