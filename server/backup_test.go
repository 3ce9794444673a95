package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/operate/backup"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

// reopened is the project in dir as a world, with nothing wrong.
func reopened(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{t: t, dir: dir}
	var err error
	if w.p, err = project.Open(t.Context(), dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.p.Close() })
	wrong, err := operate.Doctor(w.p).Examine(t.Context())
	w.must(err)
	for _, v := range wrong {
		t.Errorf("after restore: %v", v)
	}
	if w.web, w.admin, err = server.New(w.p, server.Part{}).Handlers(func() {}); err != nil {
		t.Fatal(err)
	}
	return w
}

// copies makes backups of a project at work, restores them somewhere else, and has the same
// volunteers finish there: all is computed and credited once. kinds are places to restore to.
func copies(t *testing.T, where func(n int) backup.Where) {
	const workunits = 24
	w := newWorld(t)
	w.setUp()
	key := w.user("ada@example.org")
	for i := range workunits {
		w.create(workgen.Params{Name: fmt.Sprint("wu", i), RscFpopsEst: 4.32e13}, fmt.Sprint("hello ", i))
	}
	stop := served(t, server.New(w.p, server.Part{}), listen(t))
	w.served = true
	into := t.TempDir()
	targets := []string{filepath.Join(into, "a.tar"), filepath.Join(into, "b.tar.gz"), filepath.Join(into, "c")}
	made := make(chan error, 1)
	go func() {
		var errs []error
		for _, to := range targets {
			rep, err := backup.Write(t.Context(), w.p, to, backup.Options{})
			if err == nil && (rep.Files < 10 || rep.Census["workunit"].Rows != workunits) {
				err = fmt.Errorf("%+v", rep)
			}
			errs = append(errs, err)
		}
		made <- errors.Join(errs...)
	}()
	var volunteers []*client
	for i := range 3 {
		volunteers = append(volunteers, &client{w: w, key: key, name: fmt.Sprint("host", i)})
	}
	rounds := 0
	for pending := true; pending; rounds++ {
		for _, c := range volunteers {
			if work := c.fetch(); len(work.Results) > 0 {
				c.compute(work)
			}
		}
		select {
		case err := <-made:
			w.must(err)
			pending = false
		default:
		}
	}
	t.Logf("%d rounds of work while %d backups were made", rounds, len(targets))
	stop()
	w.must(w.p.Close()) // the restored project must work without it

	for n, from := range targets {
		rep, err := backup.Check(t.Context(), from)
		w.must(err)
		dir := filepath.Join(into, fmt.Sprint("restored", n))
		back, err := backup.Restore(t.Context(), from, dir, where(n), slog.New(slog.DiscardHandler))
		if err != nil || back.Files != rep.Files || back.Identity != rep.Identity {
			t.Fatalf("%s: %+v, %v; want %+v", from, back, err, rep)
		}
		r := reopened(t, dir)
		for i := 0; !r.status().Done; i++ {
			if i > workunits {
				t.Fatalf("the restored project does not finish: %+v", r.status())
			}
			for _, c := range volunteers {
				c := &client{w: r, key: key, name: c.name, host: c.host, seqno: 1 << 20}
				if work := c.fetch(); len(work.Results) > 0 {
					c.compute(work)
				}
			}
			r.step()
		}
		st := r.status()
		// 100 cobblestones for half a day of 1 GFLOPS.
		if want := 100.0 * workunits; st.Workunits.Canonical != workunits || st.Results.Granted != workunits || st.Credit < want-0.01 || st.Credit > want+0.01 {
			t.Errorf("%s: %d workunits, %d results with credit, %v in all; want %d and %v", from, st.Workunits.Canonical, st.Results.Granted, st.Credit, workunits, want)
		}
		for i := range workunits {
			if text, _ := r.outcome(fmt.Sprint("wu", i)); text != fmt.Sprint("HELLO ", i) {
				t.Errorf("%s: outcome of wu%d is %q", from, i, text)
			}
		}
	}
}

func TestBackupBesideAServer(t *testing.T) {
	t.Parallel()
	copies(t, func(int) backup.Where { return backup.Where{} })
}

