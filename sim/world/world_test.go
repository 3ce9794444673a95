package world

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

var (
	seedFlag = flag.Uint64("world.seed", 1, "seed of the first world")
	daysFlag = flag.Int("world.days", 400, "host-days in all, before the worlds come to rest")
	tellFlag = flag.Bool("world.tell", false, "tell the story of each world")
)

// A world has so many computers for so many days before it comes to rest, or fewer if a smaller
// number is requested.
const (
	hosts = 60
	days  = 60
)

const (
	masterURL = "http://127.0.0.1/world/"
	appName   = "echo"
	day       = 24 * time.Hour
)

func TestWorld(t *testing.T) {
	began := time.Now()
	each := min(*daysFlag, hosts*days)
	n := (*daysFlag + each - 1) / each
	var mu sync.Mutex
	lived := 0.0
	t.Run("worlds", func(t *testing.T) {
		for i := range n {
			seed := *seedFlag + uint64(i)
			t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, seed)
				w.size = max(4, each/days)
				defer func() {
					mu.Lock()
					lived += w.lived.Hours() / 24
					mu.Unlock()
					w.print()
					if !t.Failed() {
						return
					}
					t.Logf("replay with: go test ./sim/world -count=1 -timeout 0 -run 'TestWorld/worlds/%d$' -world.seed=%d -world.days=%d -world.tell", seed, seed, each)
				}()
				w.play(t)
			})
		}
	})
	took := time.Since(began)
	t.Logf("%d worlds, %.0f host-days in %v, %.0f a second", n, lived, took.Round(time.Second), lived/took.Seconds())
}

// A world is a project with its computers.
type world struct {
	t     *testing.T
	seed  uint64
	size  int     // computers at first
	days  int     // until nothing goes wrong any more
	mood  float64 // rate of trouble with messages and daemons, where 1 is bad enough
	dir   string
	began time.Time
	ctx   context.Context // of all that happens in the world
	wg    sync.WaitGroup

	p     *project.Project
	keys  []protocol.Authenticator // of the accounts
	units []string                 // workunits by name
	bell  chan struct{}

	resting atomic.Bool   // nothing goes wrong any more
	calmed  chan struct{} // closed then

	server  sync.Mutex // one request or pass of the daemons at a time
	handler http.Handler
	full    bool                 // the server's disk is
	changed map[string]time.Time // files in upload/

	mu      sync.Mutex // guards the following fields
	hosts   []*host
	shares  map[share]string  // names of results
	claims  map[string]*claim // by name of a result
	story   []string
	telling bool
	lived   time.Duration // of all computers
}

// A share is a workunit sent to a host.
type share struct {
	host int64
	unit string
}

// A claim is the world's record of a result.
type claim struct {
	lied     bool // an application returned a wrong output
	right    bool // or the right one
	reported bool // the server took a report of it
	aborted  bool // the server asked a computer to abort it
}

func newWorld(t *testing.T, seed uint64) *world {
	mood := []float64{0.3, 1, 1, 4}[seed%4]
	return &world{
		t: t, seed: seed, dir: t.TempDir(), size: hosts, days: days, mood: mood, telling: *tellFlag,
		shares: make(map[share]string), claims: make(map[string]*claim), changed: make(map[string]time.Time),
	}
}

// play runs the world until it has come to rest.
func (w *world) play(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w.t = t
		ctx, cancel := context.WithCancel(t.Context())
		w.ctx = ctx
		w.began = time.Now()
		w.bell, w.calmed = make(chan struct{}, 1), make(chan struct{})
		defer func() {
			cancel()
			w.wg.Wait()
			if w.p != nil {
				if err := w.p.Close(); err != nil {
					t.Error(err)
				}
			}
		}()
		if !w.found() {
			return
		}
		w.wg.Go(w.daemons)
		for i := range w.size {
			w.join(i)
		}
		for range w.days {
			w.feed()
			w.queues()
			time.Sleep(day)
		}
		w.rest()
	})
}

func (w *world) print() {
	if !*tellFlag {
		return
	}
	for _, line := range w.story {
		fmt.Println(line)
	}
}

// draw returns randomness that depends on nothing but the seed and its purpose, so that no
// goroutine changes the luck of another.
func (w *world) draw(what ...any) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, what...)
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

// between draws a time, to the nanosecond: no two events fall together.
func between(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)))
}

// tell adds a line to the story.
func (w *world) tell(format string, args ...any) {
	if !w.telling {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.story = append(w.story, fmt.Sprintf("%20.9f ", time.Since(w.began).Seconds())+strings.ReplaceAll(fmt.Sprintf(format, args...), w.dir, ""))
}

func (w *world) failf(format string, args ...any) {
	w.tell("FAILED: "+format, args...)
	w.t.Errorf("after %v: "+format, append([]any{time.Since(w.began).Round(time.Second)}, args...)...)
}

func (w *world) must(err error) bool {
	if err != nil {
		w.failf("%v", err)
	}
	return err == nil
}

// claim returns the record of a result. w.mu must be locked.
func (w *world) claim(name string) *claim {
	c := w.claims[name]
	if c == nil {
		c = new(claim)
		w.claims[name] = c
	}
	return c
}

// found makes the project.
func (w *world) found() bool {
	dir := filepath.Join(w.dir, "project")
	if !w.must(operate.Init(w.ctx, dir, operate.NewProject{Name: "World", MasterURL: masterURL})) {
		return false
	}
	settings := filepath.Join(dir, "server.toml") // where it rests all files are to be deleted
	text, err := os.ReadFile(settings)
	text = bytes.Replace(text, []byte("delete_delay_hours = 24"), []byte("delete_delay_hours = 0"), 1)
	if !w.must(errors.Join(err, os.WriteFile(settings, text, 0o600))) || !w.open() {
		return false
	}
	program := filepath.Join(w.dir, "program")
	platform, _ := hostinfo.Platform()
	err = errors.Join(
		os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700),
		operate.AddApp(w.ctx, w.p, operate.NewApp{Name: appName, Validator: "bitwise", Assimilator: "copy"}, time.Now()),
		operate.AddVersion(w.ctx, w.p, operate.NewVersion{App: appName, Platform: platform, Number: "1.00", Main: program}, time.Now()),
	)
	for i := range 5 {
		w.addUser(i)
	}
	return w.must(err)
}

