package server_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// used makes a project with work in its database, and closes it.
func used(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.setUp()
	w.user("ada@example.org")
	for range 40 { // some dozens of pages
		w.create(workgen.Params{CommandLine: strings.Repeat("x", 2000)}, "text")
	}
	w.must(w.p.Close())
	return w
}

// serve runs the project as the command of this name does, and returns the outcome.
func serve(t *testing.T, dir string) error {
	t.Helper()
	p, err := project.Upgrade(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer p.Close()
	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // it stops when it has answered and the database is checked, or it shut the door
		defer cancel()
		for checking := true; checking && ctx.Err() == nil; {
			res, err := http.Get("http://" + l.Addr().String()) //nolint:noctx // on loopback
			if err != nil {
				return
			}
			_ = res.Body.Close()
			c, err := p.Check()
			checking = err == nil && c != nil
		}
	}()
	return server.New(p, server.Part{Roles: []string{"web"}}).Serve(ctx, l)
}

// examine acts like the command doctor.
func examine(t *testing.T, dir string) error {
	t.Helper()
	p, err := project.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer p.Close()
	wrong, err := operate.Doctor(p).Examine(t.Context())
	if len(wrong) > 0 {
		err = errors.Join(err, errors.New(wrong[0].String()+wrong[0].Mend))
	}
	return err
}

// A project is not served from a database that is not its own, or damaged.
func TestNoOtherDatabase(t *testing.T) {
	t.Parallel()
	choose(t, func(g *ground) { g.ownKeys = true })
	db := func(w *world) string { return filepath.Join(w.dir, "project.db") }
	keys := func(w *world) string { return filepath.Join(w.dir, "keys", "project_id") }
	rewrite := func(t *testing.T, path string, change func(b []byte) []byte) {
		t.Helper()
		b, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, change(b), 0o600))
	}
	const restore = "Restore the database from a backup"
	for _, tt := range []struct {
		name       string
		corruption func(t *testing.T, w *world)
		opens      bool // for commands that do not meet the damage
		wants      string
		cures      string
		serves     bool
	}{
		{"untouched", func(*testing.T, *world) {}, true, "", "", true},
		{"gone", func(t *testing.T, w *world) { w.must(os.Remove(db(w))) }, false, "is gone or empty", restore, false},
		{"emptied", func(t *testing.T, w *world) { w.must(os.Truncate(db(w), 0)) }, false, "is gone or empty", restore, false},
		{"a file of SQLite's without tables", func(t *testing.T, w *world) {
			w.must(os.Remove(db(w)))
			s, err := store.Open(t.Context(), db(w))
			w.must(err)
			w.must(s.Close())
		}, false, "is not marked as this project's", restore, false},
		{"cut off", func(t *testing.T, w *world) {
			st, err := os.Stat(db(w))
			w.must(err)
			w.must(os.Truncate(db(w), st.Size()/2/4096*4096))
		}, false, store.ErrDamaged.Error(), "restore a backup", false},
		{"another kind of file", func(t *testing.T, w *world) {
			rewrite(t, db(w), func(b []byte) []byte { return bytes.Repeat([]byte("text\n"), 10_000) })
		}, false, store.ErrDamaged.Error(), "restore a backup", false},
		{"pages of noise after a crash", func(t *testing.T, w *world) {
			w.must(os.WriteFile(filepath.Join(w.dir, "serving"), nil, 0o600))
			rewrite(t, db(w), func(b []byte) []byte {
				for page := len(b)/4096 - 8; page < len(b)/4096; page++ {
					for i := range 4096 {
						b[page*4096+i] = byte(i*31 + page)
					}
				}
				return b
			})
		}, true, "", "restore a backup", false},
		{"of another project", func(t *testing.T, w *world) {
			b, err := os.ReadFile(db(used(t)))
			w.must(err)
			rewrite(t, db(w), func([]byte) []byte { return b })
		}, false, "is another project's", restore, false},
		{"of another project, though this one is older than identities", func(t *testing.T, w *world) {
			b, err := os.ReadFile(db(used(t)))
			w.must(err)
			rewrite(t, db(w), func([]byte) []byte { return b })
			w.must(os.Remove(keys(w)))
		}, false, "is another project's", restore, false},
		{"this project is older than identities", func(t *testing.T, w *world) { forget(t, w) }, true, "", "", true},
		{"a crash while it got its identity", func(t *testing.T, w *world) { w.must(os.Remove(keys(w))) }, true, "", "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := used(t)
			tt.corruption(t, w)
			before, _ := os.ReadFile(db(w))
			for _, x := range []struct {
				who string
				do  func(*testing.T, string) error
			}{{"serve", serve}, {"doctor", examine}} { // serve upgrades an older project
				who := x.who
				err := x.do(t, w.dir)
				if tt.serves {
					w.must(err)
					continue
				}
				if err == nil {
					t.Errorf("%s finds nothing", who)
				} else if !strings.Contains(err.Error(), tt.wants) || !strings.Contains(err.Error(), tt.cures) {
					t.Errorf("%s: got %v", who, err)
				}
			}
			p, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
			if err == nil {
				_ = p.Close()
			}
			if (err == nil) != tt.opens {
				t.Errorf("another command: %v", err)
			}
			if after, _ := os.ReadFile(db(w)); !tt.opens && !bytes.Equal(before, after) {
				t.Error("the database was changed")
			}
			if id, err := os.ReadFile(keys(w)); tt.serves && (err != nil || len(id) != 33) {
				t.Errorf("identity %q, %v", id, err)
			}
		})
	}
}

