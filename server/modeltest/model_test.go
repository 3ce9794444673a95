package modeltest

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/transitioner"
)

// allSteps returns the number of steps of all histories together. The tests' parameters are in the environment,
// because Go remembers no result of a test with additional flags. Go's cache does not notice variables that are
// read before the tests begin.
func allSteps() int { return number("STARLING_MODEL_STEPS", 2_000) }

func number(variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", variable, err))
	}
	return n
}

const (
	whole  = 20_000 // steps of a history
	length = 2000   // steps before the final rest
)

// A step is one act: a request, a computation, a pass of a daemon, a change of the
// clock, a cancellation, a restart.
func TestModel(t *testing.T) {
	if os.Getenv("STARLING_MODEL_POSTGRES") != "" {
		pg := testpg.Start(t)
		inMemory := openStore
		t.Cleanup(func() { openStore = inMemory })
		openStore = func(t testing.TB) *store.Store {
			st, err := store.Open(t.Context(), pg.Database(t))
			must(t, err)
			return st
		}
	}
	first := number("STARLING_MODEL_SEED", 1)
	for i := range max(1, allSteps()/whole) {
		seed, steps := uint64(first+i), min(whole, allSteps())
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			w := newDoubtfulWorld(t, seed)
			defer w.close()
			w.live(steps)
			t.Logf("%d workunits were suspicious; %d were revived, %d of them after they had been canceled; %d of %d results went to GPUs, %d to programs of volunteers' own", w.doubted, w.retried, w.undone, w.onGPUs, w.sends, w.own)
			if w.failed {
				t.Fatalf("replay with: STARLING_MODEL_SEED=%d STARLING_MODEL_STEPS=%d go test ./server/modeltest -run TestModel", seed, steps)
			}
		})
	}
}

// In this history, a computer that is known under a second number reports a result of its first one
// and asks for work. The report makes the result its own, so it may not get another of that workunit.
func TestAHostThatReportsForItsOtherNumber(t *testing.T) {
	w := newWorld(t, 85)
	defer w.close()
	w.live(1000)
	if w.failed {
		t.Error("the scheduler failed")
	}
}

// A seed determines a whole history, or a failure could not be replayed.
func TestReplay(t *testing.T) {
	for seed := range uint64(1 + allSteps()/20_000) {
		var stories [2]string
		for i := range stories {
			w := newDoubtfulWorld(t, seed)
			w.live(length / 2)
			w.view(func(tx *store.View) error {
				for _, name := range w.names {
					stories[i] += tell(tx, name)
				}
				return nil
			})
			stories[i] += fmt.Sprint(w.now, w.steps, w.rng.Uint64())
			w.close()
		}
		if stories[0] != stories[1] {
			t.Errorf("seed %d has two histories:\n%s\n\n%s", seed, stories[0], stories[1])
		}
	}
}

// live runs so many steps, with a rest from time to time.
func (w *world) live(steps int) {
	for w.steps < steps && !w.failed {
		for end := min(steps, w.steps+length); w.steps < end && !w.failed; {
			w.event()
		}
		if !w.failed {
			w.rest()
		}
		if !w.failed && w.chance(0.3) {
			w.share()
			w.rest()
		}
	}
}

// event takes one step, or none if it is the turn of a daemon that may not run now.
func (w *world) event() {
	if w.failed {
		return
	}
	if w.depth == 0 && w.chance(0.002) {
		w.doctor()
	}
	if w.chance(0.3) {
		w.now = w.now.Add(time.Duration(w.rng.IntN(60)) * time.Second)
	}
	if w.doubts != nil && w.doubts.Float64() < 0.005 {
		u := w.users[w.doubts.IntN(len(w.users))]
		w.trust(u, !u.trusted)
	}
	x := w.rng.IntN(1000)
	switch {
	case x < 250:
		w.rpc(w.hosts[w.rng.IntN(len(w.hosts))], float64(w.rng.IntN(3)*5000))
		return
	case x < 500:
		w.compute(w.hosts[w.rng.IntN(len(w.hosts))])
		return
	case x < 900:
		w.daemon(w.rng.IntN(daemons))
		return
	}
	w.steps++
	switch {
	case x < 930:
		w.create()
	case x < 936:
		w.cancel()
	case x < 942:
		w.retry()
	case x < 964:
		w.nonsense()
	case x < 966:
		w.deprecate()
	case x < 968:
		w.republish()
	case x < 990:
		w.now = w.now.Add(time.Duration(w.rng.IntN(4)*w.rng.IntN(3600)) * time.Second)
	case x < 993:
		w.now = w.now.Add(-time.Duration(w.rng.IntN(3600)) * time.Second)
	case x < 994:
		w.restart()
	case x < 996: // a computer is restored from an old copy of its disk
		h := w.hosts[w.rng.IntN(len(w.hosts))]
		h.seqno = max(0, h.seqno-3)
	case x < 998: // its user removes the project and attaches again
		h := w.hosts[w.rng.IntN(len(w.hosts))]
		h.id, h.seqno, h.have = 0, 0, nil
	default:
		w.addHost(w.users[w.rng.IntN(len(w.users))], manners[w.rng.IntN(len(manners))]).withOwn(w)
	}
}

