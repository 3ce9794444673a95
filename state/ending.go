package state

import "time"

// An Ending is that a project's tasks and files are going to be given up, and when.
// Until then it can be taken back. The zero value: nothing of the kind.
type Ending struct {
	Kind  EndingKind `json:"kind,omitzero"`
	Since time.Time  `json:"since,omitzero"`
	At    time.Time  `json:"at,omitzero"`   // not before
	File  string     `json:"file,omitzero"` // AccountMissing: the file that is not there
}

// An EndingKind says why.
type EndingKind string

// The kinds of endings.
const (
	Detaching      EndingKind = "detaching"       // as asked: nothing is done for the project any more
	Resetting      EndingKind = "resetting"       // likewise; it stays attached and starts anew
	AccountMissing EndingKind = "account_missing" // nobody asked: it goes on without new work
)

// Leaves reports whether nothing is done for the project any more.
func (e Ending) Leaves() bool { return e.Kind == Detaching || e.Kind == Resetting }

// Due reports whether what is left of the project goes now.
func (e Ending) Due(now time.Time) bool { return e.Leaves() && !now.Before(e.At) }
