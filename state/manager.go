package state

import (
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A Manager is the account manager that this host follows. The zero value is none.
type Manager struct {
	URL           string                 `json:"url,omitzero"`
	Name          string                 `json:"name,omitzero"`          // as it calls itself
	Login         string                 `json:"login,omitzero"`         // the account there
	PasswordHash  string                 `json:"password_hash,omitzero"` // see protocol.PasswordHash
	Authenticator protocol.Authenticator `json:"authenticator,omitzero"`
	UserName      string                 `json:"user_name,omitzero"`
	TeamName      string                 `json:"team_name,omitzero"`
	SigningKey    string                 `json:"signing_key,omitzero"`   // of its first reply; no other is taken
	Opaque        string                 `json:"opaque,omitzero"`        // it wants back
	PreviousCPID  string                 `json:"previous_cpid,omitzero"` // this host's id when it was last told
	Venue         string                 `json:"venue,omitzero"`         // where it says that this host stands
	Dynamic       bool                   `json:"dynamic,omitzero"`       // its preferences hold over the projects'
	NoNotices     bool                   `json:"no_notices,omitzero"`    // it wants no notices of projects shown

	Retry                   // after failures, and otherwise when it wants to be asked again
	Last          time.Time `json:"last,omitzero"`           // last usable answer; zero: none
	Trouble       string    `json:"trouble,omitzero"`        // why the last contact failed; "" if it did not
	WrongPassword bool      `json:"wrong_password,omitzero"` // that is why
	Messages      []string  `json:"messages,omitzero"`       // of the last reply, for people
}