func (w *world) daemon(d int) {
	switch {
	case w.depth > 1:
	case w.depth == 1 && (d == assimilation && w.assim > 0):
		// Two assimilators at a time would hand an outcome over twice.
	case d == purging:
		w.purge(w.depth)
	default:
		w.pass(w.depth, d)
	}
}

func (w *world) restart() {
	if w.depth == 0 {
		w.boot()
	}
}

func (w *world) create() {
	if len(w.names)-w.finished() > 60 {
		return
	}
	m := 1 + w.rng.IntN(4)
	n := m + w.rng.IntN(3)
	c := n + w.rng.IntN(4)
	b := c + w.rng.IntN(6)
	after := ""
	if len(w.names) > 0 && w.chance(0.2) {
		after = w.names[max(0, len(w.names)-1-w.rng.IntN(20))]
		w.view(func(tx *store.View) error {
			_, err := tx.WorkunitByName(after)
			if errors.Is(err, store.ErrNotFound) {
				after, err = "", nil // just purged
			}
			return err
		})
	}
	x := spec{
		app: w.apps[w.rng.IntN(len(w.apps))], m: m, n: n, c: c, b: b, a: 1 + w.rng.IntN(4), need: w.drawNeed(),
		delay: time.Duration(60+w.rng.IntN(20_000)) * time.Second, priority: int64(w.rng.IntN(3)), after: after,
	}
	if w.chance(0.1) {
		if x.target = w.drawTarget(); x.target != (store.Target{}) {
			if x.target.Alone() {
				x.m, x.n = 1, 1
			}
		}
	}
	x.needs = w.doubts != nil && len(w.names) > 0 && w.doubts.Float64() < 0.1
	w.insert(x)
}

// A spec has an operator's settings for a workunit: quorum m, target n, at most c successes, b
// results and a errors.
type spec struct {
	app           *app
	m, n, c, b, a int
	delay         time.Duration
	priority      int64
	need          need
	target        store.Target
	after         string // the workunit that it comes after, "" for none
	needs         bool   // another workunit must succeed first
}

// A need has the resources that a workunit needs on a computer.
type need struct{ fpops, memory, disk float64 }

// drawNeed draws the needs of work. Some is too much for many computers.
func (w *world) drawNeed() need {
	return need{
		fpops: []float64{1e11, 1e12, 1e13}[w.rng.IntN(3)], memory: []float64{1e6, 1e6, 1e9, 6e9}[w.rng.IntN(4)],
		disk: []float64{1e6, 1e6, 5e9}[w.rng.IntN(3)],
	}
}

// drawTarget draws a computer, an account or the team.
func (w *world) drawTarget() store.Target {
	h := w.hosts[w.rng.IntN(len(w.hosts))]
	if w.team != 0 && w.chance(0.3) {
		return store.Target{Type: store.TargetTeam, ID: w.team}
	}
	if w.chance(0.5) {
		return store.Target{Type: store.TargetUser, ID: h.user.id}
	}
	if h.id == 0 {
		return store.Target{} // it has yet to come
	}
	return store.Target{Type: store.TargetHost, ID: h.id}
}

