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

// reservations asks for the results that are kept for the host, and for its last report of a chain.
func (l *look) reservations(host int64) []store.Question {
	return []store.Question{
		store.KeptFor(host, maxKept, func(k store.Kept) { l.kept = append(l.kept, reservation{Kept: k}) }),
		store.Chained(host, func(at time.Time) { l.chained = at }),
	}
}

// reported returns the workunits of the successes that the host reports.
func (r *rpc) reported() (ids []int64) {
	for i := range r.req.Results {
		if x, known := r.look.named[r.req.Results[i].Name]; known && r.req.Results[i].Success() && mayReport(r.look.id.user, x) {
			ids = append(ids, x.WorkunitID)
		}
	}
	return ids
}

// chain determines whether there may be results for the host soon because workunits follow the ones from which it
// reports results, and which of those that are kept for it need files that it has. reported has the workunits of
// the results that it reports.
func (r *rpc) chain(v *store.View, reported map[int64]store.Workunit) error {
	l := r.look
	for _, id := range r.reported() {
		if reported[id].HasSuccessor {
			l.chained = r.now
		}
	}
	if len(l.kept) == 0 {
		return nil
	}
	var ids []int64
	for _, k := range l.kept {
		ids = append(ids, k.Predecessor)
	}
	before, err := v.Results(ids)
	if err != nil {
		return err
	}
	ids = nil
	for _, x := range before {
		ids = append(ids, x.WorkunitID)
	}
	slices.Sort(ids) // a map gave their order
	workunits, err := v.Workunits(ids)
	if err != nil {
		return err
	}
	for i := range l.kept {
		k := &l.kept[i]
		x, there := before[k.Predecessor] // or purged
		k.reported, k.holds = x.ReceivedTime, there && r.holds(workunits[x.WorkunitID], x)
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
