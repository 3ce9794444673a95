package project

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/store"
)

// identityFile, among the keys, identifies the database that they belong to: the database has the
// same text. A project that is older than the file gets one when it is first opened.
const identityFile = "project_id"

// openDatabase opens the database if it is this project's. A database that is gone, empty or
// another project's would silently start the project over, with no accounts and no work, under keys
// that volunteers trust. A database of another version would be read wrongly, or changed while an
// older program uses it.
func (p *Project) openDatabase(ctx context.Context, may liberty) error {
	where := p.Database()
	path := filepath.Join(p.Dir, KeysDir, identityFile)
	ours, err := readIdentity(path)
	if err != nil {
		return err
	}
	made := p.newIdentity()
	var found store.Found
	p.Store, err = store.OpenIf(ctx, where, func(f store.Found) error {
		found = f
		return p.allowed(f, may, ours, made)
	})
	if err != nil {
		return err
	}
	id := cmp.Or(ours, made)
	if found.Identity != id {
		err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.SetIdentity(id) })
		if err != nil {
			return err
		}
	}
	if ours != id {
		return atomicfile.Write(path, []byte(id+"\n"), 0o600)
	}
	return nil
}

// allowed returns why the database that was found is not to be opened. It makes the file if that is missing.
func (p *Project) allowed(found store.Found, may liberty, ours, made string) error {
	if may != adopt {
		if why := mismatch(ours, made, found); why != "" {
			return p.foreign(why)
		}
	}
	switch err := found.Fits(); {
	case errors.Is(err, store.ErrNewer):
		return tooNew(err)
	case err != nil && may == asIs:
		return fmt.Errorf("%w. Nothing was changed.\nStop the servers of the project, make a backup, and run starling-server migrate %s (serve does it as well)", err, words.Shell(p.Dir))
	case err != nil:
		p.Log.Info("updating the database", "from", found.Version, "to", store.Latest)
	}
	if p.Config.Database != "" || !found.Empty {
		return nil
	}
	// The file has account keys. SQLite gives its other files the same mode.
	f, err := os.OpenFile(p.Database(), os.O_CREATE, 0o600)
	if err == nil {
		err = f.Close()
	}
	return err
}

func tooNew(err error) error {
	return fmt.Errorf("%w. Nothing was changed.\nInstall that version of starling-server, or a later one; to return to this one, restore a backup from before the upgrade", err)
}

// configured returns the settings of the project in dir. Settings of a newer version may have keys that
// this version takes for mistakes. If the database is newer, too, the error is about that.
func configured(ctx context.Context, dir string) (Config, error) {
	c, err := ReadConfig(dir)
	if err == nil {
		return c, nil
	}
	found, unreadable := store.Inspect(ctx, database(dir, c))
	if newer := found.Fits(); unreadable == nil && errors.Is(newer, store.ErrNewer) {
		err = tooNew(newer)
	}
	return c, err
}

// DatabaseVersion returns the version of the tables of the project in dir, or 0 if there are no
// tables.
func DatabaseVersion(ctx context.Context, dir string) (int64, error) {
	c, err := configured(ctx, dir)
	if err != nil {
		return 0, err
	}
	found, err := store.Inspect(ctx, database(dir, c))
	return found.Version, err
}

// mismatch returns the reason why a database is not the project's, or "". ours is the identity
// stored with the keys. made is the identity that the keys would get if the project is older than
// identities.
func mismatch(ours, made string, found store.Found) string {
	switch {
	case found.Empty:
		return "is gone or empty"
	case ours == "" && found.Identity == "": // both older
		return ""
	case found.Identity == cmp.Or(ours, made):
		return ""
	case found.Identity == "":
		return "is not marked as this project's"
	}
	return "is another project's"
}

func (p *Project) foreign(why string) error {
	what := "the database " + filepath.Join(p.Dir, databaseFile)
	if p.Config.Database != "" {
		what = "the database that server.toml names"
	}
	return fmt.Errorf(`%s %s, but keys/ belongs to a project that is in use. Nothing was changed.
Restore the database from a backup, or correct "database" in server.toml.
If you mean to run this project on that database from now on: starling-server doctor %s --adopt
(an empty one has no accounts and no work)`, what, why, words.Shell(p.Dir))
}

func readIdentity(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = fmt.Errorf("%s is empty: restore it from a backup, or remove it", path)
	}
	return strings.TrimSpace(string(text)), err
}

// newIdentity is made of the key that is never rotated, so that processes which open
// an old project at the same time agree, and one that dies halfway does no harm.
func (p *Project) newIdentity() string {
	sum := sha256.Sum256([]byte("project identity\x00" + p.UploadKey().Public().Text()))
	return hex.EncodeToString(sum[:16])
}

// Database returns the place of the project's database, in the form for store.Open.
func (p *Project) Database() string {
	return database(p.Dir, p.Config)
}

func database(dir string, c Config) string {
	return cmp.Or(c.Database, filepath.Join(dir, databaseFile))
}