// insert adds a workunit.
func (w *world) insert(x spec) {
	name := fmt.Sprintf("wu%d", w.made)
	w.made++
	wu := store.Workunit{
		CreateTime: w.now, AppID: x.app.id, Name: name, RscFpopsEst: x.need.fpops, RscFpopsBound: 100 * x.need.fpops, RscMemoryBound: x.need.memory, RscDiskBound: x.need.disk,
		DelayBound: x.delay, MinQuorum: x.m, TargetNResults: x.n, MaxErrorResults: x.a, MaxTotalResults: x.b, MaxSuccessResults: x.c, Priority: x.priority, Batch: int64(w.made / 20),
		ResultTemplateFile: "templates/out", TransitionTime: w.now, Target: x.target,
	}
	if token := int64(w.made/20) % 3; w.tokens && token > 0 {
		wu.Batch += 1_000_000_000
		wu.TokenID, wu.OwnPriority = token, int64(w.made%2)
	}
	row := protocol.Workunit{
		Name: name, AppName: x.app.name, RscFpopsEst: wu.RscFpopsEst, RscFpopsBound: wu.RscFpopsBound, RscMemoryBound: wu.RscMemoryBound, RscDiskBound: wu.RscDiskBound,
	}
	for _, f := range inputsOf(name) {
		wu.XMLDoc += protocol.FileInfo{Name: f, NBytes: 5, MD5: "5d41402abc4b2a76b9719d911017c592"}.XML()
		row.FileRefs = append(row.FileRefs, protocol.FileRef{FileName: f, OpenName: f})
	}
	wu.XMLDoc += row.XML()
	k := &truth{quorum: x.m, app: x.app, target: x.target, need: x.need}
	k.doubtful = w.doubts != nil && w.doubts.Float64() < 0.1 && !x.target.Alone()
	if x.target != (store.Target{}) {
		w.targets[x.target] = true
	}
	w.update(func(tx *store.Tx) (err error) {
		for _, f := range inputsOf(name) {
			w.input[f] = true
			if wu.TokenID != 0 {
				if err := tx.KeepFile(wu.TokenID, f, 5); err != nil {
					return err
				}
			}
		}
		if x.after != "" {
			before := w.wus[x.after].id
			wu.Predecessor, wu.PredecessorPending, wu.Awaiting = before, true, true
			if err := tx.Chain(before, w.now); err != nil {
				return err
			}
		}
		needed := int64(0)
		if x.needs {
			needed = w.needed(tx.View)
		}
		wu.Awaiting = wu.Awaiting || needed != 0
		if k.id, err = storetest.InsertWorkunit(tx, wu, inputsOf(name)...); err != nil || needed == 0 {
			return err
		}
		if err := tx.AwaitOutput(store.AwaitedOutput{WorkunitID: k.id, Predecessor: needed}); err != nil {
			return err
		}
		return tx.Chain(needed, w.now)
	})
	w.wus[name] = k
	w.names = append(w.names, name)
	for _, f := range inputsOf(name) {
		w.owners[f] = append(w.owners[f], name)
	}
}

// needed draws a workunit that must succeed before another one, or 0.
func (w *world) needed(tx *store.View) int64 {
	wu, err := tx.WorkunitByName(w.names[max(0, len(w.names)-1-w.doubts.IntN(20))])
	if err != nil {
		return 0 // just purged
	}
	return wu.ID
}

// finished counts the workunits whose outcome was handed over.
func (w *world) finished() (n int) {
	for _, k := range w.wus {
		if k.calls > 0 {
			n++
		}
	}
	return n
}

// retry revives a workunit that was given up, if any. A running assimilator would hand over the
// state that it has read before, so retry waits until no assimilator runs.
func (w *world) retry() {
	if len(w.names) == 0 || w.assim > 0 {
		return
	}
	first := w.rng.IntN(len(w.names))
	w.update(func(tx *store.Tx) error {
		for i := range w.names {
			k := w.wus[w.names[(first+i)%len(w.names)]]
			refused, err := transitioner.Retry(tx, k.id, true, w.now, "work retry")
			undone := refused == transitioner.Cancelled
			if undone {
				refused, err = transitioner.Uncancel(tx, k.id, w.now, "work cancel --undo")
			}
			if errors.Is(err, store.ErrNotFound) || err == nil && refused != "" {
				continue // just purged, or not given up
			}
			if err == nil {
				k.calls, k.lost, k.outcome = 0, 0, ""
				w.retried++
				if undone {
					w.undone++
				}
			}
			return err
		}
		return nil
	})
}

func (w *world) cancel() {
	if len(w.names) == 0 {
		return
	}
	k := w.wus[w.names[w.rng.IntN(len(w.names))]]
	w.update(func(tx *store.Tx) error {
		_, err := transitioner.Cancel(tx, k.id, w.now)
		if errors.Is(err, store.ErrNotFound) {
			err = nil // just purged
		}
		return err
	})
}
