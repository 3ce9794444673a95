package state

import (
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
)

// A Manager is the account manager that this host follows. The zero value means that it follows
// none.
type Manager struct {
	URL           string                 `json:"url,omitzero"`
	Name          string                 `json:"name,omitzero"`          // the manager's name for itself
	Login         string                 `json:"login,omitzero"`         // the account at the manager
	PasswordHash  string                 `json:"password_hash,omitzero"` // see protocol.PasswordHash
	Authenticator protocol.Authenticator `json:"authenticator,omitzero"`
	UserName      string                 `json:"user_name,omitzero"`
	TeamName      string                 `json:"team_name,omitzero"`
	SigningKey    string                 `json:"signing_key,omitzero"`   // from its first reply, and never replaced
	Opaque        string                 `json:"opaque,omitzero"`        // returned to the manager with each request
	PreviousCPID  string                 `json:"previous_cpid,omitzero"` // this host's ID in the last request
	Venue         string                 `json:"venue,omitzero"`         // the venue that it assigns to this host
	Dynamic       bool                   `json:"dynamic,omitzero"`       // its preferences override the projects' preferences
	NoNotices     bool                   `json:"no_notices,omitzero"`    // it does not want notices of projects to be shown

	Retry                  // after failures, and otherwise when it wants to be contacted again
	Last     time.Time     `json:"last,omitzero"`     // last usable reply, or zero for none
	Why      reason.Reason `json:"why,omitzero"`      // the last contact failed (zero if it did not)
	Messages []string      `json:"messages,omitzero"` // of the last reply, for people
}
