package modeltest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/filedeleter"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/purger"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/setting"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
	"github.com/starling-grid/starling/server/validator"
)

// The daemons, in the order in which a workunit meets them.
const (
	transition = iota
	validation
	assimilation
	deletion
	purging
	daemons
)

// A world is a project with its hosts.
type world struct {
	t    testing.TB
	ctx  context.Context
	rng  *rand.Rand
	now  time.Time
	cfg  scheduler.Config
	lag  setting.Hours // delete_delay_hours
	keep setting.Days  // purge_after_days

	st    *store.Store
	sched *scheduler.Scheduler
	// Two processes' daemons, in the order of the constants.
	daemons [2][]func(context.Context, time.Time) (int, error)
	depth   int // daemons at work, one within an act of the other
	assim   int // of these, assimilators
	running *running
	once    [2]*sync.Once // a process's transitioner lets time pass once a pass
	drain   bool          // chance is over: no more failures of the server

	tokens bool       // most work is submitted with one of two tokens
	doubts *rand.Rand // draws doubtful work and trusted accounts, if there are any

	eventful, crashes, troubled float64 // chances, within each act of a daemon

	plain   bool // every computer is of one kind and can do everything
	apps    []*app
	users   []*user
	hosts   []*host
	wus     map[string]*truth
	names   []string
	made    int                         // workunits ever
	archive string                      // folder of purged work
	purged  map[string]bool             // workunits to be found there
	kept    map[int64]float64           // credit of hosts for these
	arrived map[string]time.Time        // of files
	files   map[string]string           // uploaded
	input   map[string]bool             // in download/
	given   map[string]match.Assignment // results, by the decision for the request under way
	sentTo  map[string]string           // of a result: the class of the computer
	codes   map[int64]string            // of classes of homogeneous redundancy
	targets map[store.Target]bool       // that work had
	team    int64                       // 0: not founded yet
	sent    tally
	sends   int             // results that were sent
	onGPUs  int             // of these, for coprocessors
	own     int             // results sent to programs of volunteers' own
	strays  map[string]bool // uploaded by hosts that were not to report any more
	gone    []string        // inputs that were deleted in this pass
	steps   int
	doubted int // workunits that ended with a suspicious result
	retried int // workunits that were revived
	undone  int // of these, those that had been canceled
	failed  bool
	owners  map[string][]string // of an input file: the workunits that need it
}

// running is a daemon's pass.
type running struct {
	crash context.CancelFunc
	calls []*truth // of the assimilator's handler
}

type user struct {
	id   int64
	key  protocol.Authenticator
	team bool // a member of the only one there is
	// trusted accounts decide about suspicious results.
	trusted bool
}

// truth is the model's record of a workunit.
type truth struct {
	id     int64
	app    *app
	target store.Target
	need   need
	quorum int
	// doubtful work has results that the validator finds suspicious.
	doubtful bool
	outcome  string // that was handed over
	calls    int
	lost     int // calls after which the assimilator died
}

