package state

import (
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A Manager is the account manager that this host follows. The zero value is none.
type Manager struct {
	URL           string
	Name          string // as it calls itself
	Login         string // the account there
	PasswordHash  string // see protocol.PasswordHash
	Authenticator protocol.Authenticator
	UserName      string
	TeamName      string
	SigningKey    string // of its first reply; no other is taken
	Opaque        string // it wants back
	PreviousCPID  string // this host's id when it was last told
	Venue         string // where it says that this host stands
	Dynamic       bool   // its preferences hold over the projects'

	Retry                   // after failures, and otherwise when it wants to be asked again
	Last          time.Time // last usable answer; zero: none
	Trouble       string    // why the last contact failed; "" if it did not
	WrongPassword bool      // that is why
	Messages      []string  // of the last reply, for people
}
