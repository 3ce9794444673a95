package scheduler

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// speedsAge is how old what was learnt of versions may be. Counting votes reads an
// index of all of them.
const speedsAge = 10 * time.Second

// speeds are a copy in memory of what hosts say of app versions.
type speeds struct {
	*hostversion.Speeds
	at time.Time
}

// learnt returns what is known of app versions, renewed if it is old. While one
// request renews it the others take what there is.
func (s *Scheduler) learnt(tx *store.Tx, now time.Time) (*speeds, error) {
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
	x := &speeds{hostversion.NewSpeeds(list), now}
	s.mu.Lock()
	s.speeds = x
	s.mu.Unlock()
	return x, nil
}

// known returns what is known of a version on this host, which should do benchmark
// operations a second with it.
func (r *rpc) known(v *version, benchmark float64) speed.Known {
	var earned map[int64]store.HostAppVersion
	if r.look.id.host.ID == r.host.ID { // else another request has made the host meanwhile
		earned = r.look.earned
	}
	return r.look.speeds.Known(v.ID, v.AppID, benchmark, earned)
}

// trial returns the version with which this host computes now: best, or, if it is its
// turn, that of which the fewest hosts have told yet. A version that failed here is
// not tried.
func (r *rpc) trial(list []*version, speeds map[*version]float64, best *version) *version {
	choice, fewest := best, speed.Quorum
	turn := r.look.id.host.ID + r.req.RPCSeqno + 1 // the same before and in the transaction
	for _, v := range list {
		if v == best {
			continue
		}
		if most := r.look.earned[v.ID].MaxJobsPerDay; most > 0 && most < r.s.Config.DailyResultQuota {
			continue
		}
		k := r.known(v, 0)
		if k.Version.Hosts < fewest && speed.Trial(k, speeds[v], speeds[best], turn) {
			choice, fewest = v, k.Version.Hosts
		}
	}
	return choice
}

// keepBounds raises the bounds of workunits in the reply so that learnt speeds make no
// time limit shorter. A client ends a task after rsc_fpops_bound / flops seconds. Where
// results are faster than by the benchmark, since most of them end early or the estimate
// is far too high, one that takes the time that the operator has allowed would be ended.
//
// Different from BOINC, whose clients end such tasks as exceeding the elapsed time limit.
func (r *rpc) keepBounds() {
	for _, x := range r.reply.Results {
		i := slices.IndexFunc(r.reply.Workunits, func(w protocol.Workunit) bool { return w.Name == x.WorkunitName })
		if i < 0 {
			continue
		}
		w := &r.reply.Workunits[i]
		j := slices.IndexFunc(r.catalog.versions, func(v *version) bool {
			return v.app.Name == w.AppName && v.Platform.Name == x.Platform && v.VersionNum == x.VersionNum && v.PlanClass == x.PlanClass
		})
		if j < 0 || !r.first("bound", w.Name) {
			continue
		}
		if u, lack := r.usage(r.catalog.versions[j]); lack == nil && u.flops > u.benchmark {
			w.RscFpopsBound *= u.flops / u.benchmark
		}
	}
}
