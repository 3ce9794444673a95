// Package backup writes a copy of a project, also while it is served, and restores a project from
// it. It also moves a project's data to another place.
//
// A backup is a folder, or an archive of tar with the same content:
//
//	starling-backup.json   of what it is a copy, see Head; first in an archive
//	project/server.toml    the settings; second in an archive
//	project/project.db     the database as a file of SQLite, whatever it is in the project
//	project/download/…     files, in folders, whatever they are in
//	project/…              keys, templates, results, archive and whatever else is there
//	SHA256SUMS             checksums of all these; last, so that without it a backup is none
//
// All databases become files of SQLite because that is one format for both: a backup needs no
// programs of the right version of PostgreSQL, can be looked into, and can be restored on either.
// The database is copied first, from one state of it. Files are never changed, and none is deleted
// while the copy is made, so all files that the database names are in the backup. Files that
// arrived later are in it too, and do no harm.
//
// The package neither serves nor decides which operations an operator may do.
package backup

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sort"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// Names within a backup.
const (
	headName   = "starling-backup.json"
	sumsName   = "SHA256SUMS"
	projectDir = "project/"

	settingsName = projectDir + "server.toml"
	databaseName = projectDir + "project.db"
)

// format is the version of the format of backups.
const format = 1

// ErrIncomplete is returned of a backup that was not written to its end.
var ErrIncomplete = errors.New("the backup is incomplete: it was not written to the end")

// A Head identifies the original of a backup.
type Head struct {
	Format          int          `json:"format"`
	Program         string       `json:"program"` // version of starling-server
	Created         time.Time    `json:"created"` // when the database was copied
	Project         string       `json:"project"` // its name
	MasterURL       string       `json:"master_url"`
	Identity        string       `json:"identity"` // from keys/project_id
	DatabaseVersion int64        `json:"database_version"`
	WithoutFiles    bool         `json:"without_files,omitempty"` // download and upload are not there
	Census          store.Census `json:"census"`
}

// A Report describes the data that was written or read.
type Report struct {
	Head
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"` // of all files
}

func parseHead(text []byte) (h Head, err error) {
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fmt.Errorf("%s: %w", headName, err)
	}
	if h.Format != format {
		return h, fmt.Errorf("the backup has format %d, and this program reads %d: use the version of starling-server that made it (%s)", h.Format, format, h.Program)
	}
	return h, nil
}

// sums are checksums by name, written as sha256sum does.
type sums map[string][32]byte

func (s sums) text() string {
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		sum := s[name]
		fmt.Fprintf(&b, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return b.String()
}

func parseSums(text string) (sums, error) {
	out := make(sums)
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		b, err := hex.DecodeString(sum)
		if err != nil || len(b) != 32 || !valid(name) {
			return nil, fmt.Errorf("%s: %.200q is not a checksum and a name", sumsName, lines.Text())
		}
		out[name] = [32]byte(b)
	}
	return out, lines.Err()
}

// valid reports whether a name is allowed in a backup: it must not lead out of it.
func valid(name string) bool {
	return name != "" && path.Clean(name) == name && !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../") &&
		!strings.ContainsAny(name, "\n\r\\\x00")
}
