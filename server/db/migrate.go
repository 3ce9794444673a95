package db

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

// migrate brings a database up to date. An empty one gets all tables at once.
func (s *Schema) migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB, opts ...goose.ProviderOption) error {
	list, err := s.steps(dialect)
	if err != nil {
		return err
	}
	provider := func(list ...*goose.Migration) (*goose.Provider, error) {
		return goose.NewProvider(dialect, db, nil, append(opts, goose.WithGoMigrations(list...))...)
	}
	p, err := provider(list...)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	version, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if version > Latest(s.Migrations) {
		return s.Newer(version)
	}
	if version == 0 && s.Tables != "" {
		if p, err = provider(s.atOnce(dialect, list)); err != nil {
			return fmt.Errorf("migrations: %w", err)
		}
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	return nil
}

// steps are the migrations, in their order.
func (s *Schema) steps(dialect goose.Dialect) (list []*goose.Migration, err error) {
	names, err := fs.Glob(s.Migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(s.Migrations, name)
		if err != nil {
			return nil, err
		}
		list = append(list, step(dialect, version, name, string(text)))
	}
	return list, nil
}

// step is a migration that runs a file as a whole, within a transaction. goose's own reader, which divides
// files into statements, takes longer than the database needs for them.
func step(dialect goose.Dialect, version int64, name, query string) *goose.Migration {
	if dialect == goose.DialectPostgres {
		query = translation.Replace(query)
	}
	return goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}}, nil)
}

// atOnce is a single migration with the result of the whole list.
func (s *Schema) atOnce(dialect goose.Dialect, list []*goose.Migration) *goose.Migration {
	var query strings.Builder
	query.WriteString(s.Tables)
	last := list[len(list)-1] // goose notes it
	for _, m := range list[:len(list)-1] {
		fmt.Fprintf(&query, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, true);\n", m.Version)
	}
	return step(dialect, last.Version, "tables", query.String())
}

// enforce makes the triggers, unless the database has just these. begin starts
// a transaction that excludes other processes.
func (s *Schema) enforce(ctx context.Context, db *sql.DB, begin []string, triggers []string) error {
	want := strings.Join(triggers, "\n")
	var have string
	err := db.QueryRowContext(ctx, fmt.Sprintf(`SELECT COALESCE((SELECT sql FROM %s), '')`, s.TriggerTable)).Scan(&have)
	if err != nil || have == want {
		return err
	}
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	defer func() { _, _ = c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") }()
	for _, q := range slices.Concat(begin, triggers, []string{"DELETE FROM " + s.TriggerTable}) {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("triggers: %w", err)
		}
	}
	if _, err := c.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (sql) VALUES ($1)", s.TriggerTable), want); err != nil {
		return fmt.Errorf("triggers: %w", err)
	}
	_, err = c.ExecContext(ctx, "COMMIT")
	return err
}

// Latest returns the number of the last of migrations.
func Latest(migrations fs.FS) int64 {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is bad
	}
	last := int64(0)
	for _, name := range names {
		n, err := goose.NumericComponent(name)
		if err != nil {
			panic(fmt.Sprintf("migration %s: its name has no number", name))
		}
		last = max(last, n)
	}
	return last
}
