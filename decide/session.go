package decide

import (
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// A Session is a conversation to start with a project's servers, or the reason why none is started.
type Session struct {
	Kind  Kind       `json:"kind"`
	Why   words.Text `json:"why"`            // for people: why, or why not
	Until time.Time  `json:"until,omitzero"` // None: when it changes (zero if unknown)
}

// A Kind of session.
type Kind string

// The kinds.
const (
	None   Kind = "none"
	Master Kind = "master" // fetch the master page
	RPC    Kind = "rpc"    // a scheduler RPC
)

// session decides for one project.
func (p *pass) session(i int, b contact.Backlog) Session {
	pr := p.Projects[i]
	switch c := pr.Contact; {
	case pr.Leaving:
		return Session{Kind: None, Why: words.T("it is being {ended}", "ended", words.T(pr.going()))}
	case pr.Talking:
		return Session{Kind: None, Why: words.T("a session is in progress")}
	case p.Network.Denied():
		return Session{Kind: None, Why: p.Network.Why, Until: p.Network.Until}
	case pr.Suspended && !pr.Asked:
		return Session{Kind: None, Why: words.T("you suspended the project")}
	case p.Now.Before(c.MinRPCTime) && !pr.Asked:
		return Session{Kind: None, Why: words.T("not before {time}", "time", words.Time(c.MinRPCTime, p.Now)), Until: c.MinRPCTime}
	case c.FetchMaster || pr.Schedulers == 0:
		return Session{Kind: Master, Why: words.T("fetching the master page")}
	case pr.Asked:
		return Session{Kind: RPC, Why: words.T("you requested it")}
	case !pr.Known:
		return Session{Kind: RPC, Why: words.T("first contact")}
	}
	if why, due := contact.Due(b, p.Now); due {
		return Session{Kind: RPC, Why: words.T("to report results: {why}", "why", why)}
	}
	if p.compares[i] {
		return Session{Kind: RPC, Why: words.T("to compare the computer's clock with the server's")}
	}
	if pr.Trickles {
		return Session{Kind: RPC, Why: words.T("to send messages from its applications")}
	}
	if t := pr.NextRPC; !t.IsZero() && !p.Now.Before(t) {
		return Session{Kind: RPC, Why: words.T("the project requested it")}
	}
	fetch := p.plan.Projects[i].Fetch
	if fetch.Code == reason.Ask {
		return Session{Kind: RPC, Why: words.T("to fetch work")}
	}
	return Session{Kind: None, Why: fetch.Text, Until: fetch.Until}
}
