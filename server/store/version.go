package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Errors of a database whose tables are not those of this program. Nothing was changed.
var (
	ErrNewer = errors.New("the database was made or changed by a newer version of starling-server")
	ErrOlder = errors.New("the database is of an older version of starling-server")
)

// Latest is the number of the last migration that this program knows, which is the version
// of the databases that it works on.
var Latest = latest()

func latest() int64 {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is bad
	}
	last := int64(0)
	for _, name := range names {
		number, _, _ := strings.Cut(path.Base(name), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic(fmt.Sprintf("migration %s: its name has no number", name))
		}
		last = max(last, n)
	}
	return last
}

// Fits returns nil if the database is empty or of this program's version, else an error
// that is ErrNewer or ErrOlder.
func (f Found) Fits() error {
	switch {
	case f.Empty || f.Version == Latest:
		return nil
	case f.Version > Latest:
		return fmt.Errorf("%w: its tables have version %d, and this program knows %d at most", ErrNewer, f.Version, Latest)
	}
	return fmt.Errorf("%w: its tables have version %d, and this program needs %d", ErrOlder, f.Version, Latest)
}

// Unreachable reports whether an error says that a database's server does not answer, or
// not yet, so that it may do so later. It is not true of a file.
func Unreachable(err error) bool { return err != nil && lost(err) }