func (w *world) addUser(i int) {
	key, err := operate.AddUser(w.ctx, w.p, fmt.Sprintf("%d@example.org", i), "", "", time.Now())
	w.must(err)
	w.keys = append(w.keys, key)
}

// open starts the server's process.
func (w *world) open() bool {
	p, err := project.Open(w.ctx, filepath.Join(w.dir, "project"), slog.New(slog.DiscardHandler))
	if !w.must(err) {
		return false
	}
	p.Upload = disk{p.Upload, w}
	p.Config.PurgeAfter = 0 // all is looked at in the end
	w.p = p
	w.handler, err = server.New(p, server.Part{}).Handler(func() {
		select {
		case w.bell <- struct{}{}:
		default:
		}
	})
	return w.must(err)
}

// feed adds workunits, so that there is some work for all, and shortage at times.
func (w *world) feed() {
	w.server.Lock()
	defer w.server.Unlock()
	r := w.draw("feed", len(w.units), time.Since(w.began))
	g, err := operate.Generator(w.ctx, w.p, appName, time.Now())
	if !w.must(err) {
		return
	}
	for range r.IntN(1 + w.size/4) {
		name := fmt.Sprintf("wu%04d", len(w.units))
		path := filepath.Join(w.dir, "in")
		if !w.must(os.WriteFile(path, []byte(name), 0o600)) {
			return
		}
		quorum := 1 + r.IntN(2)
		flops := between(r, 12*time.Hour, 4*day).Seconds() * 1e9
		_, err := g.Create(w.ctx, []workgen.Spec{{
			Params: workgen.Params{
				Name: name, MinQuorum: quorum, TargetNResults: quorum, MaxErrorResults: 4, MaxTotalResults: 12, MaxSuccessResults: 8,
				DelayBound: between(r, 6*day, 18*day).Seconds(), RscFpopsEst: flops, RscFpopsBound: 10 * flops, RscMemoryBound: 1e6, RscDiskBound: 1e6,
			},
			Inputs: []workgen.Given{{Path: path, Logical: "in"}},
		}}, time.Now())
		if !w.must(err) {
			return
		}
		w.units = append(w.units, name)
	}
	w.ring()
}

func (w *world) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// daemons lets the server's daemons work when there is something to do, and every
// hour. Now and then they are killed in the middle, the server is restarted, or its
// disk is full.
func (w *world) daemons() {
	for n := 0; ; n++ {
		r := w.draw("daemons", n)
		select {
		case <-w.ctx.Done():
			return
		case <-w.bell:
			time.Sleep(between(r, time.Second, 10*time.Minute))
		case <-time.After(between(r, 2*time.Hour, 5*time.Hour)):
		}
		w.server.Lock()
		w.pass(n, r)
		w.server.Unlock()
	}
}

func (w *world) pass(n int, r *rand.Rand) {
	if w.ctx.Err() != nil {
		return
	}
	ctx := w.ctx
	if !w.calm() {
		w.full = chance(r, 0.02*w.mood) || w.full && chance(r, 0.7)
		if chance(r, 0.05*w.mood) {
			ctx = dying(ctx, int64(r.IntN(40)))
		}
		if chance(r, 0.005*w.mood) {
			w.tell("server restarts")
			if !w.must(w.p.Close()) || !w.open() {
				return
			}
		}
	} else {
		w.full = false
	}
	err := server.New(w.p, server.Part{}).RunOnce(ctx, time.Now())
	if ctx.Err() != nil {
		w.tell("daemons killed in pass %d", n)
		w.ring()
		return
	}
	w.must(err)
}

// calm reports whether nothing goes wrong any more.
func (w *world) calm() bool { return w.resting.Load() }

// view reads the database.
func (w *world) view(fn func(tx *store.View) error) {
	w.must(w.p.Store.View(w.ctx, fn))
}

// unsent counts the results that wait for a computer.
func (w *world) unsent() (n int) {
	w.view(func(tx *store.View) error {
		kinds, err := tx.UnsentKinds()
		for _, k := range kinds {
			list, err := tx.Unsent(k, store.First, 1000, store.Slice{})
			if err != nil {
				return err
			}
			n += len(list)
		}
		return err
	})
	return n
}

// A seed determines all of a world. Otherwise a failure could not be replayed.
func TestReplay(t *testing.T) {
	var stories [2][]string
	for i := range stories {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			w := newWorld(t, *seedFlag)
			w.size, w.days, w.telling = 8, 30, true
			defer w.print()
			w.play(t)
			slices.Sort(w.story)
			stories[i] = w.story
		})
	}
	for n, line := range stories[0] {
		if n >= len(stories[1]) || stories[1][n] != line {
			t.Fatalf("two worlds of one seed differ in line %d of %d and %d:\n%s\n\n%s", n, len(stories[0]), len(stories[1]),
				strings.Join(stories[0][max(0, n-5):n+1], "\n"), strings.Join(stories[1][max(0, n-5):min(n+1, len(stories[1]))], "\n"))
		}
	}
}
