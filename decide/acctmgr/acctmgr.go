// Package acctmgr decides the consequences of an account manager's reply: which projects are
// attached, changed and detached, and when the manager is asked again. It is policy: values in, a
// plan and reasons out. It uses no network.
//
// Source of the rules: BOINC client/acct_mgr.cpp, ACCT_MGR_OP::handle_reply.
package acctmgr

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// A Reply is a successful response from an account manager.
type Reply struct {
	SigningKey string
	Accounts   []Account
}

// An Account has a manager's settings of a project. The manager does not set values that are nil.
type Account struct {
	URL            string // master URL
	Forged         error  // why the URL's signature is not good (nil if it is)
	Authenticator  string
	Detach         bool
	DetachWhenDone bool
	Update         bool
	Abort          bool // abort tasks that have not started
	Terms          Terms
}

// MaxShare is the largest resource share that counts, as in account files.
const MaxShare = 1_000_000

// Terms are a manager's settings for a project that this host is attached to.
type Terms struct {
	Share      *float64
	NoMoreWork *bool
	Suspended  *bool
	// DetachWhenDone makes the project finish its tasks here, and detaches it then.
	DetachWhenDone bool
}

// A Project is one that this host is attached to.
type Project struct {
	URL           string
	Authenticator string
	Managed       bool // a manager named it before
	Tasks         int
}

// A Plan is what to do about a reply. Projects that are in none of its lists stay
// as they are.
type Plan struct {
	// Refused is why the reply's instructions about projects do not count. It is "" if they do. The
	// manager is asked again all the same.
	Refused reason.Code
	Attach  []Attachment
	Keep    []Kept
	Detach  []Detachment
	Notes   []string // what of the reply is not done, and why
}

// An Attachment is a project to be attached.
type Attachment struct {
	URL, Authenticator string
	Terms              Terms
}

// A Kept is a project that is attached already.
type Kept struct {
	URL           string
	Authenticator string // to be used from now on ("": as before)
	Terms         Terms
	Update        bool // contact it now
	Abort         bool // abort tasks that have not started
}

// A Detachment is a project to be detached.
type Detachment struct{ URL, Why string }

// Decide judges a reply. known is the signing key of the manager's first reply, ""
// if this is the first.
func Decide(known string, r Reply, projects []Project) Plan {
	switch key := strings.TrimSpace(r.SigningKey); {
	case key == "":
		return Plan{Refused: reason.ManagerUnsigned}
	case known != "" && key != strings.TrimSpace(known):
		return Plan{Refused: reason.ManagerKeyChanged}
	}
	attached := make(map[string]Project)
	for _, p := range projects {
		attached[bare(p.URL)] = p
	}
	var plan Plan
	for _, a := range r.Accounts {
		if s := a.Terms.Share; s != nil && !(*s >= 0 && *s <= MaxShare) {
			plan.note("the resource share of %s is unchanged: %v is not between 0 and %d", a.URL, words.Float(*s), MaxShare)
			a.Terms.Share = nil
		}
		p, here := attached[bare(a.URL)]
		if here {
			a.URL = p.URL
		}
		switch {
		case here && a.Detach && p.Managed:
			plan.Detach = append(plan.Detach, Detachment{a.URL, "the account manager removed it"})
		case here && a.Detach:
			plan.note("%s stays attached: it was attached by you, not by the account manager", a.URL)
		case here && a.DetachWhenDone && p.Tasks == 0:
			plan.Detach = append(plan.Detach, Detachment{a.URL, "the account manager removed it, and its tasks are finished"})
		case here:
			plan.Keep = append(plan.Keep, plan.keep(a, p))
		case a.Detach, a.DetachWhenDone: // it is gone already
		case a.Forged != nil:
			plan.note("%s was not attached: its address is not signed correctly: %v", a.URL, a.Forged)
		case a.Authenticator == "":
			plan.note("%s was not attached: the account manager sent no account key", a.URL)
		default:
			plan.Attach = append(plan.Attach, Attachment{a.URL, a.Authenticator, a.terms()})
			attached[bare(a.URL)] = Project{URL: a.URL, Authenticator: a.Authenticator, Managed: true}
		}
	}
	return plan
}

func (plan *Plan) note(format string, args ...any) {
	plan.Notes = append(plan.Notes, fmt.Sprintf(format, args...))
}

// keep takes a new account key only in place of one of the same account: weak keys
// change with the password, others belong to someone else.
func (plan *Plan) keep(a Account, p Project) Kept {
	k := Kept{URL: a.URL, Terms: a.terms(), Update: a.Update, Abort: a.Abort}
	switch {
	case a.Authenticator == "" || a.Authenticator == p.Authenticator:
	case weak(a.Authenticator) && weak(p.Authenticator):
		k.Authenticator = a.Authenticator
	default:
		plan.note("%s keeps its current account, which differs from the account manager's", a.URL)
	}
	return k
}

// terms returns an account's terms, including those implied by others.
func (a Account) terms() Terms {
	t := a.Terms
	if a.DetachWhenDone {
		yes := true
		t.DetachWhenDone, t.NoMoreWork = true, &yes
	}
	return t
}

// bare returns an address without http or https: a project is attached by one of them.
func bare(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	return rest
}

// weak reports whether a key lets a host compute for an account and nothing else.
func weak(authenticator string) bool { return strings.Contains(authenticator, "_") }
