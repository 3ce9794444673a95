package store

import (
	"embed"

	"github.com/starling-grid/starling/server/db"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schema is everything that the engine needs of the tables.
var schema = db.Schema{
	Migrations:       migrations,
	Latest:           Latest,
	Newer:            func(version int64) error { return Found{Version: version}.Fits() },
	Damaged:          ErrDamaged,
	SQLiteTriggers:   sqliteTriggers,
	PostgresTriggers: postgresTriggers,
	TriggerTable:     "legal_moves",
	Identity:         identity,
	IdentityTable:    "project",
	Private:          []string{"deletion_hold", "front"},
	Stamp:            "catalog",
}

// Latest is the number of the last migration that this program knows, which is the version
// of the databases that it works on.
var Latest = db.Latest(migrations)
