// Package assimilator hands the outcome of each workunit to the project, once it has a canonical
// result or was given up.
//
// After a crash a Handler may be called again for the same workunit. It must then have the same
// effect: the package records that a workunit is assimilated only after its Handler has returned.
// The package deletes nothing.
package assimilator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
)

const (
	// batchedAtOnce is the number of workunits that Batched handlers are given at a time, since a
	// bucket's files take time.
	batchedAtOnce = 8
	// again is the time that a workunit waits if its Handler failed. Each further failure doubles
	// it, up to maxAgain.
	again    = time.Minute
	maxAgain = 6 * time.Hour
	// patience is the time after which no more handlers start before the outcomes are recorded.
	patience = time.Second
)

// A Handler takes the outcome of a workunit. canonical is nil if the workunit was given up. Then
// wu.ErrorMask has the reason. A Handler that returns an error is called again later.
type Handler interface {
	Assimilate(ctx context.Context, wu store.Workunit, results []store.Result, canonical *store.Result) error
}

// A Batched handler may be called for several workunits at a time. They count as
// taken only when Flush has returned nil, which is called once after all of them,
// also when none went well. If it returns NotTaken, the other workunits are taken.
type Batched interface {
	Handler
	Flush() error
}

// NotTaken has the names of workunits that Flush could not end, with the errors.
type NotTaken map[string]error

func (n NotTaken) Error() string {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(n)) {
		all = append(all, fmt.Errorf("workunit %s: %w", name, n[name]))
	}
	return errors.Join(all...).Error()
}

// A Keeper is a Handler that stores outcomes in the project's folder.
type Keeper interface {
	Handler
	// Kept returns the size in bytes of the outcome of a workunit that was taken.
	Kept(wu store.Workunit) (int64, error)
}

// An Assimilator handles the workunits that are ready.
type Assimilator struct {
	Store *store.Store
	Log   *slog.Logger
	// Handler returns the handler of an application.
	Handler func(ctx context.Context, appID int64) (Handler, error)
	// Taken marks workunits as assimilated, unless they have been meanwhile, and returns the marked ones.
	Taken func(tx *store.Tx, jobs []store.Job, now time.Time) ([]store.Workunit, error)
	Settings

	off      pass.Off // workunits whose handler failed
	troubles pass.Troubles

	mu   sync.Mutex
	hung pass.Off // applications whose handler hangs
}

