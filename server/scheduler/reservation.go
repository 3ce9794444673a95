package scheduler

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/store"
)

// maxKept is the maximum number of results kept for a host that one request looks at.
const maxKept = 100

// A reservation is a result that is kept for the host, since it computed the one before.
type reservation struct {
	store.Kept
	reported time.Time // when it reported that one
	holds    bool      // it has the files of that one still
}

// reservations reads the results that are kept for the host. It also determines whether there may
// be more soon, because workunits follow the ones from which the host reports or has reported
// results.
func (l *look) reservations(tx *store.View, r *rpc) error {
	host := l.id.host.ID
	if len(r.held) == 0 || host == 0 {
		return nil
	}
	var kept []store.Kept
	if err := tx.Together(
		func() (err error) { kept, err = tx.KeptFor(host, maxKept); return err },
		func() (err error) { l.chained, err = tx.Chained(host); return err },
	); err != nil {
		return err
	}
	var err error
	ids := make([]int64, len(kept))
	for i, k := range kept {
		ids[i] = k.Predecessor
	}
	var before map[int64]store.Result
	if len(ids) > 0 {
		if before, err = tx.Results(ids); err != nil {
			return err
		}
	}
	ids = nil
	for _, x := range before {
		ids = append(ids, x.WorkunitID)
	}
	var reported []int64
	for i := range r.req.Results {
		if x, known := l.named[r.req.Results[i].Name]; known && r.req.Results[i].Success() && mayReport(l.id.user, x) {
			reported = append(reported, x.WorkunitID)
		}
	}
	slices.Sort(ids) // a map gave their order
	workunits, err := tx.Workunits(append(ids, reported...))
	if err != nil {
		return err
	}
	for _, id := range reported {
		if workunits[id].HasSuccessor {
			l.chained = r.now
		}
	}
	for _, k := range kept {
		x, there := before[k.Predecessor] // or purged
		l.kept = append(l.kept, reservation{k, x.ReceivedTime, there && r.holds(workunits[x.WorkunitID], x)})
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

// renewReservations extends the reservations of results that are kept for the host and were not
// sent now. It also calls the host back in time for these, and for the workunits that follow the
// results it reported.
func (r *rpc) renewReservations() error {
	rules, waits := r.s.Config.Affinity, false
	for _, k := range r.look.kept {
		if rules.Back() <= 0 || !k.holds || slices.Contains(r.reply.sent, k.ID) {
			continue
		}
		until, renewed := rules.Renewed(k.ReservedUntil, k.reported, r.now)
		if renewed {
			if err := r.tx.ReserveUntil(k.WorkunitID, until); err != nil {
				return err
			}
		}
		waits = waits || until.After(r.now)
	}
	if waits {
		r.callBack(rules.Back())
	}
	switch t := r.look.chained; {
	case t.IsZero():
	case len(r.reply.sent) > 0: // it has something to do until then
		r.callBack(rules.Back())
	default:
		r.callBack(rules.Next(t, r.now))
	}
	return nil
}

// callBack makes the host send its next request within a time. 0 leaves the time to the host.
func (r *rpc) callBack(within time.Duration) {
	if within > 0 && (r.reply.NextRPCDelay <= 0 || within < r.reply.NextRPCDelay) {
		r.reply.NextRPCDelay = within
	}
}

// waiting returns the reason why a host gets no work although it has just reported a result of a
// chain: the next workunit is not free yet. That there is no other work is not worth mentioning
// then.
func (r *rpc) waiting(why []protocol.Refusal) []protocol.Refusal {
	if r.look.chained.IsZero() {
		return why
	}
	why = slices.DeleteFunc(why, func(f protocol.Refusal) bool {
		return f.Code == protocol.RefusedNoTasks || f.Code == protocol.RefusedHasOne
	})
	return append([]protocol.Refusal{{Code: protocol.RefusedChain}}, why...)
}
