// Package waiting lets idle hosts wait for work: each keeps one connection, on which it is notified
// of new work. The package sends no work and does not decide which host gets it: a notified host
// makes a request like any other.
//
// Where the connection can be taken over, as with HTTP/1.1, a host that waits costs no goroutine
// and no buffer, just its socket and a few hundred bytes.
package waiting

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/limit"
)

const (
	// Every is the time between two looks for new work.
	Every = time.Second
	// heartbeat is the time between two signs of life. Proxies end connections that are silent for
	// a minute.
	heartbeat = 25 * time.Second
	// promised is the heartbeat announced to hosts: a single late one is no reason to reconnect.
	promised = 2 * heartbeat
	// longest is the time after which a host has to come again, and to show its key again.
	longest = 6 * time.Hour
	// mostAtOnce is the maximum number of hosts that are called at a look.
	mostAtOnce = 100
	// underWay is the time in which a host that was called makes its request.
	underWay = 3 * time.Second
	// looked is the maximum number of results that a look reads of each list.
	looked = 1000
	// attentive is the time for which the room continues to look for work after the last host has
	// left. Otherwise old work that they cannot have would count as new for hosts that return.
	attentive = time.Hour
	// patience is the time that a write may take. A few bytes fit into any socket's buffer.
	patience = 200 * time.Millisecond
)

// Work has the results that a look finds: IDs of results that can be sent.
type Work struct {
	// Sendable are some of those that can be sent at all.
	Sendable []int64
	// Created are the results with ids above the given one.
	Created []int64
	// Newest is the id of the newest result.
	Newest int64
}

// A Room manages waiting hosts. Its fields except the limits are set before it is used. It is safe
// for concurrent use.
type Room struct {
	Log *slog.Logger
	// Look finds results that can be sent, at most limit for each list, and results created after a
	// given one.
	Look func(ctx context.Context, now time.Time, after int64, limit int) (Work, error)
	// Processes returns the number of processes in which hosts of the project wait. If nil, there
	// is only this one.
	Processes func() int64

	mu         sync.Mutex
	most       int
	perAddress int
	hosts      map[int64]*guest
	by         map[netip.Addr]int
	last       time.Time           // when the last host was here
	known      map[int64]time.Time // when a host last came, of the last minutes
	work       map[int64]time.Time // results that can be sent, by when that was seen first
	newest     int64               // result
	lately     time.Time           // when there was new work
	called     []time.Time         // hosts, lately
	running    bool
}

// A guest is a host that waits.
type guest struct {
	host  int64
	from  netip.Addr
	line  line
	greet string    // the first text sent
	mark  time.Time // it was notified of work up to then
	since time.Time
	beat  time.Time // of the last sign of life
}

// A line is a connection to a host.
type line interface {
	// say writes, at once or not at all.
	say(text string) error
	hangUp()
}

// Set changes the maximum number of hosts that may wait, in all and per address. 0 hosts turns
// waiting off, and 0 per address means no limit. Hosts that wait already are not disconnected.
func (r *Room) Set(most, perAddress int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.most, r.perAddress = most, perAddress
}

// Offer returns the invitation for the reply to a request that was looked at at a time, or nil if
// the host cannot wait. url is the address to wait at.
func (r *Room) Offer(url string, at time.Time) *protocol.WorkEvents {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.most <= 0 || !r.running {
		return nil
	}
	// Results that can be sent are kept in memory for a moment, and clocks of processes differ.
	mark := at.Add(-2 * time.Second).UnixMilli()
	return &protocol.WorkEvents{URL: url, Mark: strconv.FormatInt(mark, 10), Heartbeat: promised}
}

// Waits reports whether a host waits here, or did a moment ago. Such a host is notified of new
// work.
func (r *Room) Waits(host int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, waits := r.known[host]
	return waits
}

// Lately returns the time when there was last new work, or the zero time if that is unknown.
func (r *Room) Lately() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lately
}

// Len returns the number of hosts that wait.
func (r *Room) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.hosts)
}

// enter lets a host wait, in the place of an older connection of it. It returns why it cannot.
func (r *Room) enter(g *guest) (why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g.from = limit.Network(g.from)
	old := r.hosts[g.host]
	switch n := r.by[g.from]; {
	case !r.running, r.most <= 0:
		return "hosts cannot wait for work here"
	case old != nil:
		r.remove(old)
	case len(r.hosts) >= r.most:
		return "too many hosts wait for work"
	case r.perAddress > 0 && g.from.IsValid() && n >= r.perAddress:
		return "too many hosts at your address wait for work"
	}
	if g.line.say(g.greet) != nil {
		return "the host has gone"
	}
	g.greet = ""
	if r.hosts == nil {
		r.hosts, r.by, r.known = make(map[int64]*guest), make(map[netip.Addr]int), make(map[int64]time.Time)
	}
	r.hosts[g.host] = g
	r.by[g.from]++
	r.known[g.host], r.last = g.since, g.since
	return ""
}

