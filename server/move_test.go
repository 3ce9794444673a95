package server_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/internal/tests3"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate/backup"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/workgen"
)

// A project moves from SQLite to PostgreSQL and back while volunteers have work of it, and
// everything is credited once.
func TestMoveDatabase(t *testing.T) {
	t.Parallel()
	pg := testpg.Start(t)
	moves(t, func() backup.Where { return backup.Where{Database: pg.Database(t)} }, backup.Where{Database: backup.Local})
}

// Files move from folders to a bucket and back.
func TestMoveFiles(t *testing.T) {
	t.Parallel()
	s3 := tests3.Start(t)
	moves(t, func() backup.Where { return backup.Where{Files: s3.Bucket(t)} }, backup.Where{Files: backup.Local})
}

func moves(t *testing.T, there func() backup.Where, back backup.Where) {
	w := newWorld(t)
	w.setUp()
	c := &client{w: w, key: w.user("ada@example.org"), name: "a"}
	const workunits = 6
	for i := range workunits {
		w.create(workgen.Params{Name: fmt.Sprint("wu", i), RscFpopsEst: 4.32e13}, fmt.Sprint("hello ", i))
	}
	done, err := w.p.Serving()
	w.must(err)
	if _, err := backup.Move(t.Context(), w.dir, there(), w.p.Log); !errors.Is(err, project.ErrServed) {
		t.Errorf("moved under a server: %v", err)
	}
	w.must(done())
	c.compute(c.fetch())
	work := c.fetch() // it has this while the project moves
	for n, where := range []backup.Where{there(), back} {
		w.must(w.p.Close())
		m, err := backup.Move(t.Context(), w.dir, where, slog.New(slog.DiscardHandler))
		w.must(err)
		if (where.Database != "") != (m.Rows > 0) || (where.Files != "") != (m.Files > 0) {
			t.Errorf("moved %+v", m)
		}
		if n == 0 && where.Files != "" {
			for _, dir := range []string{"download", "upload"} { // the originals may be deleted
				w.must(os.RemoveAll(filepath.Join(w.dir, dir)))
			}
		}
		if n == 0 && where.Database != "" {
			if _, err := os.Stat(filepath.Join(w.dir, "project.db")); err == nil {
				t.Error("the old database is still in place")
			}
		}
		w = reopened(t, w.dir)
		c.w = w
		c.compute(work)
		work = c.fetch()
	}
	for len(work.Results) > 0 {
		c.compute(work)
		work = c.fetch()
	}
	st := w.status()
	if want := 100.0 * workunits; !st.Done || st.Results.Granted != workunits || st.Credit < want-0.01 || st.Credit > want+0.01 {
		t.Errorf("%+v", st)
	}
	for i := range workunits {
		if text, _ := w.outcome(fmt.Sprint("wu", i)); text != fmt.Sprint("HELLO ", i) {
			t.Errorf("outcome of wu%d is %q", i, text)
		}
	}
}

// Clients that have the old address are answered there. People are redirected.
func TestMoveURL(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu"}, "hello")
	c := &client{w: w, key: w.user("ada@example.org"), name: "a"}
	work := c.fetch()
	w.must(w.p.Close())
	const now = "http://projects.example/all/demo2/"
	m, err := backup.Move(t.Context(), w.dir, backup.Where{MasterURL: now}, slog.New(slog.DiscardHandler))
	if err != nil || m.OldMasterURL != master {
		t.Fatalf("%+v, %v", m, err)
	}
	w = reopened(t, w.dir)
	if w.p.Config.MasterURL != now || len(w.p.Config.FormerURLs) != 1 {
		t.Errorf("%s, formerly %v", w.p.Config.MasterURL, w.p.Config.FormerURLs)
	}
	c.w = w
	if reply := c.compute(work); reply.MasterURL != now { // at the addresses that it has
		t.Errorf("the reply names %s", reply.MasterURL)
	}
	if st := w.status(); !st.Done || st.Credit == 0 {
		t.Errorf("%+v", st)
	}
	if code, home := w.get(""); code != 200 || !strings.Contains(home, "<scheduler>"+now+"cgi</scheduler>") {
		t.Errorf("the old page: HTTP %d, %s", code, home)
	}
	res := w.do("GET", master+"account?x=1", nil)
	_ = res.Body.Close()
	if to := res.Header.Get("Location"); res.StatusCode != 308 || to != now+"account?x=1" {
		t.Errorf("people: HTTP %d to %s", res.StatusCode, to)
	}
	for _, page := range []string{"", "status", "get_project_config.php"} {
		res := w.do("GET", now+page, nil)
		_ = res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("%s at the new address: HTTP %d", page, res.StatusCode)
		}
	}
	w.must(w.p.Close())
	// Back again, and to a host of another name under the same path.
	for _, u := range []string{master, "http://other.example/demo/"} {
		_, err = backup.Move(t.Context(), w.dir, backup.Where{MasterURL: u}, slog.New(slog.DiscardHandler))
		w.must(err)
	}
	p, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
	w.must(err)
	defer p.Close()
	if got := strings.Join(p.Config.FormerURLs, " "); got != master+" "+now {
		t.Errorf("formerly %s", got)
	}
	_, err = server.New(p, server.Part{}).Handler(func() {})
	w.must(err)
}