// Between SQLite and PostgreSQL, too.
func TestBackupOfAndToPostgres(t *testing.T) {
	t.Parallel()
	var pg *testpg.Server
	to := func(n int) backup.Where {
		if n == 0 {
			return backup.Where{Database: backup.Local}
		}
		return backup.Where{Database: pg.Database(t), Listen: "127.0.0.1:8081"}
	}
	t.Run("of SQLite", func(t *testing.T) {
		pg = testpg.Start(t)
		copies(t, to)
	})
	t.Run("of PostgreSQL", func(t *testing.T) {
		pg = onPostgres(t)
		copies(t, to)
	})
}

// meddled is a tree before which something happens.
type meddled struct {
	blob.Tree
	before func()
}

func (m meddled) Walk(ctx context.Context, fn func(name string, modified time.Time) error) error {
	m.before()
	return m.Tree.Walk(ctx, fn)
}

// The files that the copied state of the database needs are in the backup, even if all the work is
// done and its files would be deleted before they are copied.
func TestFilesOfABackupStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu"}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	work := c.fetch()
	p := *w.p
	p.Download = meddled{w.p.Download, func() {
		c.compute(work)
		if st := w.status(); !st.Done || st.Workunits.WaitingFileDelete != 1 {
			t.Errorf("done is %t, %d wait for deletion", st.Done, st.Workunits.WaitingFileDelete)
		}
	}}
	to := filepath.Join(t.TempDir(), "b")
	_, err := backup.Write(t.Context(), &p, to, backup.Options{})
	w.must(err)
	w.step()
	if n := w.files(w.p.Download); n != 1 {
		t.Errorf("%d files are left, want the program: deletion was not resumed", n)
	}
	dir := filepath.Join(t.TempDir(), "r")
	_, err = backup.Restore(t.Context(), to, dir, backup.Where{}, slog.New(slog.DiscardHandler))
	w.must(err)
	r := reopened(t, dir)
	if st := r.status(); st.Results.ByServerState["in_progress"] != 1 {
		t.Errorf("the copy is of a later state: %+v", st.Results)
	}
}

// A computer that attached after the backup never shares a number with a later one.
func TestNumbersAfterARestore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	key := w.user("a@example.org")
	to := filepath.Join(t.TempDir(), "b.tar")
	_, err := backup.Write(t.Context(), w.p, to, backup.Options{})
	w.must(err)
	before := &client{w: w, key: key, name: "before"}
	before.fetch()
	w.must(w.p.Close())
	dir := filepath.Join(t.TempDir(), "r")
	_, err = backup.Restore(t.Context(), to, dir, backup.Where{}, slog.New(slog.DiscardHandler))
	w.must(err)
	before.w = reopened(t, dir)
	after := &client{w: before.w, key: key, name: "after"}
	after.fetch()
	first := before.host
	before.fetch()
	if first != 1 || after.host <= 1000 || before.host == after.host {
		t.Errorf("the computer %d from before the restore is %d after it, and the new one is %d", first, before.host, after.host)
	}
}

// A copy with its own address can be served at the same time as the original.
func TestACopyTakesNoPortOfTheOriginal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `listen = ""`, `listen = "127.0.0.1:8080"`, `admin_listen = ""`, `admin_listen = "127.0.0.1:8081"`, `redirect_listen = ""`, `redirect_listen = ":80"`)
	to := filepath.Join(t.TempDir(), "b.tar")
	_, err := backup.Write(t.Context(), w.p, to, backup.Options{})
	w.must(err)
	w.must(w.p.Close())
	for _, tt := range []struct {
		name                    string
		where                   backup.Where
		listen, admin, redirect string
	}{
		{"in its place", backup.Where{}, "127.0.0.1:8080", "127.0.0.1:8081", ":80"},
		{"beside it", backup.Where{MasterURL: "http://127.0.0.1:9000/copy/"}, "", "", ""},
		{"as is said", backup.Where{MasterURL: "http://127.0.0.1:9000/copy/", Listen: ":9001", AdminListen: ":9002"}, ":9001", ":9002", ""},
	} {
		dir := filepath.Join(t.TempDir(), "r")
		where := tt.where
		where.Database, where.Files = backup.Local, backup.Local
		_, err := backup.Restore(t.Context(), to, dir, where, slog.New(slog.DiscardHandler))
		w.must(err)
		c, err := project.ReadConfig(dir)
		w.must(err)
		if c.Listen != tt.listen || c.AdminListen != tt.admin || c.RedirectListen != tt.redirect {
			t.Errorf("%s it listens at %q, %q and %q", tt.name, c.Listen, c.AdminListen, c.RedirectListen)
		}
	}
}

