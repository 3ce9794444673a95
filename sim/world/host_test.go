package world

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/agent"
	agentlife "github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// A manner is a computer's behavior: chances for each of its acts.
type manner struct {
	fails, hangs, lies float64 // of a result
	kills              float64 // that a life ends by a kill
	vanish             float64 // for good, after a life
	backup, restore    float64 // after a life
	clone              float64 // after a life
	net                float64 // badness of the connection, where 1 is bad enough
	jumps              float64 // of the clock, after a life
	full               float64 // a full disk, in a life
}

var manners = []manner{
	{net: 0.2},
	{net: 1, kills: 0.3},
	{net: 1, kills: 0.7, fails: 0.05},
	{net: 3, kills: 0.5, hangs: 0.05},
	{net: 1, kills: 0.5, lies: 0.5},
	{net: 1, lies: 1},
	{net: 1, kills: 0.3, fails: 0.5},
	{net: 1, kills: 0.5, backup: 0.3, restore: 0.2},
	{net: 1, kills: 0.3, clone: 0.1},
	{net: 1, kills: 0.3, vanish: 0.15},
	{net: 1, kills: 0.3, jumps: 0.5},
	{net: 1, kills: 0.3, full: 0.5},
	{net: 3, kills: 0.8, fails: 0.1, hangs: 0.05, lies: 0.1, backup: 0.2, restore: 0.1, clone: 0.03, jumps: 0.1, full: 0.3},
}

// A host is a computer with an agent's data directory.
type host struct {
	w      *world
	name   string
	addr   string
	key    protocol.Authenticator
	cpus   int
	manner manner
	dir    string
	clones int
	wrong  time.Duration // how much its clock is ahead

	// Under w.mu.
	tries     map[string]int       // requests so far, by what for
	born      time.Time            //
	notBefore time.Time            // required by the server
	heard     time.Time            // when
	fresh     map[string]time.Time // results finished in this life, and when
	kept      map[string]time.Time // results finished for good
	gone      bool                 // it will never be on again
	life      *life                // nil while it is off
	asked     []time.Time          // the scheduler, within a day
}

// join makes a computer and lets it live.
func (w *world) join(i int) *host {
	r := w.draw("host", i)
	name := fmt.Sprintf("h%03d", i)
	h := w.newHost(name, w.keys[r.IntN(len(w.keys))], manners[r.IntN(len(manners))])
	h.cpus = 1 + r.IntN(2)
	cpid := fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64())
	if !w.must(h.prepare(cpid)) {
		return h
	}
	w.wg.Go(func() {
		if !w.calm() {
			h.rest(between(r, time.Second, 2*day))
		}
		h.live()
	})
	return h
}

func (w *world) newHost(name string, key protocol.Authenticator, m manner) *host {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := &host{
		w: w, name: name, key: key, manner: m, dir: filepath.Join(w.dir, name), born: time.Now(),
		addr:  fmt.Sprintf("192.0.2.%d:1024", 1+len(w.hosts)%250),
		tries: make(map[string]int), fresh: make(map[string]time.Time), kept: make(map[string]time.Time),
	}
	w.hosts = append(w.hosts, h)
	return h
}

// prepare makes the data directory.
func (h *host) prepare(cpid string) error {
	if err := os.Mkdir(h.dir, 0o700); err != nil {
		return err
	}
	db, err := state.Open(filepath.Join(h.dir, "state.db"))
	if err != nil {
		return err
	}
	err = db.Update(func(tx *state.Tx) {
		db.Hosts.Put(tx, state.Self, state.Host{CPID: cpid, Fpops: 1e9 + 1, Iops: 1e9})
	})
	return errors.Join(err, db.Close(),
		os.WriteFile(filepath.Join(h.dir, "prefs.toml"), []byte("disk_min_free_gb = 0\nsuspend_cpu_usage = 0\n"), 0o600),
		settings.WriteAccount(h.dir, settings.Account{MasterURL: masterURL, Authenticator: h.key, ResourceShare: 100}))
}

