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

// commitments are the workunits that sending results may change, as they were read in
// the transaction and as they are to be.
type commitments map[int64]*commitment

type commitment struct{ old, now store.Workunit }

// committing returns the workunits of candidates that sending results may change.
func (r *rpc) committing(list []store.Candidate) (ids []int64) {
	for _, c := range list {
		if match.Commits(r.catalog.Apps[c.AppID]) {
			ids = append(ids, c.WorkunitID)
		}
	}
	return ids
}

// commitments updates candidates with the current commitments of their workunits, as the
// transaction reads them.
func (r *rpc) commitments(list []store.Candidate, rows map[int64]store.Workunit) (commitments, error) {
	out := make(commitments)
	for i := range list {
		c := &list[i]
		if !match.Commits(r.catalog.Apps[c.AppID]) {
			continue
		}
		wu, ok := rows[c.WorkunitID]
		if !ok {
			return nil, fmt.Errorf("workunit %d has been purged: %w", c.WorkunitID, store.ErrLost)
		}
		c.HRClass, c.AppVersionID, c.LastChance = wu.HRClass, wu.AppVersionID, wu.LastChance
		out[wu.ID] = &commitment{wu, wu}
	}
	return out, nil
}

// commit records the change of a workunit that is caused by sending a result of it to the host.
func (r *rpc) commit(to commitments, a match.Assignment) error {
	c := to[a.WorkunitID]
	if c == nil {
		return nil
	}
	e, err := r.earnings(a.Version.ID)
	if err != nil {
		return err
	}
	c.now = r.can.Commit(c.now, a.Version, func() bool { return r.s.trusted(e.now) })
	return nil
}

// saveCommitments stores the workunits that have changed.
func (r *rpc) saveCommitments(list commitments) error {
	for _, id := range slices.Sorted(maps.Keys(list)) {
		if c := list[id]; c.now != c.old {
			if err := r.tx.SaveWorkunit(c.old, c.now); err != nil {
				return err
			}
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
