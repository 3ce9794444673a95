package store

import (
	"encoding/binary"
	"hash/fnv"
	"math"

	"github.com/starling-grid/starling/server/db"
)

// A TargetType is the type of a Target.
type TargetType int64

// The numbers are as in BOINC's assignments.
const (
	TargetNone TargetType = 0 // anybody
	TargetHost TargetType = 1
	TargetUser TargetType = 2 // all computers of an account
	TargetTeam TargetType = 3 // all computers of a team's members
)

func (t TargetType) String() string {
	switch t {
	case TargetNone:
		return "none"
	case TargetHost:
		return "host"
	case TargetUser:
		return "user"
	case TargetTeam:
		return "team"
	}
	return "unknown"
}

// A Target is the host, user or team that may have the results of a workunit. The zero value is
// anybody.
type Target struct {
	Type TargetType `db:"type"`
	ID   int64      `db:"id"` // of the host, user or team
}

// Alone reports whether the target is a single volunteer. Then another volunteer cannot replace a
// result that failed, and results cannot be compared.
func (t Target) Alone() bool { return t.Type == TargetHost || t.Type == TargetUser }

// low is the part of a kind for the needs of one target's results.
const low = 1<<32 - 1

// place returns the lowest kind of a target. Kinds of targets are negative, and the kinds of one
// target differ by low at most. Several targets may share a place.
func (t Target) place() int64 {
	h := fnv.New64a()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(t.Type)) //nolint:gosec // any bits will do
	binary.LittleEndian.PutUint64(b[8:], uint64(t.ID))  //nolint:gosec // likewise
	_, _ = h.Write(b[:])
	return -(int64(h.Sum64()>>33) + 1) << 32
}

// kind returns the target's kind for the kind k of a workunit without a target.
func (t Target) kind(k int64) int64 {
	if t.Type == TargetNone {
		return k
	}
	return t.place() + k&low
}

const targeted = `SELECT id FROM result WHERE server_state = 2 AND kind < 0 LIMIT 1`

// Targeted asks for an Unsent result that has a Target.
func Targeted(found func(id int64)) Question { return db.NewQuestion(scanID, found, targeted) }

// UnsentKindsFor asks for the kinds of the Unsent results for a target. Rarely they are another target's.
func UnsentKindsFor(target Target, found func(kind int64)) Question {
	first := target.place()
	return db.NewQuestion(scanID, found, unsentKinds, first, first+low, math.MaxInt32)
}
