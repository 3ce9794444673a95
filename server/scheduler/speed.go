package scheduler

import (
	"time"

	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/store"
)

// speedsAge is the maximum age of the learned run times of versions. Counting votes reads an index
// of all of them.
const speedsAge = 10 * time.Second

// speeds are a copy in memory of the run times of app versions on hosts.
type speeds struct {
	*hostversion.Speeds
	at time.Time
}

// learnt returns the known run times of app versions, and reads them again if they are old. While
// one request reads them the others use the old ones.
func (s *Scheduler) learnt(tx *store.View, now time.Time) (*speeds, error) {
	s.mu.Lock()
	old := s.speeds
	if old != nil && !now.Before(old.at) && now.Sub(old.at) < speedsAge {
		s.mu.Unlock()
		return old, nil
	}
	if old != nil {
		s.speeds = &speeds{old.Speeds, now}
	}
	s.mu.Unlock()
	list, err := tx.VersionVotes()
	if err != nil {
		s.mu.Lock()
		s.speeds = old
		s.mu.Unlock()
		return nil, err
	}
	x := &speeds{hostversion.NewSpeeds(list, s.Config.kind), now}
	s.mu.Lock()
	s.speeds = x
	s.mu.Unlock()
	return x, nil
}
