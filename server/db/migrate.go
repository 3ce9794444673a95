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

// migrate brings a database up to date.
func (s *Schema) migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB, translate func(string) string, opts ...goose.ProviderOption) error {
	list, err := s.migrationList(translate)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, db, nil, append(opts, goose.WithGoMigrations(list...))...)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	version, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	if version > s.Latest {
		return s.Newer(version)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	return nil
}

// migrationList returns the migrations in the words of a dialect. The database gets each file
// as a whole, within a transaction. goose's own reader, which divides files into statements,
// takes longer than the database needs for them.
func (s *Schema) migrationList(translate func(string) string) (list []*goose.Migration, err error) {
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
		up := func(ctx context.Context, tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, translate(string(text))); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
		list = append(list, goose.NewGoMigration(version, &goose.GoFunc{RunTx: up}, nil))
	}
	return list, nil
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