// newDoubtfulWorld is newWorld with work whose results the validator finds suspicious, and for odd seeds with
// work of tokens.
func newDoubtfulWorld(t testing.TB, seed uint64) *world {
	w := newWorld(t, seed)
	if w.tokens = seed%2 == 1; w.tokens {
		w.update(func(tx *store.Tx) error {
			for _, name := range []string{"one", "two"} {
				if _, err := tx.InsertToken(store.Token{CreateTime: w.now, Name: name, Hash: name}); err != nil {
					return err
				}
			}
			for i := range int64(1000) { // of twenty workunits each
				if _, err := tx.InsertAPIBatch(store.APIBatch{CreateTime: w.now, Name: fmt.Sprint(i), TokenID: max(1, (i+1)%3)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	w.doubts = rand.New(rand.NewPCG(seed, 0x646f_7562))
	return w
}

func newWorld(t testing.TB, seed uint64) *world {
	w := emptyWorld(t, seed)
	w.boot()
	w.populate()
	return w
}

// emptyWorld draws the properties of a world.
func emptyWorld(t testing.TB, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 0x5374_6172))
	w := &world{
		t: t, ctx: t.Context(), rng: rng, now: time.Unix(1_800_000_000, 0),
		wus: make(map[string]*truth), files: make(map[string]string), input: make(map[string]bool), strays: make(map[string]bool), owners: make(map[string][]string), sentTo: make(map[string]string), given: make(map[string]match.Assignment), codes: make(map[int64]string), targets: make(map[store.Target]bool), sent: newTally(), arrived: make(map[string]time.Time), purged: make(map[string]bool), kept: make(map[int64]float64),
	}
	w.cfg = scheduler.Config{
		Name: "Model", MasterURL: "http://127.0.0.1/m/", DownloadURL: "http://127.0.0.1/m/download/",
		UploadURL: "http://127.0.0.1/m/file_upload_handler", CodeSignKey: "1024\nab\n.\n",
	}
	c := &w.cfg
	c.AnonymousPlatform, c.IdleIgnoreDelayBound = true, true // else some work is for no computer: learnt times may exceed its delay bound
	c.MaxWusToSend, c.MaxWusInProgress, c.DailyResultQuota = rng.IntN(5), rng.IntN(8), []int{0, 3, 100}[rng.IntN(3)]
	c.MaxWusInProgressGPU, c.GPUMultiplier, c.MaxNCPUs, c.PlanClasses = rng.IntN(4), rng.IntN(3), 4, planClasses
	c.OneResultPerUserPerWU, c.OneResultPerHostPerWU = w.chance(0.5), w.chance(0.8)
	c.ResendLostResults, c.SendResultAbort = w.chance(0.7), w.chance(0.8)
	c.MinSendworkInterval = setting.Seconds(rng.IntN(2) * 6)
	if w.chance(0.3) {
		w.cfg.Urgent = match.Urgent{OnPriority: 2, PriorityOnOver: int64(rng.IntN(3)), BatchEnd: 3, ReducedDelayBound: 0.5}
	}
	if w.chance(0.2) {
		w.cfg.MaxInfeasible = 1 + rng.IntN(3)
	}
	if w.chance(0.3) {
		w.lag = setting.Hours(rng.IntN(7200)) / 3600
	}
	w.keep, w.archive = setting.Days(1+w.rng.IntN(48))/24, filepath.Join(t.TempDir(), "archive")
	w.st = openStore(t)
	w.apps = w.drawApps()
	w.eventful, w.crashes, w.troubled = 0.1, 0.01, 0.02
	if w.chance(0.2) { // a bad day
		w.eventful, w.crashes, w.troubled = 0.5, 0.1, 0.2
	}
	return w
}

// openStore opens a new database.
var openStore = func(t testing.TB) *store.Store {
	st, err := store.OpenMemory(t.Context())
	must(t, err)
	return st
}

var must = testerr.Must

func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

// fault is like chance, for faults that must end in the final rest.
func (w *world) fault(p float64) bool { return !w.drain && w.chance(p) }

// trouble reports whether a disk fails now.
func (w *world) trouble() bool { return w.fault(w.troubled) }

// boot starts the server's processes on the database.
func (w *world) boot() {
	log := slog.New(slog.DiscardHandler)
	w.sched = &scheduler.Scheduler{Store: w.st, Log: log, Config: w.cfg, Rand: rand.New(rand.NewPCG(w.rng.Uint64(), 0))}
	w.sched.Feeder.Fresh = []time.Duration{0, time.Second, 1000 * time.Hour}[w.rng.IntN(3)]
	w.sched.Decided = w.decideAgain
	for i := range w.daemons {
		w.start(i)
	}
}

// start starts one process's daemons.
func (w *world) start(i int) {
	log := slog.New(slog.DiscardHandler)
	{
		t := &transitioner.Transitioner{Store: w.st, Log: log, Describe: w.describe(i), Urgent: w.cfg.Urgent, DailyQuota: w.cfg.DailyResultQuota, Settings: transitioner.Settings{DeleteDelay: w.lag}}
		v := &validator.Validator{
			Store: w.st, Log: log, DailyQuota: w.cfg.DailyResultQuota,
			Checker: func(context.Context, int64) (validator.Checker, error) {
				return validator.Comparing(comparator{w}), nil
			},
			Clock: func() time.Time { return w.now },
		}
		a := &assimilator.Assimilator{
			Store: w.st, Log: log, Handler: func(context.Context, int64) (assimilator.Handler, error) { return handler{w}, nil },
			Taken: t.Taken,
		}
		d := &filedeleter.Deleter{Store: w.st, Log: log, Download: inputs{w}, Upload: outputs{w: w}}
		p := &purger.Purger{Store: w.st, Log: log, Dir: w.archive, Upload: outputs{w: w}, Settings: purger.Settings{PurgeAfter: w.keep}}
		courier := &transitioner.Courier{Store: w.st, Log: log} // of outcomes alone, without files
		transit := func(ctx context.Context, now time.Time) (int, error) {
			n, err := courier.Pass(ctx, now)
			if err != nil {
				return n, err
			}
			m, err := t.Pass(ctx, now)
			return n + m, err
		}
		w.daemons[i] = []func(context.Context, time.Time) (int, error){transit, v.Pass, a.Pass, d.Pass, p.Pass}
	}
}

func (w *world) close() { must(w.t, w.st.Close()) }

func (w *world) populate() {
	for _, a := range w.apps {
		w.insertApp(a)
	}
	for range 2 + w.rng.IntN(5) {
		w.addUser()
	}
	for range 3 + w.rng.IntN(8) {
		w.addHost(w.users[w.rng.IntN(len(w.users))], manners[w.rng.IntN(len(manners))]).withOwn(w)
	}
}

func (w *world) addUser() *user {
	u := &user{key: protocol.Authenticator(fmt.Sprintf("%032x", len(w.users)+1))}
	w.update(func(tx *store.Tx) (err error) {
		u.id, err = tx.InsertUser(store.User{
			CreateTime: w.now, EmailAddr: fmt.Sprintf("%d@example.org", len(w.users)), Name: "u",
			Authenticator: u.key, CrossProjectID: "c",
		})
		return err
	})
	w.users = append(w.users, u)
	if w.chance(0.3) {
		w.join(u)
	}
	return u
}

// trust makes a user trusted, or ends that.
func (w *world) trust(u *user, trust bool) *user {
	w.update(func(tx *store.Tx) error {
		return store.Change(tx.User, u.id, tx.SaveUser, func(u *store.User) { u.Trusted = trust })
	})
	u.trusted = trust
	return u
}

// join makes a user a member of the team.
func (w *world) join(u *user) *user {
	w.update(func(tx *store.Tx) (err error) {
		if w.team == 0 {
			if w.team, err = tx.InsertTeam(store.Team{CreateTime: w.now, UserID: u.id, Name: "t"}); err != nil {
				return err
			}
		}
		return store.Change(tx.User, u.id, tx.SaveUser, func(u *store.User) { u.TeamID = w.team })
	})
	u.team = true
	return u
}

func (w *world) update(fn func(tx *store.Tx) error) {
	w.t.Helper()
	if err := w.st.Update(w.ctx, fn); err != nil {
		w.failf("%v", err)
	}
}

func (w *world) view(fn func(tx *store.View) error) {
	w.t.Helper()
	if err := w.st.View(w.ctx, fn); err != nil {
		w.failf("%v", err)
	}
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	w.failed = true
	w.t.Errorf("step %d: "+format, append([]any{w.steps}, args...)...)
}

// meanwhile lets something else happen while a daemon is in the middle of its
// work, or the daemon die.
func (w *world) meanwhile() {
	if w.drain || w.depth > 1 {
		return
	}
	r := w.running
	if w.chance(w.eventful) {
		for range 1 + w.rng.IntN(3) {
			w.event()
		}
	}
	if w.chance(w.crashes) {
		r.crash()
	}
}

// describe makes new results' descriptions. The transitioner calls it from
// several goroutines, so time passes only in the first.
func (w *world) describe(process int) func(store.Workunit, string, int64) (string, error) {
	return func(_ store.Workunit, result string, _ int64) (string, error) {
		w.once[process].Do(w.meanwhile)
		return protocol.FileInfo{Name: output(result), GeneratedLocally: true, MaxNBytes: 99, XMLSignature: "bb\n."}.XML() +
			protocol.Result{Name: result, FileRefs: []protocol.FileRef{{FileName: output(result), OpenName: "out"}}}.XML(), nil
	}
}

// pass lets a daemon work.
func (w *world) pass(process, daemon int) int {
	w.steps++
	ctx, crash := context.WithCancel(w.ctx)
	defer crash()
	outer := w.running
	w.running = &running{crash: crash}
	w.depth++
	w.once[process] = new(sync.Once)
	if daemon == assimilation {
		w.assim++
	}
	n, err := w.daemons[process][daemon](ctx, w.now)
	w.checkGone()
	dead := ctx.Err() != nil
	if dead {
		w.start(process)
		w.view(func(tx *store.View) error {
			for _, k := range w.running.calls {
				wu, err := tx.Workunit(k.id)
				if errors.Is(err, store.ErrNotFound) {
					continue // purged meanwhile
				}
				if err != nil {
					return err
				}
				if wu.AssimilateState != store.AssimilateDone {
					k.lost++ // the handler was called without a record: it will be called again
				}
			}
			return nil
		})
	}
	if daemon == assimilation {
		w.assim--
	}
	w.depth--
	w.running = outer
	if err != nil && !dead {
		w.failf("daemon %d: %v", daemon, err)
	}
	return n
}

// comparator compares outputs by their content.
type comparator struct{ w *world }

func (c comparator) Load(_ context.Context, r store.Result) (any, error) {
	c.w.meanwhile()
	if c.w.trouble() {
		return nil, errors.New("disk trouble")
	}
	out, ok := c.w.files[output(r.Name)]
	if !ok {
		return nil, fmt.Errorf("%w: never arrived", validator.ErrOutput)
	}
	if k := c.w.wus[r.Name[:strings.LastIndex(r.Name, "_")]]; k != nil && k.doubtful {
		return out, validator.ErrSuspicious
	}
	return out, nil
}

func (c comparator) Match(a, b any) bool { return a == b }

// handler takes outcomes and sees that there is one for each workunit.
type handler struct{ w *world }

func (h handler) Assimilate(_ context.Context, wu store.Workunit, _ []store.Result, canonical *store.Result) error {
	w := h.w
	if w.trouble() {
		return errors.New("disk trouble")
	}
	k := w.wus[wu.Name]
	outcome := "given up: " + strings.Join(wu.ErrorMask.Reasons(), ", ")
	if canonical != nil {
		out, ok := w.files[output(canonical.Name)]
		if !ok {
			w.failf("%s is assimilated without its canonical output", wu.Name)
		}
		outcome = canonical.Name + " " + out
	}
	if k.calls > 0 && k.outcome != outcome {
		w.failf("%s is assimilated again, as %q after %q", wu.Name, outcome, k.outcome)
	}
	k.calls++
	k.outcome = outcome
	w.running.calls = append(w.running.calls, k)
	w.meanwhile()
	return nil
}

// inputs is download/.
type inputs struct{ w *world }

func (d inputs) Remove(_ context.Context, name string) error {
	w := d.w
	if w.trouble() {
		return errors.New("disk trouble")
	}
	w.gone = append(w.gone, name)
	delete(w.input, name)
	return nil
}

// checkGone checks that the inputs that were deleted are no longer needed.
func (w *world) checkGone() {
	for _, name := range w.gone {
		for _, wu := range w.owners[name] {
			w.view(func(tx *store.View) error {
				row, err := tx.WorkunitByName(wu)
				if errors.Is(err, store.ErrNotFound) {
					return nil // purged
				}
				if err != nil {
					return err
				}
				results, err := tx.ResultsOf(row.ID)
				for _, r := range results {
					if r.ServerState != store.Over {
						w.failf("input %s goes while %s is %v", name, r.Name, r.ServerState)
					}
				}
				if row.AssimilateState != store.AssimilateDone {
					w.failf("input %s goes before %s is assimilated", name, wu)
				}
				return err
			})
		}
	}
	w.gone = nil
}

// outputs is upload/.
type outputs struct {
	blob.Tree // the methods that are not called
	w         *world
}

// output is the name of a result's output file.
func output(result string) string { return result + "_r1_0" }

// Walk lets other parts run between two files.
func (d outputs) Walk(_ context.Context, fn func(name string, modified time.Time) error) error {
	for _, name := range slices.Sorted(maps.Keys(d.w.files)) {
		d.w.meanwhile()
		if err := fn(name, d.w.arrived[name]); err != nil {
			return err
		}
	}
	return nil
}

func (d outputs) Remove(_ context.Context, name string) error {
	d.w.checkGone() // before others come that need such inputs
	d.w.meanwhile() // no transaction is open
	if _, there := d.w.files[name]; there && d.w.trouble() {
		return errors.New("disk trouble")
	}
	delete(d.w.files, name)
	return nil
}

// inputsOf returns a workunit's input files: one that only it has and one that it shares with its
// neighbors.
func inputsOf(wu string) []string {
	return []string{"in_" + wu, "shared_" + wu[:len(wu)-1]}
}
