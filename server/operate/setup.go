// Package operate has the operator's actions: it sets a project up, adds applications, versions,
// accounts and files to it, and gives up, revives or directs work. All of them work on an open
// project, mostly while that is served.
//
// The package does not process work. Package server does that, and it need not run.
package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/trickler"
	"github.com/starling-grid/starling/server/validator"
	"github.com/starling-grid/starling/server/web/account"
	"github.com/starling-grid/starling/server/web/articles"
	"github.com/starling-grid/starling/server/workgen"
)

// A NewProject has the settings for a new project.
type NewProject struct {
	Name      string // as volunteers see it
	MasterURL string // to which they attach
	Database  string // URL of an empty PostgreSQL database ("": SQLite)
	Files     string // place of a bucket, see blob.OpenBucket ("": folders)
}

// Init makes a new project in dir, which must not exist or be empty.
func Init(ctx context.Context, dir string, n NewProject) error {
	c := project.DefaultConfig()
	c.Database, c.Files = n.Database, n.Files
	c.ResultsFolders = assimilator.ByBatchOrDay // older projects keep theirs, as people use the paths
	c.LongName = strings.TrimSpace(n.Name)
	var err error
	if c.MasterURL, err = project.MasterURL(n.MasterURL); err != nil {
		return err
	}
	for _, f := range []struct{ flag, key string }{{"--name", "long_name"}, {"--db", "database"}, {"--files", "files"}} {
		if err := c.Check(f.key); err != nil {
			return fmt.Errorf("%s: %w", f.flag, err)
		}
	}
	if err := project.Vacant(dir); err != nil {
		return err
	}
	if err := unused(ctx, c.Database); err != nil {
		return err
	}
	if c.Files != "" {
		if err := blob.Reach(ctx, c.Files); err != nil {
			return err
		}
	}
	for _, sub := range []string{"", project.DownloadDir, project.UploadDir, project.TemplatesDir, project.ResultsDir, project.SiteDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o750); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, project.KeysDir), 0o700); err != nil {
		return err
	}
	for _, pair := range []string{"code_sign", "upload"} {
		if err := project.MakeKeys(filepath.Join(dir, project.KeysDir, pair)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, project.SiteDir, articles.Home+".md"), []byte(articles.First(c.LongName, words.English)), 0o644); err != nil { //nolint:gosec // anybody may read it
		return err
	}
	mode := fs.FileMode(0o644)
	if c.Database != "" {
		mode = 0o600 // the URL may hold a password
	}
	// The settings are written last, except for the database, which Open creates: a directory
	// without settings is not a project.
	if err := atomicfile.Write(filepath.Join(dir, "server.toml"), []byte(c.Text()), mode); err != nil {
		return err
	}
	p, err := project.Adopt(ctx, dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return p.Close()
}

// unused sees that a PostgreSQL database is there and no other project's.
func unused(ctx context.Context, database string) error {
	if database == "" {
		return nil
	}
	taken := errors.New("the database already holds a project: a project needs its own database")
	found, err := store.Inspect(ctx, database)
	if err != nil || found.Empty {
		return err
	}
	if found.Identity != "" {
		return taken
	}
	s, err := store.Open(ctx, database)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.View(ctx, func(tx *store.View) error {
		st, err := tx.Status(0)
		if err == nil && st.Apps+st.Users+st.Workunits.Total > 0 {
			err = taken
		}
		return err
	})
}

// AddUser creates an account and returns its key. Without a password it is not possible to log in
// by e-mail. The key is enough to attach a computer.
func AddUser(ctx context.Context, p *project.Project, email, name, password string, now time.Time) (protocol.Authenticator, error) {
	if name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	hash := ""
	if password != "" {
		if fault := p.Config.PasswordFault(password); fault.Is() {
			return "", words.Refuse(fault)
		}
		hash = protocol.PasswordHash(password, email)
	}
	u, err := account.New(email, name, hash, now)
	if err != nil {
		return "", err
	}
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		id, err := tx.InsertUser(u)
		if err != nil {
			return err
		}
		return store.Change(tx.User, id, tx.SaveUser, func(u *store.User) { u.ConfirmedTime = now })
	})
	return u.Authenticator, err
}

// RenewKey gives an account a new key, which it returns. The old one is refused from
// then on.
func RenewKey(ctx context.Context, p *project.Project, email string) (protocol.Authenticator, error) {
	key := account.NewKey()
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		u, err := existing(tx.View, email)
		if err != nil {
			return err
		}
		now := u
		now.Authenticator = key
		return tx.SaveUser(u, now)
	})
	return key, err
}

// A NewApp has the settings for AddApp.
type NewApp struct {
	Name, FriendlyName     string
	Validator, Assimilator string
	Trickle                string        // handler of trickle-up messages ("": they are kept)
	Credit                 string        // credit for a valid result: flops, also "", fixed:N or runtime
	Weight                 float64       // share of the computing time, relative to other applications (0: 1)
	TaskTime               time.Duration // time that a result should take on its host (0: any)
	HomogeneousRedundancy  int           // 0 none, 1 fine, 2 coarse
	HomogeneousAppVersion  bool
	NonCPUIntensive        bool                 // its tasks need little CPU time and run in addition to others
	TargetNResults         int                  // above 1: adaptive replication
	Outputs                []workgen.OutputFile // of the template that is written (empty: one file, "out")
}

