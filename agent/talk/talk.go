// Package talk has the agent's conversations: with projects' servers, with an account manager, and
// with the server that announces newer versions of the program.
//
//	contact.go   when one starts and how it ends
//	clock.go     the difference between this computer's clock and a server's
//	request.go   what a scheduler is sent
//	reply.go     what is made of its answer; bounds.go: how much of it is taken
//	manager.go   conversations with an account manager; managed.go: what comes of them
//	events.go    how projects tell of new work
//	feeds.go     projects' news, and messages of theirs that want attention
//	newer.go     whether there is a newer version of the program
package talk

import (
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/files"
	"github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/agent/rules"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/release"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
	"github.com/starling-grid/starling/state"
)

// A Talk is all conversations of an agent. It belongs to the loop.
type Talk struct {
	*core.Core
	Sched  *schedulerop.Client
	Life   *life.Life
	Files  *files.Files
	Rules  *rules.Rules
	Ledger *usage.Ledger
	Uptime *usage.Uptime
	Disk   *usage.Disk

	// The following fields are lost at a restart, and may be.
	sessions         map[string]conversation // by project, those in progress
	asked            map[string]bool         // project → the user wants it contacted now
	times            map[string]serverTime   // by project, as of its last answer
	events           map[string]*events      // by project that announces new work
	recentlyReported []view.OldResult        // reported recently
	manages          bool                    // an account manager is being contacted
	newer            newer
	reading          bool // a feed
}

// Open initializes the records of work in progress, which are empty at first.
func (t *Talk) Open() {
	t.sessions, t.asked, t.events = make(map[string]conversation), make(map[string]bool), make(map[string]*events)
	t.times = make(map[string]serverTime)
}

// Act starts sessions as a pass decided.
func (t *Talk) Act(d decide.Decision, now time.Time) {
	for i, seen := range d.Snapshot.Projects {
		p, ok := t.DB.Projects.Get(seen.URL)
		if _, account := t.Accounts[seen.URL]; !ok || !account {
			continue
		}
		switch s := d.Plan.Projects[i].Session; s.Kind {
		case decide.Master:
			t.fetchMaster(p)
		case decide.RPC:
			t.session(p, s.Why, d, now)
		case decide.None:
		}
	}
}

// MasterFetched is an event: a project's master page was fetched, or not.
type MasterFetched struct {
	Project string
	URLs    []string // of its schedulers
	Err     error
}

// Event names it.
func (MasterFetched) Event() string { return "master page fetched" }

// Answered is an event: a session with a project's scheduler is over.
type Answered struct {
	Project string
	Request *protocol.SchedulerRequest
	Reply   *protocol.SchedulerReply
	Err     error
}

// Event names it.
func (Answered) Event() string { return "scheduler replied" }

// ManagerAnswered is an event: a conversation with an account manager is over.
type ManagerAnswered struct {
	Manager  state.Manager
	Followed bool // before it began
	Reply    *protocol.ManagerReply
	Err      error
	done     chan<- error // the waiting caller (nil if there is none)
}

// Event names it.
func (ManagerAnswered) Event() string { return "account manager replied" }

// NewerFound is an event: which version of the program is the newest is known, or not.
type NewerFound struct {
	Release release.Release
	Err     error
}

// Event names it.
func (NewerFound) Event() string { return "newest version known" }

// Handle handles an event, if it belongs to this component.
func (t *Talk) Handle(e core.Event) bool {
	switch e := e.(type) {
	case MasterFetched:
		t.masterFetched(e.Project, e.URLs, e.Err, time.Now())
	case Answered:
		t.answered(e.Project, e.Request, e.Reply, e.Err, time.Now())
	case ManagerAnswered:
		t.managerOver(e)
	case WorkAwaited:
		t.workAwaited(e, time.Now())
	case FeedRead:
		t.feedRead(e, time.Now())
	case NewerFound:
		t.noteNewer(e.Release, e.Err)
	default:
		return false
	}
	return true
}

// Idle reports whether no project is talked with.
func (t *Talk) Idle() bool { return len(t.sessions) == 0 }

// Ask makes the agent contact a project now.
func (t *Talk) Ask(project string) { t.asked[project] = true }

// Asked returns the projects that the user wants contacted now. Callers must not modify it.
func (t *Talk) Asked() map[string]bool { return t.asked }

// RecentlyReported lists recently reported results. Callers must not modify it.
func (t *Talk) RecentlyReported() []view.OldResult { return t.recentlyReported }

// Sessions returns the conversations in progress, by project.
func (t *Talk) Sessions() map[string]view.Conversation {
	all := make(map[string]view.Conversation, len(t.sessions))
	for u, c := range t.sessions {
		all[u] = c.Conversation
	}
	return all
}