// live runs one life after the other, with rests between.
func (h *host) live() {
	w := h.w
	for n := 0; w.ctx.Err() == nil; n++ {
		r := w.draw("life", h.name, n)
		l, err := h.start(n, r)
		if !w.must(err) {
			return
		}
		h.spend(l, r)
		if !h.end(l) || w.ctx.Err() != nil {
			return
		}
		if w.calm() {
			continue
		}
		switch m := h.manner; {
		case chance(r, m.vanish):
			w.tell("%s vanishes", h.name)
			w.mu.Lock()
			h.gone = true
			w.lived += time.Since(h.born)
			w.mu.Unlock()
			return
		case chance(r, m.restore):
			h.restore()
		case chance(r, m.backup):
			h.backup()
		case chance(r, m.clone):
			h.clone()
		case chance(r, m.jumps):
			h.jump(between(r, -20*day, 20*day))
		}
		h.rest(between(r, time.Second, 5*day))
		if w.calm() {
			time.Sleep(between(r, time.Second, day)) // not all at once
		}
	}
}

// spend lets a life continue until it is time for its end.
func (h *host) spend(l *life, r *rand.Rand) {
	wait := func(d time.Duration) bool {
		select {
		case <-l.ended:
		case <-l.doomed:
		case <-h.w.calmed:
			return false
		case <-time.After(d):
			return true
		}
		return false
	}
	length := between(r, time.Hour, 8*day)
	if chance(r, h.manner.full) {
		at := time.Duration(r.Int64N(int64(length)))
		if wait(at) {
			free := l.fill()
			wait(between(r, time.Minute, 2*day))
			if free != nil {
				free()
			}
		}
	}
	switch {
	case l.dead.Load():
	case wait(length) && chance(r, h.manner.kills):
		l.die()
	case h.w.calm() && !l.dead.Load():
		<-h.w.ctx.Done()
	}
}

// rest lets the computer be off for a while.
func (h *host) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-h.w.calmed:
	case <-h.w.ctx.Done():
	}
}

// A life is an agent from its start to its end or its death.
type life struct {
	h      *host
	a      *agent.Agent
	cancel context.CancelFunc
	ended  chan struct{}
	err    error
	left   atomic.Int64 // points that it passes before it is killed
	dead   atomic.Bool
	full   atomic.Bool // the disk
	doomed chan struct{}
}