var appName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// AddApp adds an application and writes its output template, unless there is
// one.
func AddApp(ctx context.Context, p *project.Project, a NewApp, now time.Time) error {
	if !appName.MatchString(a.Name) || strings.Contains(a.Name, "..") {
		return fmt.Errorf("app name %q: want up to 64 letters, digits, '_', '-' and '.'", a.Name)
	}
	if a.FriendlyName == "" {
		a.FriendlyName = a.Name
	}
	if err := checkApp(p, a); err != nil {
		return err
	}
	if len(a.Outputs) == 0 {
		a.Outputs = []workgen.OutputFile{{Logical: "out", MaxNBytes: workgen.DefaultMaxNBytes}}
	}
	name := a.Name + "_out"
	path := filepath.Join(p.Dir, project.TemplatesDir, name)
	text := workgen.OutputText(a.Outputs)
	if old, err := os.ReadFile(path); err == nil {
		text = string(old)
	}
	if err := workgen.CheckOutput(name, text); err != nil {
		return err
	}
	if err := workgen.CheckNames(name, text, a.Assimilator); err != nil {
		return err
	}
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.InsertApp(store.App{
			CreateTime: now, Name: a.Name, UserFriendlyName: a.FriendlyName,
			Validator: a.Validator, Assimilator: a.Assimilator, Trickle: a.Trickle,
			HomogeneousRedundancy: a.HomogeneousRedundancy, HomogeneousAppVersion: a.HomogeneousAppVersion,
			TargetNResults: a.TargetNResults, Credit: a.Credit, Weight: a.Weight, TaskTime: a.TaskTime, NonCPUIntensive: a.NonCPUIntensive,
		})
		return err
	})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(text), 0o644)
}

// checkApp looks at the settings of an application.
func checkApp(p *project.Project, a NewApp) error {
	if _, err := validator.New(a.Validator, validator.Env{Dir: p.Dir}); err != nil {
		return err
	}
	if _, err := assimilator.New(a.Assimilator, assimilator.Env{Dir: p.Dir}); err != nil {
		return err
	}
	if _, err := credit.Parse(a.Credit); err != nil {
		return err
	}
	switch {
	case a.HomogeneousRedundancy < 0 || a.HomogeneousRedundancy > 2:
		return fmt.Errorf("homogeneous redundancy %d, want 0, 1 or 2", a.HomogeneousRedundancy)
	case a.TargetNResults < 0 || a.TargetNResults > 100:
		return fmt.Errorf("target_nresults %d, want 0 to 100", a.TargetNResults)
	case !(a.Weight >= 0 && a.Weight <= 1e6):
		return fmt.Errorf("weight %v, want up to 1e6; to send none of its work, use app stop", words.Float(a.Weight))
	}
	if a.TaskTime < 0 || a.TaskTime%time.Second != 0 {
		return fmt.Errorf("task time %v, want whole seconds, for instance 4h; 0 if it does not matter", a.TaskTime)
	}
	if a.Trickle != "" {
		if _, err := trickler.New(a.Trickle, p.Dir, a.Name); err != nil {
			return err
		}
	}
	return nil
}

func settingsOf(row store.App) NewApp {
	return NewApp{
		Name: row.Name, FriendlyName: row.UserFriendlyName, Validator: row.Validator, Assimilator: row.Assimilator,
		Trickle: row.Trickle, HomogeneousRedundancy: row.HomogeneousRedundancy,
		HomogeneousAppVersion: row.HomogeneousAppVersion, TargetNResults: row.TargetNResults, Credit: row.Credit, Weight: row.Weight, TaskTime: row.TaskTime,
		NonCPUIntensive: row.NonCPUIntensive,
	}
}

// SetApp changes the settings of an application. change is called with the current ones. A running
// server applies them automatically, and tries work again at now that former programs could not handle.
func SetApp(ctx context.Context, p *project.Project, name string, change func(a *NewApp), now time.Time) error {
	var old, row store.App
	err := p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		if row, err = tx.AppByName(name); err != nil {
			return err
		}
		old = row
		a := settingsOf(row)
		change(&a)
		if err := checkApp(p, a); err != nil {
			return err
		}
		row.UserFriendlyName, row.Validator, row.Assimilator, row.Trickle = a.FriendlyName, a.Validator, a.Assimilator, a.Trickle
		row.HomogeneousRedundancy, row.HomogeneousAppVersion = a.HomogeneousRedundancy, a.HomogeneousAppVersion
		row.TargetNResults, row.Credit, row.Weight, row.TaskTime = a.TargetNResults, a.Credit, a.Weight, a.TaskTime
		row.NonCPUIntensive = a.NonCPUIntensive
		return tx.SaveApp(old, row)
	})
	if err == nil && (row.Validator != old.Validator || row.Assimilator != old.Assimilator || row.Trickle != old.Trickle || row.Credit != old.Credit) {
		_, err = RetryApp(ctx, p, name, now)
	}
	return err
}

// Generator prepares to make workunits of an application.
func Generator(ctx context.Context, p *project.Project, app string, now time.Time) (*workgen.Generator, error) {
	a, err := store.Read(ctx, p.Store, func(tx *store.View) (store.App, error) { return tx.AppByName(app) })
	if err != nil {
		return nil, err
	}
	return workgen.New(p.Store, p.Download, p.Dir, a, now)
}