// remove ends a host's wait. The caller holds r.mu.
func (r *Room) remove(g *guest) {
	if r.hosts[g.host] != g {
		return
	}
	delete(r.hosts, g.host)
	if r.by[g.from]--; r.by[g.from] <= 0 {
		delete(r.by, g.from)
	}
	g.line.hangUp()
}

func (r *Room) leave(g *guest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(g)
}

// Run looks for new work and calls hosts, until ctx ends. Then it sends all away.
func (r *Room) Run(ctx context.Context) {
	r.mu.Lock()
	r.running = true
	r.mu.Unlock()
	defer r.close()
	tick := time.NewTicker(Every)
	defer tick.Stop()
	silent := false // the trouble is known
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.tick(ctx, time.Now())
		if err != nil && ctx.Err() == nil && !silent {
			r.Log.Warn("cannot look for new work; hosts that wait are not called", "err", err)
		}
		silent = err != nil
	}
}

func (r *Room) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = false
	for _, g := range r.hosts {
		r.remove(g)
	}
}

// tick looks once.
func (r *Room) tick(ctx context.Context, now time.Time) error {
	after, watch := r.attend(now)
	if !watch {
		return nil
	}
	found, err := r.Look(ctx, now, after, looked)
	if err != nil {
		return err
	}
	r.note(found, now)
	r.call(now)
	return nil
}

// attend sends signs of life, and reports whether any host may want to be notified of work.
func (r *Room) attend(now time.Time) (after int64, watch bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, at := range r.known {
		if g := r.hosts[id]; g == nil && now.Sub(at).Abs() > time.Minute {
			delete(r.known, id)
		} else if g != nil {
			r.known[id] = now
		}
	}
	if len(r.hosts) > 0 {
		r.last = now
	} else if r.last.IsZero() || now.Sub(r.last).Abs() > attentive {
		r.work = nil
		return 0, false
	}
	for _, g := range r.hosts {
		switch {
		case now.Sub(g.since).Abs() >= longest:
			r.remove(g)
		case now.Sub(g.beat).Abs() >= heartbeat:
			g.beat = now
			if g.line.say(protocol.WorkHeartbeat) != nil {
				r.remove(g)
			}
		}
	}
	return r.newest, true
}

// note remembers the results that can be sent, and since when.
func (r *Room) note(w Work, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.work == nil // the results there may be old
	there := make(map[int64]time.Time, len(w.Sendable)+len(w.Created))
	add := func(id int64) {
		at, known := r.work[id]
		if !known {
			at = now
		}
		if there[id] = at; !known && !first {
			r.lately = now
		}
	}
	for _, id := range w.Sendable {
		add(id)
	}
	if r.newest > 0 {
		for _, id := range w.Created {
			add(id)
		}
	}
	if len(w.Sendable) == looked { // results may exist without being listed
		for id, at := range r.work {
			if _, listed := there[id]; !listed && now.Sub(at) < time.Minute && len(there) < 4*looked {
				there[id] = at
			}
		}
	}
	r.work, r.newest = there, w.Newest
}

// call notifies hosts of work that is newer than their last notification. Hosts that have waited
// longest are first, and it notifies no more hosts than there are results.
func (r *Room) call(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.called = slices.DeleteFunc(r.called, func(at time.Time) bool { return now.Sub(at).Abs() >= underWay })
	if len(r.work) == 0 || len(r.hosts) == 0 {
		return
	}
	ages := make([]time.Time, 0, len(r.work))
	for _, at := range r.work {
		ages = append(ages, at)
	}
	slices.SortFunc(ages, func(a, b time.Time) int { return b.Compare(a) }) // newest first
	guests := make([]*guest, 0, len(r.hosts))
	for _, g := range r.hosts {
		if ages[0].After(g.mark) {
			guests = append(guests, g)
		}
	}
	slices.SortFunc(guests, func(a, b *guest) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.host, b.host)) })
	processes := 1
	if r.Processes != nil {
		processes = max(1, int(r.Processes()))
	}
	for _, g := range guests[:min(len(guests), mostAtOnce)] {
		news, _ := slices.BinarySearchFunc(ages, g.mark, func(at, mark time.Time) int {
			if at.After(mark) {
				return -1
			}
			return 1
		})
		if len(r.called) >= (news+processes-1)/processes {
			continue
		}
		if g.line.say(protocol.WorkEvent) == nil {
			r.called = append(r.called, now)
		}
		r.remove(g)
	}
}