func (h *host) start(n int, r *rand.Rand) (*life, error) {
	w := h.w
	l := &life{h: h, ended: make(chan struct{}), doomed: make(chan struct{})}
	l.left.Store(-1)
	if chance(r, h.manner.kills) {
		l.left.Store(1 + r.Int64N(100))
	}
	a, err := agent.New(agent.Config{
		DataDir: h.dir, Log: slog.New(watch{l}), Transport: wire{l}, Version: "world",
		Computer: &agent.Computer{
			Info: protocol.HostInfo{DomainName: h.name, NCPUs: h.cpus, Vendor: "GenuineIntel", OSName: "Linux", MemBytes: 8e9, DiskTotal: 1e12, DiskFree: 5e11},
			Applications: func(dir string, report func(executor.Event)) agentlife.Applications {
				return &apps{life: l, dir: dir, report: report, runs: make(map[string]*run)}
			},
			Rand: w.draw("agent", h.name, n),
		},
		Tick: 6 * time.Hour,
	})
	if err != nil {
		return nil, fmt.Errorf("%s, life %d: %w", h.name, n, err)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	l.a, l.cancel = a, cancel
	w.mu.Lock()
	h.life = l
	w.mu.Unlock()
	w.tell("%s starts, life %d", h.name, n)
	go func() {
		l.err = a.Run(ctx)
		close(l.ended)
	}()
	return l, nil
}

// end waits for the end of a life, and reports whether there can be another.
func (h *host) end(l *life) bool {
	w := h.w
	l.cancel()
	<-l.ended
	w.mu.Lock()
	h.life = nil
	killed := l.dead.Load()
	now := time.Now()
	for name, at := range h.fresh {
		if !killed || now.Sub(at) > time.Second {
			h.kept[name] = at
		}
	}
	clear(h.fresh)
	if killed && now.Sub(h.heard) <= time.Second {
		h.notBefore = time.Time{} // it may have died before it received that
	}
	w.mu.Unlock()
	w.tell("%s ends, killed: %v", h.name, killed)
	if killed {
		return w.must(errors.Join(os.RemoveAll(h.dir), os.Rename(h.dir+".next", h.dir)))
	}
	return w.must(l.err)
}

// die kills a life: the next life finds the disk as it is now. Later actions of the agent, until it
// has ended, change nothing any more.
func (l *life) die() {
	if l.dead.Swap(true) {
		return
	}
	l.h.w.must(copyDir(l.h.dir, l.h.dir+".next"))
	close(l.doomed)
}

// point marks a place where a life may end.
func (l *life) point() {
	if l.left.Load() > 0 && !l.h.w.calm() && l.left.Add(-1) == 0 {
		l.die()
	}
}

func copyDir(from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}

// backup keeps a copy of the data directory, restore puts the copy back.
func (h *host) backup() {
	h.w.tell("%s is backed up", h.name)
	h.w.must(copyDir(h.dir, h.dir+".backup"))
}

func (h *host) restore() {
	if _, err := os.Stat(h.dir + ".backup"); err != nil {
		return
	}
	h.w.tell("%s is restored", h.name)
	h.w.must(errors.Join(os.RemoveAll(h.dir), copyDir(h.dir+".backup", h.dir)))
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	h.notBefore = time.Time{}
	clear(h.kept) // the backup may be older
}

// clone starts a copy of the computer.
func (h *host) clone() {
	h.clones++
	h.w.tell("%s is cloned", h.name)
	c := h.w.newHost(fmt.Sprintf("%s+%d", h.name, h.clones), h.key, h.manner)
	c.cpus, c.wrong, c.manner.clone = h.cpus, h.wrong, 0
	if h.w.must(copyDir(h.dir, c.dir)) {
		h.w.wg.Go(c.live)
	}
}

// finished notes that an application is done.
func (l *life) finished(result string, lied bool) {
	w := l.h.w
	if l.dead.Load() || l.full.Load() {
		return
	}
	w.tell("%s finishes %s, lies: %v", l.h.name, result, lied)
	w.mu.Lock()
	defer w.mu.Unlock()
	l.h.fresh[result] = time.Now()
	c := w.claim(result)
	c.lied, c.right = c.lied || lied, c.right || !lied
}

// luck returns the random source for one request.
func (h *host) luck(what string) *rand.Rand {
	h.w.mu.Lock()
	n := h.tries[what]
	h.tries[what]++
	h.w.mu.Unlock()
	return h.w.draw("wire", h.name, what, n)
}

// asks checks that a scheduler is not asked too early, nor too often.
func (h *host) asks() {
	w, now := h.w, time.Now()
	w.mu.Lock()
	early := h.notBefore.Sub(now)
	for len(h.asked) > 0 && now.Sub(h.asked[0]) > day {
		h.asked = h.asked[1:]
	}
	h.asked = append(h.asked, now)
	often := len(h.asked)
	w.mu.Unlock()
	if early > time.Second {
		w.failf("%s asks the scheduler %v before it may", h.name, early)
	}
	if often > 200 {
		w.failf("%s asks the scheduler %d times a day", h.name, often)
	}
}

// answered records the scheduler's answer to the agent.
func (h *host) answered(answer []byte) {
	reply, err := protocol.ParseSchedulerReply(answer)
	if err != nil {
		return
	}
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	h.heard = time.Now()
	h.notBefore = h.heard.Add(reply.RequestDelay)
}

// watch reads the agent's log: each line of its loop is a point where it may die.
type watch struct{ l *life }

func (watch) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (v watch) WithAttrs([]slog.Attr) slog.Handler             { return v }
func (v watch) WithGroup(string) slog.Handler                  { return v }

func (v watch) Handle(_ context.Context, r slog.Record) error {
	if v.l.dead.Load() {
		return nil
	}
	if v.l.h.w.telling && r.Message != "agent started" {
		var b strings.Builder
		r.Attrs(func(a slog.Attr) bool { fmt.Fprintf(&b, " %v", a); return true })
		v.l.h.w.tell("%s: %s%s", v.l.h.name, r.Message, secret.ReplaceAllString(b.String(), "_"))
	}
	v.l.point()
	return nil
}
