package transitioner

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
)

const (
	// retry is the time that a workunit waits if its results cannot be made, for example because
	// its template is missing.
	retry = 10 * time.Minute
	// longest is the maximum number of workunits in a pass.
	longest = 10 * pass.Batch
)

// A Transitioner applies plans to the workunits that are due.
type Transitioner struct {
	Store *store.Store
	Log   *slog.Logger
	// Describe returns the xml_doc_in of a new result.
	Describe func(wu store.Workunit, result string, random int64) (string, error)
	// Affinity defines how long a workunit is kept for the hosts that have the files of its
	// predecessor.
	Affinity affinity.Settings
	// Clock notices outages and changes of the clock. nil ignores both.
	Clock *Clock
	// Urgent defines which results are urgent, and which become so.
	Urgent match.Urgent
	// DailyQuota is the project's daily_result_quota.
	DailyQuota int
	Settings
}

// Settings are the transitioner's settings.
type Settings struct {
	DeleteDelay setting.Hours `toml:"delete_delay_hours"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Number(&s.DeleteDelay, 24, 24*3650,
			`Hours for which the files of a workunit are kept after it was assimilated and its last result was
			reported or due. Until then, late results are validated and get credit, and work retry can revive a
			workunit that was given up.`),
	}
}

// work is one due workunit with the results prepared for it outside of the transaction, since
// signing takes longer than storing.
type work struct {
	wu   store.Workunit
	plan Plan
	made []store.Result
	err  error
}

// Pass processes workunits that are due, and returns their number. More may be due.
func (t *Transitioner) Pass(ctx context.Context, now time.Time) (int, error) {
	if err := t.watch(ctx, now); err != nil {
		return 0, err
	}
	ids, err := store.Read(ctx, t.Store, func(tx *store.View) ([]int64, error) { return tx.Due(now, longest) })
	if err != nil {
		return 0, err
	}
	save := func(tx *store.Tx, due []*work) error { return t.handleAll(tx, due, now) }
	failed := func(w *work, err error) error {
		t.Log.Error("can't handle workunit", "workunit", w.wu.Name, "err", err, "retry_in", retry)
		return t.Store.Update(ctx, func(tx *store.Tx) error { return tx.PutOffTransition(w.wu.ID, now.Add(retry)) })
	}
	done := 0
	for due, err := range pass.Ahead(t.prepare(ctx, ids, now)) {
		if err == nil {
			_, err = pass.Save(ctx, t.Store, due, save, failed)
		}
		if err != nil {
			return done, err
		}
		done += len(due)
	}
	return done, nil
}

// prepare decides for workunits and makes their results, batch by batch.
func (t *Transitioner) prepare(ctx context.Context, ids []int64, now time.Time) iter.Seq2[[]*work, error] {
	return func(yield func([]*work, error) bool) {
		for batch := range slices.Chunk(ids, pass.Batch) {
			var due []*work
			err := t.Store.View(ctx, func(tx *store.View) error {
				jobs, err := tx.Jobs(batch)
				if err != nil {
					return err
				}
				for _, id := range batch {
					j, ok := jobs[id]
					if !ok {
						continue // deleted meanwhile
					}
					made, err := t.awaited(tx, j.Workunit, j.Results)
					if err != nil {
						return err
					}
					w := &work{wu: j.Workunit, plan: Decide(j.Workunit, t.Clock.extended(j.Results, now), now, t.DeleteDelay.Duration(), made)}
					w.made = t.outline(j.Workunit, j.Results, w.plan, now)
					due = append(due, w)
				}
				return nil
			})
			if err == nil {
				t.describe(due)
			}
			if !yield(due, err) || err != nil {
				return
			}
		}
	}
}

// outline makes the further results of a plan, except for their descriptions.
func (t *Transitioner) outline(wu store.Workunit, results []store.Result, p Plan, now time.Time) []store.Result {
	made := make([]store.Result, 0, p.NewResults)
	first := nextNumber(wu.Name, results)
	kind, priority := p.of(wu).Kind(), wu.Priority
	if replaces(wu, results, p) {
		priority += t.Urgent.PriorityOnOver
	}
	for i := range p.NewResults {
		made = append(made, store.Result{
			CreateTime: now, WorkunitID: wu.ID, AppID: wu.AppID, Name: wu.Name + "_" + strconv.Itoa(first+i),
			Batch: wu.Batch, Priority: priority, Random: random(), ServerState: store.Unsent, Kind: kind,
		})
	}
	return made
}

// replaces reports whether the results of a plan are made because others of the workunit are
// over: they failed, their deadline passed, or they did not agree.
func replaces(wu store.Workunit, results []store.Result, p Plan) bool {
	return len(p.TimedOut) > 0 || slices.ContainsFunc(results, func(r store.Result) bool {
		return r.ServerState == store.Over && r.ID > wu.RetriedResultID
	})
}

// random returns the number that makes the names of a result's output files hard
// to guess: 31 bits, as in BOINC.
func random() int64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.BigEndian.Uint32(b[:]) >> 1)
}

// nextNumber returns one more than the highest suffix of the results' names.
func nextNumber(workunit string, results []store.Result) int {
	next := 0
	for _, r := range results {
		suffix, ok := strings.CutPrefix(r.Name, workunit+"_")
		if n, err := strconv.Atoi(suffix); ok && err == nil {
			next = max(next, n+1)
		}
	}
	return next
}

// describe fills in the descriptions, on all processors.
func (t *Transitioner) describe(due []*work) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, w := range due {
		if len(w.made) == 0 {
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			for j := range w.made {
				r := &w.made[j]
				if r.XMLDocIn, w.err = t.Describe(w.wu, r.Name, r.Random); w.err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
}

// handleAll handles workunits in one transaction. Those whose plan changes other
// workunits come last, one by one, as the others may be among these.
func (t *Transitioner) handleAll(tx *store.Tx, due []*work, now time.Time) error {
	ids := make([]int64, 0, len(due))
	for _, w := range due {
		ids = append(ids, w.wu.ID)
	}
	jobs, err := tx.Jobs(ids)
	if err != nil {
		return err
	}
	for _, w := range due {
		j, ok := jobs[w.wu.ID]
		if !ok || w.plan.FreeSuccessors {
			continue
		}
		if err := t.handle(tx, w, j, now); err != nil {
			return err
		}
	}
	for _, w := range due {
		if !w.plan.FreeSuccessors {
			continue
		}
		j, err := tx.Job(w.wu.ID)
		if err != nil {
			return err
		}
		if err := t.handle(tx, w, j, now); err != nil {
			return err
		}
	}
	wus := make([]store.Workunit, len(due))
	for i, w := range due {
		wus[i] = w.wu
	}
	return t.endBatches(tx, wus)
}

// handle decides again on the data that the transaction sees and applies the plan. If the workunit
// has changed so that the prepared results do not fit, it is left as it is. As it is still due, it
// is processed again at once.
func (t *Transitioner) handle(tx *store.Tx, w *work, j store.Job, now time.Time) error {
	wu, results := j.Workunit, j.Results
	made, err := t.awaited(tx.View, wu, results)
	if err != nil {
		return err
	}
	plan := Decide(wu, t.Clock.extended(results, now), now, t.DeleteDelay.Duration(), made)
	switch {
	case wu.TransitionTime.After(now):
		return nil // another process was here
	case w.err != nil:
		t.Log.Error("can't make results", "workunit", wu.Name, "err", w.err, "retry_in", retry)
		return tx.PutOffTransition(wu.ID, now.Add(retry))
	case !reflect.DeepEqual(plan, w.plan):
		return nil
	}
	tx.SetCause(now, "transitioner", plan.why())
	err = t.apply(tx, wu, plan.of(wu), results, plan, w.made)
	if err == nil && plan.FreeSuccessors {
		err = freeSuccessors(tx, wu, results, now, t.Affinity.First(now))
	}
	if errors.Is(err, store.ErrLost) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("workunit %s: %w", wu.Name, err)
	}
	if plan.ErrorMask != wu.ErrorMask {
		t.Log.Warn("workunit given up", "workunit", wu.Name, "reasons", plan.ErrorMask.Reasons())
	}
	return nil
}

// apply stores a plan, which moves a workunit from old to wu.
func (t *Transitioner) apply(tx *store.Tx, old, wu store.Workunit, results []store.Result, p Plan, made []store.Result) error {
	moved := make(map[int64]store.Result, len(results))
	for _, r := range results {
		moved[r.ID] = r
	}
	move := func(ids []int64, change func(*store.Result)) {
		for _, id := range ids {
			r := moved[id]
			change(&r)
			moved[id] = r
		}
	}
	move(p.TimedOut, func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.NoReply })
	move(p.DidntNeed, func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.DidntNeed })
	move(p.TooLate, func(r *store.Result) { r.ValidateState = store.TooLate })
	move(p.NoCheck, func(r *store.Result) { r.ValidateState = store.NoCheck })
	move(p.DeleteOutput, func(r *store.Result) { r.FileDeleteState = store.DeleteReady })
	for _, old := range results {
		if r := moved[old.ID]; r != old {
			if err := tx.SaveResult(old, r); err != nil {
				return err
			}
		}
	}
	for _, id := range p.TimedOut {
		failed := func(h store.HostAppVersion) store.HostAppVersion { return hostversion.Failed(h, t.DailyQuota) }
		if err := tx.ChangeHostAppVersion(moved[id], failed); err != nil {
			return err
		}
	}
	for _, r := range made {
		if wu.Awaiting {
			r.ServerState = store.Inactive
		}
		if err := tx.AddResult(r); err != nil {
			return err
		}
	}
	return tx.SaveWorkunit(old, wu)
}

// of returns the workunit after the plan.
func (p *Plan) of(wu store.Workunit) store.Workunit {
	wu.NeedValidate, wu.ErrorMask, wu.TransitionTime = p.NeedValidate, p.ErrorMask, p.TransitionTime
	wu.LastChance = p.LastChance
	if p.AssimilateReady {
		wu.AssimilateState = store.AssimilateReady
	}
	if p.DeleteInput {
		wu.FileDeleteState = store.DeleteReady
	}
	if p.Uncommit {
		wu.HRClass, wu.AppVersionID = 0, 0
	}
	return wu
}
