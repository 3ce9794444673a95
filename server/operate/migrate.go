package operate

import (
	"context"
	"errors"
	"log/slog"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// Migrate brings the database of the project in dir up to date, and returns the versions of its
// tables before and after. It returns project.ErrServed if a server of the project runs on this
// computer. It cannot detect servers on other computers.
func Migrate(ctx context.Context, dir string, log *slog.Logger) (from, to int64, err error) {
	from, err = project.DatabaseVersion(ctx, dir)
	if err != nil {
		return 0, 0, err
	}
	if from != store.Latest {
		done, err := project.Alone(dir)
		if err != nil {
			return 0, 0, err
		}
		defer func() { err = errors.Join(err, done()) }()
	}
	p, err := project.Upgrade(ctx, dir, log)
	if err != nil {
		return 0, 0, err
	}
	return from, store.Latest, p.Close()
}