// Settings are the settings for the outcomes of workunits.
type Settings struct {
	// AtOnce is the maximum number of workunits that are given at a time to handlers that are not
	// Batched. 0 means 1.
	AtOnce int `toml:"assimilators_at_once"`
	// ResultsFolders is one of Divisions.
	ResultsFolders string `toml:"results_folders"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Number(&s.AtOnce, 1, 1000,
			`Programs of assimilators (exec:CMD) that run at the same time, each for another workunit.`),
		setting.Of(&s.ResultsFolders, Flat,
			`Folders in results/, for applications whose outcomes are copied there. "batch_or_day", which new projects
			have, puts a workunit of batch 7 into batch_7, and one without a batch into the day on which it was created,
			for example 2027-01-31 (UTC). "day" always uses the day. "batch" uses the folder no_batch for workunits
			without a batch. "flat" uses results/ alone, which is slow with more than some hundred thousand outcomes.
			A change applies to future outcomes.`).
			Checked(setting.OneOf(&s.ResultsFolders, Divisions...)),
	}
}

// Pass processes workunits that are ready, and returns their number. It is for one goroutine.
func (a *Assimilator) Pass(ctx context.Context, now time.Time) (int, error) {
	if err := a.troubles.Answer(ctx, a.Store, "assimilator", &a.off, &a.hung); err != nil {
		return 0, err
	}
	// The workunits that batched handlers took are recorded while they take the next.
	none := func() error { return nil }
	recorded := none
	clock := pass.Clock(now)
	load := func(tx *store.View, after int64) ([]store.Job, int64, error) {
		return pass.Jobs(tx, store.ToAssimilate, after, &a.off, clock())
	}
	handle := func(list []*outgoing, batched bool) (int, error) {
		err := recorded() // those before
		var done []*outgoing
		for _, o := range list {
			switch {
			case o.err == nil:
				a.off.Done(o.wu.ID, o.wu.AppID)
				done = append(done, o)
			case pass.OfDatabase(o.err):
				err = cmp.Or(err, o.err)
			case ctx.Err() == nil && !errors.Is(o.err, errHung):
				delay := a.off.Failed(o.wu.ID, o.wu.AppID, o.err, clock(), again, maxAgain)
				a.Log.Error("can't assimilate", "workunit_id", o.wu.ID, "err", o.err, "retry_in", delay)
			}
		}
		end := make(chan error, 1)
		recorded = sync.OnceValue(func() error { return <-end })
		go func() { end <- a.record(context.WithoutCancel(ctx), done, now) }()
		if err != nil || ctx.Err() != nil { // handled workunits are recorded all the same
			return 0, errors.Join(err, context.Cause(ctx))
		}
		if !batched { // a crash is to repeat as few of a program's calls as can be
			err, recorded = recorded(), none
		}
		if err == nil {
			err = a.troubles.Soon(ctx, a.Store, "assimilator", clock(), &a.off)
		}
		return len(done), err
	}
	handled, err := pass.Each(ctx, a.Store, load, func(jobs []store.Job) (handled int, err error) {
		for list := outgoings(jobs); len(list) > 0 && err == nil; {
			n := 0
			given, batched := a.hand(ctx, list, clock)
			n, err = handle(given, batched)
			list, handled = list[len(given):], handled+n
		}
		return handled, err
	})
	if err = errors.Join(err, recorded()); err == nil {
		err = a.troubles.Save(ctx, a.Store, "assimilator", now, &a.off)
	}
	return handled, err
}

// An outgoing is a workunit whose outcome is handed over.
type outgoing struct {
	wu        store.Workunit
	results   []store.Result
	canonical *store.Result
	kept      int64 // bytes of its output that count for a token
	err       error // why it was not taken
}

func outgoings(jobs []store.Job) (out []*outgoing) {
	for _, j := range jobs {
		o := outgoing{wu: j.Workunit, results: j.Results}
		for i := range o.results {
			if o.results[i].ID == o.wu.CanonicalResultID {
				o.canonical = &o.results[i]
			}
		}
		if o.canonical == nil && o.wu.ErrorMask == 0 {
			o.wu.ErrorMask = store.ErrorNoCanonical
		}
		out = append(out, &o)
	}
	return out
}

// errHung means that a workunit waits because the program of its application hangs.
var errHung = errors.New("the program hangs")

// hand gives workunits to their handlers, several at a time. It returns those that it gave within patience,
// and whether all their handlers are Batched.
func (a *Assimilator) hand(ctx context.Context, list []*outgoing, clock func() time.Time) (given []*outgoing, batched bool) {
	begin := time.Now()
	batched = true
	var wg sync.WaitGroup
	many, few := make(chan struct{}, batchedAtOnce), make(chan struct{}, max(1, a.AtOnce))
	handlers := make(map[int64]Handler) // by application
	for i, o := range list {
		if o.err = context.Cause(ctx); o.err != nil {
			continue
		}
		h, ok := handlers[o.wu.AppID]
		if !ok {
			if h, o.err = a.Handler(ctx, o.wu.AppID); o.err != nil {
				continue
			}
			handlers[o.wu.AppID] = h
		}
		take := func() {
			err := h.Assimilate(ctx, o.wu, o.results, o.canonical)
			if err != nil {
				o.err = fmt.Errorf("workunit %s: %w", o.wu.Name, err)
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			a.hung.Hung(o.wu.AppID, err, clock())
		}
		slots := many
		if _, ok := h.(Batched); !ok {
			slots, batched = few, false
		}
		slots <- struct{}{}
		if i > 0 && time.Since(begin) > patience {
			list = list[:i]
			break
		}
		a.mu.Lock()
		due := a.hung.Due(o.wu.AppID, clock())
		a.mu.Unlock()
		if !due {
			o.err = errHung
			<-slots
			continue
		}
		wg.Go(func() {
			defer func() { <-slots }()
			take()
		})
	}
	wg.Wait()
	for app, h := range handlers {
		b, ok := h.(Batched)
		if !ok {
			continue
		}
		if err := b.Flush(); err != nil {
			fail(list, app, err)
		}
	}
	for _, o := range list {
		keeper, ok := handlers[o.wu.AppID].(Keeper)
		if ok && o.err == nil && o.wu.TokenID != 0 && o.canonical != nil {
			o.kept, o.err = keeper.Kept(o.wu)
		}
	}
	return list, batched
}

// fail marks an application's workunits as not handled after all.
func fail(list []*outgoing, app int64, err error) {
	some, only := errors.AsType[NotTaken](err)
	for _, o := range list {
		if o.wu.AppID != app || o.err != nil {
			continue
		}
		if only {
			o.err = some[o.wu.Name]
		} else {
			o.err = err
		}
	}
}

// record marks workunits as assimilated.
func (a *Assimilator) record(ctx context.Context, done []*outgoing, now time.Time) error {
	if len(done) == 0 {
		return nil
	}
	ids, kept := make([]int64, len(done)), make(map[int64]int64)
	for i, o := range done {
		ids[i], kept[o.wu.ID] = o.wu.ID, o.kept
	}
	return a.Store.Update(ctx, func(tx *store.Tx) error {
		jobs, err := tx.Jobs(ids)
		if err != nil {
			return err
		}
		list := make([]store.Job, 0, len(jobs))
		for _, id := range ids {
			if j, ok := jobs[id]; ok {
				list = append(list, j)
			}
		}
		taken, err := a.Taken(tx, list, now)
		for _, wu := range taken {
			if n := kept[wu.ID]; n > 0 && err == nil {
				err = tx.KeepOutput(wu.TokenID, wu.Batch, n)
			}
		}
		return err
	})
}
