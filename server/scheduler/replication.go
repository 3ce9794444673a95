package scheduler

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// commitments are the workunits that sending results may change, as they were read and as they are to be.
type commitments map[int64]*commitment

type commitment struct {
	old, now store.Workunit
	sent     bool // a result of it
}

// committing returns the workunits of candidates that sending results may change.
func (r *rpc) committing() (ids []int64) {
	for i := range r.list {
		if match.Commits(r.catalog.Apps[r.list[i].AppID]) {
			ids = append(ids, r.list[i].WorkunitID)
		}
	}
	return ids
}

// recommit updates the candidates with the current commitments of their workunits.
func (r *rpc) recommit(workunits map[int64]store.Workunit) error {
	r.committed = make(commitments)
	for i := range r.list {
		c := &r.list[i]
		if !match.Commits(r.catalog.Apps[c.AppID]) {
			continue
		}
		wu, ok := workunits[c.WorkunitID]
		if !ok {
			return fmt.Errorf("workunit %d has been purged: %w", c.WorkunitID, store.ErrLost)
		}
		c.HRClass, c.AppVersionID, c.LastChance, c.Suspicious = wu.HRClass, wu.AppVersionID, wu.LastChance, wu.Suspicious
		r.committed[wu.ID] = &commitment{old: wu, now: wu}
	}
	return nil
}

// commit records the change of a workunit that is caused by sending a result of it to the host.
func (r *rpc) commit(a *match.Assignment) {
	if c := r.committed[a.WorkunitID]; c != nil {
		e := r.earnings(a.Version.ID)
		c.now, c.sent = r.can.Commit(c.now, a.Version, func() bool { return r.s.trusted(e.now) }), true
	}
}

// saveCommitments stores the workunits of which results are sent.
func (r *rpc) saveCommitments(to *store.Changes) error {
	for _, id := range slices.Sorted(maps.Keys(r.committed)) {
		c := r.committed[id]
		var err error
		switch {
		case !c.sent:
		case c.now == c.old:
			err = to.KeepCommitment(c.old)
		default:
			err = to.SaveWorkunit(c.old, c.now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Scheduler) trusted(h store.HostAppVersion) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Rand == nil {
		s.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	return hostversion.Trusted(h, s.Rand)
}
