package state

import "time"

// An Ending is the plan to give up a project's tasks and files at a certain time. Until then it can
// be canceled. The zero value means no such plan.
type Ending struct {
	Kind  EndingKind `json:"kind,omitzero"`
	Since time.Time  `json:"since,omitzero"`
	At    time.Time  `json:"at,omitzero"`   // not before
	File  string     `json:"file,omitzero"` // AccountMissing: the missing file
	// Manager is the account manager that requested it ("": you).
	Manager string `json:"manager,omitzero"`
}

// An EndingKind is the reason for an ending.
type EndingKind string

// The kinds of endings.
const (
	Detaching      EndingKind = "detaching"       // as requested: nothing is done for the project anymore
	Resetting      EndingKind = "resetting"       // as requested: like Detaching, but the project stays attached and starts again
	AccountMissing EndingKind = "account_missing" // not requested: the project continues without new work
)

// Leaves reports whether nothing is done for the project anymore.
func (e Ending) Leaves() bool { return e.Kind == Detaching || e.Kind == Resetting }

// Due reports whether the rest of the project is to be removed now.
func (e Ending) Due(now time.Time) bool { return e.Leaves() && !now.Before(e.At) }
