package store_test

import (
	"database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/store"
)

// A new database, which tables.sql makes, has the same tables and rows as one that the migrations bring up to date.
func TestTablesAreThoseOfTheMigrations(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		dir := t.TempDir()
		compareTables(t, "sqlite", filepath.Join(dir, "new.db"), filepath.Join(dir, "old.db"),
			`SELECT type || ' ' || name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL`,
			`SELECT 'stamp', stamp FROM catalog`,
			`SELECT 'version ' || version_id, is_applied FROM goose_db_version`)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		pg := testpg.Start(t)
		compareTables(t, "pgx", pg.Database(t), pg.Database(t),
			`SELECT 'column ' || table_name || ' ' || column_name, rank() OVER (PARTITION BY table_name ORDER BY ordinal_position) || data_type || is_nullable || is_identity || COALESCE(column_default, '')
			 FROM information_schema.columns WHERE table_schema = 'public'`,
			`SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'`,
			`SELECT 'constraint ' || conrelid::regclass || pg_get_constraintdef(oid), count(*)::text FROM pg_constraint WHERE connamespace = 'public'::regnamespace GROUP BY 1`,
			`SELECT 'stamp', stamp::text FROM catalog`,
			`SELECT 'version ' || version_id, is_applied::text FROM goose_db_version`)
	})
}

// compareTables makes two databases, the one at once and the other step by step, and compares the answers to
// queries, each of which has rows of a name and a text.
func compareTables(t *testing.T, driver, whole, steps string, queries ...string) {
	t.Helper()
	s, err := store.Open(t.Context(), whole)
	must(t, err)
	must(t, s.Close())
	must(t, store.MigrateTo(t.Context(), steps, fmt.Sprintf("%03d", store.Latest)))
	got, want := parts(t, driver, whole, queries), parts(t, driver, steps, queries)
	if len(want) < 80 {
		t.Fatalf("only %d tables, indexes and rows", len(want))
	}
	all := maps.Clone(got)
	maps.Copy(all, want)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if got[name] != want[name] {
			t.Errorf("%s:\n%s\nin a new database, and\n%s\nafter the migrations. Change tables.sql as the last migration does", name, got[name], want[name])
		}
	}
}

var (
	comment = regexp.MustCompile(`--.*`)
	space   = regexp.MustCompile(`\s+`)
	tight   = regexp.MustCompile(` ?([(),]) ?`)
)

// parts returns the answers, without comments and unnecessary spaces.
func parts(t *testing.T, driver, where string, queries []string) map[string]string {
	t.Helper()
	db, err := sql.Open(driver, where)
	must(t, err)
	defer db.Close()
	out := make(map[string]string)
	for _, query := range queries {
		ask(t, db, query, out)
	}
	return out
}

func ask(t *testing.T, db *sql.DB, query string, out map[string]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var name, text string
		must(t, rows.Scan(&name, &text))
		text = space.ReplaceAllString(comment.ReplaceAllString(text, ""), " ")
		out[name] = strings.TrimSpace(tight.ReplaceAllString(text, "$1"))
	}
	must(t, rows.Err())
}