// forget takes a project back to its state before it had an identity.
func forget(t *testing.T, w *world) {
	t.Helper()
	w.must(os.Remove(filepath.Join(w.dir, "keys", "project_id")))
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "project.db"))
	w.must(err)
	defer db.Close()
	queries := []string{"DELETE FROM legal_moves"} // they are made again
	for _, table := range []string{"platform", "app", "app_version"} {
		for _, what := range []string{"insert", "update", "delete"} {
			queries = append(queries, "DROP TRIGGER "+table+"_"+what+"_stamp")
		}
	}
	for _, table := range []string{"workunit", "result"} {
		for _, what := range []string{"insert", "update", "delete"} {
			queries = append(queries, "DROP TRIGGER "+table+"_settled_"+what)
		}
		queries = append(queries, "DROP TRIGGER "+table+"_made_insert", "DROP TRIGGER "+table+"_made_delete", "DROP TABLE settled_"+table, "DROP TABLE made_"+table)
	}
	queries = append(queries, "DROP TRIGGER result_token_use", "DROP TRIGGER result_token_use_again", "DROP TABLE token_use", "DROP TABLE token_file", "DROP TABLE token_bytes",
		"DROP TABLE credited_energy", "ALTER TABLE result DROP COLUMN energy_wh")
	for _, index := range []string{"workunit_finished", "result_inactive", "result_over", "result_valid", "result_in_progress"} {
		queries = append(queries, "DROP INDEX "+index)
	}
	queries = append(queries, "CREATE INDEX result_in_progress ON result (hostid) WHERE server_state = 4")
	queries = append(queries,
		"DROP INDEX workunit_batch_unfinished", "DROP TABLE project", "DROP TABLE deletion_hold", "DROP TABLE audit", "DROP TABLE web_session", "DROP INDEX host_app_version_vote", "DROP INDEX result_unsent", "ALTER TABLE result DROP COLUMN kind",
		"CREATE INDEX result_unsent ON result (priority DESC, id) WHERE server_state = 2",
		"ALTER TABLE app DROP COLUMN credit", "DROP TABLE catalog", "ALTER TABLE workunit DROP COLUMN credit",
		"DELETE FROM goose_db_version WHERE version_id >= 17",
	)
	queries = append(queries, "DROP TRIGGER workunit_moves", "DROP INDEX workunit_suspicious", "ALTER TABLE workunit DROP COLUMN retries", "ALTER TABLE workunit DROP COLUMN retried_resultid")
	for _, column := range []string{"last_chance", "suspicious", "target_type", "target_id", "tokenid", "own_priority"} {
		queries = append(queries, "ALTER TABLE workunit DROP COLUMN "+column)
	}
	queries = append(queries, "DROP TABLE team", `DROP INDEX user_teamid`, "DROP TABLE forgotten", "DROP TABLE token", "DROP TABLE api_batch", "DROP TABLE front", "DROP TABLE trouble", "DROP TABLE clock", "DROP INDEX workunit_open", "DROP INDEX user_trusted", "DROP TABLE awaited_output", "DROP INDEX result_open", "DROP TABLE operator_session", "DROP TABLE operator_link", "DROP INDEX result_failed", "DROP INDEX result_not_valid", "DROP INDEX workunit_given_up", "DROP TABLE made_copy", "DROP INDEX result_over_hostid",
		"ALTER TABLE app DROP COLUMN task_time")
	for _, column := range []string{"banned_time", "ban_reason", "deleted_time", "hide_hosts", "no_export", "confirmed_time", "trusted"} {
		queries = append(queries, `ALTER TABLE "user" DROP COLUMN `+column)
	}
	for _, column := range []string{"platforms", "m_usable", "d_usable", "unsuited", "coprocs", "client_version", "label", "hidden"} {
		queries = append(queries, "ALTER TABLE host DROP COLUMN "+column)
	}
	for _, column := range []string{"et_n", "et_avg", "et_var", "et_odd", "et_odd_avg", "benchmark_flops", "vote", "error_rate", "turnaround_n", "turnaround_avg"} {
		queries = append(queries, "ALTER TABLE host_app_version DROP COLUMN "+column)
	}
	queries = append(queries, "ALTER TABLE file_order DROP COLUMN status")
	for _, query := range queries {
		_, err := db.ExecContext(t.Context(), query)
		w.must(err)
	}
}

