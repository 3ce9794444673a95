package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// The following are for tests of the plans that PostgreSQL makes for the queries of a program.

// PostgresQuery returns the text of a query for PostgreSQL.
func PostgresQuery(query string) string { return new(postgres).prepare(query) }

// PostgresChanges returns the texts that make several changes with such arguments at once: without a
// condition, and on the condition that each affects a row.
func PostgresChanges(s *Statement, args []any) []string {
	f := s.postgres(args)
	return []string{f.each, f.eachSure}
}

// ConnectPostgres opens a connection with the settings of a DB's connections.
func ConnectPostgres(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	new(lineage).watch(config)
	return pgx.ConnectConfig(ctx, config)
}
