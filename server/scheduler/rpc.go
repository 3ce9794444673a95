package scheduler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// A request is a client's message with its sender.
type request struct {
	req *protocol.SchedulerRequest
	now time.Time
	ip  string

	memory, disk float64 // bytes that its volunteer allows
}

// An rpc is one request on its way. It is looked at and decided on one state of the database, without a change of it.
// Then the changes are made, each on the condition that the facts behind the decision still hold. A rare request is
// decided again, within the transaction that makes its changes.
type rpc struct {
	s *Scheduler
	request
	final bool // it cannot start again
	apart bool // it is treated as rare

	tx    *store.Tx // of a rare request (nil for others)
	reply *reply
	look  *look
	err   error // of looking at it

	user    store.User
	before  store.Host // as it was read
	host    store.Host
	last    time.Time // time of the host's previous RPC, zero for a new host
	catalog *catalog
	can     *match.Host // nil: not worked out yet
	earned  map[int64]*earned
	// inProgress is the number of results that the host has after its report, by plan class, if these are limited.
	inProgress map[string]int
	held       map[string]bool   // sticky files that the host has
	sticky     []store.HostFile  // the same
	seeks      bool              // it may have new work
	offer      *offer            // work that was found for it (nil: the request did not look for any)
	list       []store.Candidate // results kept for the host, then results found for it
	hadKept    map[int64]bool    // workunits of results that are kept, see had
	committed  commitments
	ordered    bool // it was ordered now to upload files that it made
	newDay     bool // its daily counts have yet to be reset

	// Decisions.
	prefs prefsPlan
	moves []moves
	sent  []store.Result
	// sentAlone are sent results of workunits for this host, or its user, alone, which gets any number.
	sentAlone []store.Result
	due       map[int64]time.Time // when the transitioner is to look at workunits
}

// moves are changes of results for one reason.
type moves struct {
	why  string
	list []store.ResultChange
}

// moved reports whether a result is changed, so that it is not as the database has it.
func (r *rpc) moved(id int64) bool {
	return slices.ContainsFunc(r.moves, func(m moves) bool {
		return slices.ContainsFunc(m.list, func(x store.ResultChange) bool { return x.Old.ID == id })
	})
}

// reset makes the rpc new, as before it was looked at.
func (r *rpc) reset() {
	r.offer.end(nil, false)
	*r = rpc{s: r.s, request: r.request, final: r.final, apart: r.apart, reply: r.s.baseReply(), look: &look{earned: make(map[int64]store.HostAppVersion)}}
	r.hold()
}

// errApart is the error for a request whose decision needs more than was read.
var errApart = errors.New("the request needs a transaction of its own")

// rare reports whether a request is decided within its own transaction, since it needs more than others, or depends
// on the outcome of changes.
func (r *rpc) rare() bool {
	l := r.look
	return r.apart || !l.id.known || l.id.assigned || // a host that is being made or searched for must be so only once
		len(l.kept) > 0 || // files and results of a chain
		stickyHash(r.sticky) != l.id.host.StickyHash || l.id.host.FileOrders > 0 ||
		l.mail || len(r.req.Trickles) > 0 || r.resends()
}

// within decides a rare request within its transaction, and makes the changes.
func (r *rpc) within(tx *store.Tx) error {
	l := r.look
	r.reset()
	r.tx, r.look = tx, l
	if err := r.begin(); err != nil {
		return err
	}
	if err := r.s.search(tx.View, []*rpc{r}); err != nil {
		return err
	}
	if r.err != nil {
		return r.err
	}
	if err := r.decide(); err != nil {
		return err
	}
	return r.save(tx.Changes)
}

// begin decides the part of a request that comes before the search for work. The order is BOINC's: identify the host, process
// its reports, send it work.
func (r *rpc) begin() error {
	id := r.look.id
	if !id.known || id.assigned {
		var err error
		if id, err = identify(r.tx, r.req); err != nil {
			return err
		}
		if id.host.ID != r.look.id.host.ID {
			return fmt.Errorf("host %d was made in the meantime: %w", id.host.ID, store.ErrLost)
		}
	}
	r.catalog = r.look.catalog
	if err := r.admit(id); err != nil {
		return err
	}
	r.preferences()
	r.takeReports()
	if err := r.takeFiles(); err != nil {
		return err
	}
	r.reply.ResultAborts, r.reply.ResultAbortsIfNotStarted = r.look.aborts, r.look.abortsIfNotStarted
	if r.tooOld() || !r.mayHaveWork() {
		return nil
	}
	resent, err := r.resendLost()
	r.seeks = resent == 0
	return err
}

// decide decides the rest of a request, after the search for new work.
func (r *rpc) decide() error {
	if r.seeks {
		if err := r.send(); err != nil {
			return err
		}
	}
	r.awaitWork()
	if err := r.renewReservations(); err != nil {
		return err
	}
	if err := r.orderCopies(); err != nil {
		return err
	}
	if err := r.orderFiles(); err != nil {
		return err
	}
	if err := r.takeTrickles(); err != nil {
		return err
	}
	return r.sendTrickles()
}

// save makes the changes that were decided. It first holds the rows on which other changes depend, in one order.
func (r *rpc) save(to *store.Changes) error {
	if err := to.HoldHost(r.host.ID); err != nil {
		return err
	}
	if err := to.HoldWorkunits(slices.Sorted(maps.Keys(r.due))); err != nil {
		return err
	}
	if r.prefs.keep {
		if err := to.SetGlobalPrefs(r.user.ID, r.look.id.user.GlobalPrefs, r.req.GlobalPrefs); err != nil {
			return fmt.Errorf("preferences of user %d: %w", r.user.ID, err)
		}
	}
	for _, m := range r.moves {
		to.SetCause(r.now, "scheduler", m.why)
		if err := to.SaveResults(m.list); err != nil {
			return err
		}
	}
	if err := r.saveSent(to); err != nil {
		return err
	}
	if err := r.saveEarned(to); err != nil {
		return err
	}
	if err := to.TransitionEachBy(r.due); err != nil {
		return err
	}
	return to.UpdateHost(r.before, r.host)
}