// An operator who has lost the database starts over under the same keys, and has to confirm it.
func TestADatabaseIsAdopted(t *testing.T) {
	t.Parallel()
	w := used(t)
	w.must(os.Remove(filepath.Join(w.dir, "project.db")))
	if err := serve(t, w.dir); err == nil {
		t.Fatal("served without a database")
	}
	p, err := project.Adopt(t.Context(), w.dir, slog.New(slog.DiscardHandler))
	w.must(err)
	w.must(p.Close())
	w.must(serve(t, w.dir))
	if st, err := os.Stat(filepath.Join(w.dir, "project.db")); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("project.db: %v, %v", st.Mode(), err)
	}
}

// The same holds of a database on PostgreSQL.
func TestNoOtherDatabaseOnPostgres(t *testing.T) {
	t.Parallel()
	pg := onPostgres(t)
	w := used(t)
	w.must(serve(t, w.dir))
	ours := w.p.Config.Database
	other := used(t).p.Config.Database
	for _, tt := range []struct{ name, url, want string }{
		{"made anew", pg.Database(t), "is gone or empty"},
		{"another project's", other, "is another project's"},
	} {
		w.edit(ours, tt.url)
		for who, do := range map[string]func(*testing.T, string) error{"serve": serve, "doctor": examine} {
			if err := do(t, w.dir); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %s: got %v", tt.name, who, err)
			}
		}
		w.edit(tt.url, ours)
	}
	w.must(serve(t, w.dir))
	err := operate.Init(t.Context(), filepath.Join(t.TempDir(), "q"), operate.NewProject{Name: "Q", MasterURL: master, Database: ours})
	if err == nil || !strings.Contains(err.Error(), "already holds a project") {
		t.Errorf("a second project in one database: %v", err)
	}
}

// Tables of another version are refused, and only serve and migrate change older ones.
func TestADatabaseOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, change string
		older        bool
		want         []string
	}{
		{"newer", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)", false, []string{"newer version", "99999", "Install that version"}},
		{"older", "", true, []string{"older version", "starling-server migrate"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := used(t)
			if tt.older {
				forget(t, w)
			} else {
				db, err := sql.Open("sqlite", filepath.Join(w.dir, "project.db"))
				w.must(err)
				_, err = db.ExecContext(t.Context(), tt.change)
				w.must(err)
				w.must(db.Close())
			}
			refuses := func(who string, err error) {
				t.Helper()
				for _, text := range tt.want {
					if err == nil || !strings.Contains(err.Error(), text) {
						t.Errorf("%s: got %v, want %q", who, err, text)
					}
				}
			}
			version, err := project.DatabaseVersion(t.Context(), w.dir)
			w.must(err)
			refuses("doctor", examine(t, w.dir))
			if after, err := project.DatabaseVersion(t.Context(), w.dir); err != nil || after != version {
				t.Errorf("the tables have version %d, %v; want %d", after, err, version)
			}
			if !tt.older {
				settings := filepath.Join(w.dir, "server.toml")
				text, err := os.ReadFile(settings)
				w.must(err)
				for _, more := range []string{"", "max_of_tomorrow = 7\n"} { // a setting of that version
					w.must(os.WriteFile(settings, append([]byte(more), text...), 0o600))
					refuses("serve", serve(t, w.dir))
				}
				_, _, err = operate.Migrate(t.Context(), w.dir, slog.New(slog.DiscardHandler))
				refuses("migrate", err)
				_, err = store.Open(t.Context(), filepath.Join(w.dir, "project.db"))
				if !errors.Is(err, store.ErrNewer) {
					t.Errorf("the store: %v", err)
				}
				return
			}
			done, err := w.p.Serving()
			w.must(err)
			if _, _, err := operate.Migrate(t.Context(), w.dir, slog.New(slog.DiscardHandler)); !errors.Is(err, project.ErrServed) {
				t.Errorf("migrated beside a server: %v", err)
			}
			w.must(done())
			for _, want := range []int64{version, store.Latest} { // the second time it changes nothing
				from, to, err := operate.Migrate(t.Context(), w.dir, slog.New(slog.DiscardHandler))
				if err != nil || from != want || to != store.Latest {
					t.Errorf("migrated from %d to %d, %v; want %d to %d", from, to, err, want, store.Latest)
				}
				w.must(examine(t, w.dir))
			}
		})
	}
}
