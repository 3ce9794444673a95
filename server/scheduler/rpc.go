package scheduler

import (
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// An rpc is one request on its way.
type rpc struct {
	s     *Scheduler
	db    *store.View // reads
	tx    *store.Tx   // changes (nil while only looking for work)
	req   *protocol.SchedulerRequest
	reply *reply
	now   time.Time
	ip    string
	look  *look

	memory, disk float64 // bytes that its volunteer allows

	user    store.User
	host    store.Host
	last    time.Time // time of the host's previous RPC, zero for a new host
	catalog *catalog
	can     *match.Host // nil: not worked out yet
	earned  map[int64]*earned
	held    map[string]bool  // sticky files that the host has
	sticky  []store.HostFile // the same
	state   state
	due     map[int64]time.Time // when the transitioner is to look at workunits
	newDay  bool                // its daily counts have yet to be reset
}

// because sets the reason that is recorded for changes of results.
func (r *rpc) because(why string) { r.tx.SetCause(r.now, "scheduler", why) }

// run processes the whole request. The order is BOINC's: identify the host, process its reports,
// send it work. Everything that the decisions depend on is read before anything is changed, so that
// requests can share a transaction (store.Store.Joint).
func (r *rpc) run() error {
	id, before := r.look.id, r.look.id.host
	if !id.known || id.assigned {
		// A host that is being made or searched for must be so only once.
		var err error
		if id, err = identify(r.db, r.req); err != nil {
			return err
		}
		before = id.host
	}
	if err := r.admit(id); err != nil {
		return err
	}
	if !id.known {
		before = store.Host{ID: r.host.ID, UserID: r.host.UserID}
	}
	r.catalog = r.look.catalog
	r.hold()
	if err := r.reservations(); err != nil {
		return err
	}
	if err := r.read(); err != nil {
		return err
	}
	if err := r.preferences(); err != nil {
		return err
	}
	if err := r.takeReports(); err != nil {
		return err
	}
	if err := r.takeFiles(); err != nil {
		return err
	}
	r.reply.ResultAborts, r.reply.ResultAbortsIfNotStarted = r.look.aborts, r.look.abortsIfNotStarted
	if !r.tooOld() {
		if err := r.work(); err != nil {
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
	if err := r.sendTrickles(); err != nil {
		return err
	}
	if err := r.saveEarned(); err != nil {
		return err
	}
	if err := r.tx.TransitionEachBy(r.due); err != nil {
		return err
	}
	return r.tx.UpdateHost(before, r.host)
}
