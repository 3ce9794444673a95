package reason

import "github.com/starling-grid/starling/internal/words"

// The causes of trouble with an account manager. It also has most of those in trouble.go.
const (
	ManagerNone        Code = "not_an_account_manager"
	ManagerNotFound    Code = "manager_not_found"
	ManagerClosed      Code = "manager_closed"
	ManagerMaintenance Code = "manager_maintenance"
	ManagerFault       Code = "manager_fault"
	ManagerPassword    Code = "manager_wrong_password"
	ManagerRefuses     Code = "manager_refuses"
	ManagerUnsigned    Code = "manager_unsigned"
	ManagerKeyChanged  Code = "manager_key_changed"
)

const (
	syncNow   = "To try now: starling manager sync"
	leaveIt   = "To leave it: starling manager leave"
	waitForIt = keeps + " " + syncNow
)

// Managers are the causes of trouble with an account manager.
var Managers = []Entry{
	{ManagerNone, "{about} answered with a web page that is not an account manager's: a network login page, a maintenance notice, or a wrong address.", "The answer is a web page that is not an account manager's: a network login page, a maintenance notice, or a wrong address.", "Open the account manager's address in a browser: log in to the network if it asks for that, and check that the page is the account manager's. " + syncNow},
	{ManagerNotFound, "The address leads nowhere ({about}): it is wrong, or the account manager has moved or closed.", "The address leads nowhere: it is wrong, or the account manager has moved or closed.", "Look on the account manager's web site for its address. If it has closed, its projects stay attached without it. " + leaveIt},
	{ManagerClosed, "The account manager has been closed ({about}).", "The account manager has been closed.", "Its projects stay attached without it. " + leaveIt},
	{ManagerMaintenance, "The account manager is down for maintenance ({about}).", "The account manager is down for maintenance.", waitForIt},
	{ManagerFault, "The account manager's server has a fault ({about}).", "The account manager's server has a fault.", waitForIt},
	{ManagerPassword, "The account manager rejects the name or the password.", "", "Join it again with the right ones: starling manager join {url}"},
	{ManagerRefuses, "The account manager refuses: {about}.", "The account manager refuses.", "Look on the account manager's web site. " + waitForIt},
	{ManagerUnsigned, "The account manager's reply lacks a signing key, so its list of projects cannot be verified.", "", "Only the account manager can correct that. " + waitForIt},
	{ManagerKeyChanged, "The account manager's signing key has changed since you joined it, so its instructions are ignored.", "", "If the account manager confirms the change, leave it with starling manager leave, then join it again: starling manager join {url}"},
}

// ofManager has the codes that replace those with sentences about a project.
var ofManager = map[Code]Code{NotAProject: ManagerNone, NotFound: ManagerNotFound, Closed: ManagerClosed, Maintenance: ManagerMaintenance, ServerError: ManagerFault}

// OfManager returns a trouble with a server as one with an account manager.
func (r Reason) OfManager() Reason {
	if code, ok := ofManager[r.Code]; ok {
		r.Code = code
	}
	return r
}

// ManagerCure returns the remedy of a trouble with the account manager at an address.
func (r Reason) ManagerCure(url string) words.Text {
	for _, e := range Managers {
		if e.Code == r.Code {
			return r.Cure(url)
		}
	}
	return words.And(words.T(keeps), words.T(syncNow))
}
