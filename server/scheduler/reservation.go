package scheduler

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/store"
)

// maxKept is how many results kept for a host are looked at in one request.
const maxKept = 100

// A reservation is a result that is kept for the host, since it computed the one before.
type reservation struct {
	store.Kept
	reported time.Time // when it reported that one
	holds    bool      // it has the files of that one still
}

// reservations reads what is kept for the host, and whether something may be soon, since
// workunits come after those of which it reports results.
func (r *rpc) reservations() error {
	if len(r.held) == 0 {
		return nil
	}
	kept, err := r.tx.KeptFor(r.host.ID, maxKept)
	if err != nil {
		return err
	}
	ids := make([]int64, len(kept))
	for i, k := range kept {
		ids[i] = k.Predecessor
	}
	var before map[int64]store.Result
	if len(ids) > 0 {
		if before, err = r.tx.Results(ids); err != nil {
			return err
		}
	}
	ids = nil
	for _, x := range before {
		ids = append(ids, x.WorkunitID)
	}
	var reported []int64
	for i := range r.req.Results {
		if x, known := r.look.named[r.req.Results[i].Name]; known && r.mayReport(x) {
			reported = append(reported, x.WorkunitID)
		}
	}
	slices.Sort(ids) // a map gave their order
	workunits, err := r.tx.Workunits(append(ids, reported...))
	if err != nil {
		return err
	}
	for _, id := range reported {
		r.state.chained = r.state.chained || workunits[id].HasSuccessor
	}
	for _, k := range kept {
		x, there := before[k.Predecessor] // or purged
		r.state.kept = append(r.state.kept, reservation{k, x.ReceivedTime, there && r.holds(workunits[x.WorkunitID], x)})
	}
	return nil
}

// holds reports whether the host has all sticky files of a result that it computed.
func (r *rpc) holds(wu store.Workunit, x store.Result) bool {
	names, err := affinity.Files(wu, x)
	if err != nil {
		r.s.Log.Error("sticky files of a result", "err", err)
		return false
	}
	return !slices.ContainsFunc(names, func(n string) bool { return !r.held[n] })
}

// renewReservations keeps for the host what is kept for it and it did not get now, and has
// it come again in time for that, and for what may come after what it reported.
func (r *rpc) renewReservations() error {
	rules, waits := r.s.Config.Affinity, r.state.chained
	if rules.Back() <= 0 {
		return nil
	}
	for _, k := range r.state.kept {
		if !k.holds || slices.Contains(r.reply.sent, k.ID) {
			continue
		}
		until, renewed := rules.Renewed(k.ReservedUntil, k.reported, r.now)
		if renewed {
			if err := r.tx.EndReservation(k.WorkunitID, until); err != nil {
				return err
			}
		}
		waits = waits || until.After(r.now)
	}
	if back := rules.Back(); waits && (r.reply.NextRPCDelay <= 0 || back < r.reply.NextRPCDelay) {
		r.reply.NextRPCDelay = back
	}
	return nil
}