// A folder that is not a whole backup is not restored, and nothing is overwritten.
func TestBackupsThatAreNone(t *testing.T) {
	t.Parallel()
	w := used(t)
	p, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
	w.must(err)
	defer p.Close()
	good := filepath.Join(t.TempDir(), "good.tar")
	_, err = backup.Write(t.Context(), p, good, backup.Options{})
	w.must(err)
	whole, err := os.ReadFile(good)
	w.must(err)
	folder := filepath.Join(t.TempDir(), "folder")
	for _, tt := range []struct {
		name   string
		damage func() (from string)
		want   string
	}{
		{"cut off", func() string { return w.file("x.tar", string(whole[:len(whole)*2/3])) }, backup.ErrIncomplete.Error()},
		{"cut off before the checksums", func() string {
			return w.file("x.tar", string(whole[:strings.LastIndex(string(whole), "SHA256SUMS")]))
		}, backup.ErrIncomplete.Error()},
		{"a bit of the database", func() string {
			b := []byte(string(whole))
			b[strings.Index(string(b), "SQLite format 3")+5000] ^= 1
			return w.file("x.tar", string(b))
		}, "project.db has changed"},
		{"a key of another project", func() string {
			_, err := backup.Write(t.Context(), p, folder, backup.Options{})
			w.must(err)
			w.must(os.WriteFile(filepath.Join(folder, "project", "keys", "upload_private"), []byte("x"), 0o600))
			return folder
		}, "upload_private has changed"},
		{"a folder without checksums", func() string {
			w.must(os.Remove(filepath.Join(folder, "SHA256SUMS")))
			return folder
		}, backup.ErrIncomplete.Error()},
		{"a text", func() string { return w.file("x.tar", strings.Repeat("no backup\n", 1000)) }, "not a backup"},
		{"a short text", func() string { return w.file("x.tar", "hello") }, "not a backup"},
		{"cut off at once", func() string { return w.file("x.tar", string(whole[:1000])) }, "was cut off"},
		{"nothing", func() string { return filepath.Join(t.TempDir(), "nothing") }, "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := tt.damage()
			for what, do := range map[string]func(dir string) error{
				"check": func(string) error { _, err := backup.Check(t.Context(), from); return err },
				"restore": func(dir string) error {
					_, err := backup.Restore(t.Context(), from, dir, backup.Where{}, slog.New(slog.DiscardHandler))
					return err
				},
			} {
				dir := filepath.Join(t.TempDir(), "r")
				if err := do(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: got %v, want %q", what, err, tt.want)
				}
				if _, err := os.Stat(filepath.Join(dir, "server.toml")); err == nil {
					t.Errorf("%s: a project was made of it", what)
				}
			}
		})
	}
	if _, err := backup.Restore(t.Context(), good, w.dir, backup.Where{}, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over a project: %v", err)
	}
	if _, err := backup.Write(t.Context(), p, good, backup.Options{}); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("over a backup: %v", err)
	}
	if _, err := backup.Write(t.Context(), p, filepath.Join(w.dir, "b.tar"), backup.Options{}); err == nil || !strings.Contains(err.Error(), "in the project's folder") {
		t.Errorf("within the project: %v", err)
	}
	missing := filepath.Join(t.TempDir(), "no", "such", "b.tar")
	if _, err := backup.Write(t.Context(), p, missing, backup.Options{}); err == nil {
		t.Error("written to nowhere")
	}
	if held := storetest.Get(t, p.Store, (*store.View).DeletionHeld, time.Now()); held {
		t.Error("deletion is held, and no backup is made")
	}
}
