package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// rest is the time that a host waits after an error.
	rest = time.Second
	// tries is the number of times that a host may fail to register, or to report its last tasks,
	// before it is left out.
	tries = 3
	// settling is the maximum time that all hosts together have for each of these phases, in
	// addition to the timeout of the last request.
	settling = time.Minute
)

// ErrNoHost means that the project accepted none of the hosts.
var ErrNoHost = errors.New("the project accepted none of the hosts")

// Run runs the hosts. First each registers and fetches its first jobs. Then all ask for work and
// report as fast as the connections allow, and this is measured. At the end they report their
// remaining tasks. Run ends at the latest after the sum of c.Duration, four times c.Timeout and
// three minutes. When ctx ends, it returns the counts so far.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := c.Check(); err != nil {
		return Report{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Duration+4*c.Timeout+3*settling) // whatever a server does
	defer cancel()
	workers := make([]*worker, c.Connections)
	for i := range workers {
		workers[i] = newWorker(&c)
	}
	defer func() {
		for _, w := range workers {
			w.http.CloseIdleConnections()
		}
	}()
	schedulers, err := workers[0].find(ctx)
	if err != nil {
		return Report{}, err
	}
	for i, w := range workers {
		w.scheduler = schedulers[i%len(schedulers)]
	}
	g := generator{&c, workers, make([]*player, 0, c.Hosts)}
	for _, h := range c.fleet() {
		g.players = append(g.players, &player{Host: h})
	}
	r := Report{URL: c.URL, Schedulers: schedulers, Hosts: c.Hosts, Connections: c.Connections, Jobs: c.Jobs, KeepAlive: c.KeepAlive, Upload: c.Upload}

	r.Registration = g.play(ctx, phase{work: true, until: time.Now().Add(settling), tries: tries, once: true})
	attached := slices.DeleteFunc(g.players, func(p *player) bool { return !p.Attached() })
	r.Refused = c.Hosts - len(attached)
	if g.players = attached; len(attached) == 0 {
		return r, noHost(&r.Registration)
	}
	if c.Jobs > 1 {
		// Now the hosts have learned how long a job takes. Each starts the measurement with as many
		// jobs as it wants, so that as many are reported as are dispatched.
		again := g.play(ctx, phase{work: true, until: time.Now().Add(settling), tries: tries, once: true})
		r.Registration.merge(&again)
		r.Registration.Seconds += again.Seconds
	}
	before := sample(c.PIDs)
	r.Measured = g.play(ctx, phase{work: true, until: time.Now().Add(c.Duration), requests: c.Requests, tasks: c.Tasks})
	r.CPU = before.until(sample(c.PIDs))

	g.players = slices.DeleteFunc(g.players, func(p *player) bool { return !p.Busy() })
	r.Settling = g.play(ctx, phase{until: time.Now().Add(settling), tries: tries, once: true})
	for _, p := range g.players {
		r.Unreported += len(p.tasks)
	}
	return r, nil
}

func noHost(c *Counts) error {
	why := slices.Sorted(maps.Keys(c.Refused))
	why = append(why, slices.Sorted(maps.Keys(c.Errors))...)
	return fmt.Errorf("%w: %q", ErrNoHost, why)
}

// A player is a host with its state in the queue.
type player struct {
	*Host
	due    time.Time // no request before this time
	errors int       // in a row
}

type generator struct {
	c       *Config
	workers []*worker
	players []*player
}

// A phase describes the hosts' actions and when they end.
type phase struct {
	work            bool // they ask for work
	until           time.Time
	once            bool  // a host is done after one successful turn
	tries           int   // number of successive failures after which a host is done, or 0 for no limit
	requests, tasks int64 // numbers after which the phase ends, or 0 for no limit
}

// play lets the hosts have their turns, first come, first served, and counts.
func (g *generator) play(ctx context.Context, ph phase) Counts {
	begin := time.Now()
	over, end := context.WithDeadline(ctx, ph.until)
	defer end()
	ready := make(chan *player, len(g.players))
	left := atomic.Int64{}
	left.Store(int64(len(g.players)))
	enqueue := func(p *player) {
		if wait := time.Until(p.due); wait > 0 {
			time.AfterFunc(wait, func() { ready <- p }) // the channel has room for all
			return
		}
		ready <- p
	}
	for _, p := range g.players {
		p.errors = 0
		enqueue(p)
	}
	if len(g.players) == 0 {
		end()
	}
	var requests, tasks atomic.Int64
	var wg sync.WaitGroup
	for _, w := range g.workers {
		w.counts = Counts{}
		wg.Go(func() {
			for {
				var p *player
				select {
				case <-over.Done():
					return
				case p = <-ready:
				}
				if over.Err() != nil {
					return // both were ready
				}
				if n := requests.Add(1); ph.requests > 0 && n > ph.requests {
					end()
					return
				}
				t, err := w.turn(ctx, p.Host, ph.work)
				if n := tasks.Add(int64(t.Dispatched)); ph.tasks > 0 && n >= ph.tasks {
					end()
				}
				if g.settled(p, t, err, ph) {
					if left.Add(-1) == 0 {
						end()
					}
					continue
				}
				enqueue(p)
			}
		})
	}
	wg.Wait()
	var sum Counts
	for _, w := range g.workers {
		sum.merge(&w.counts)
	}
	sum.Seconds = time.Since(begin).Seconds()
	return sum
}

// settled records the outcome of a host's turn, and reports whether the host is done in this phase.
func (g *generator) settled(p *player, t Turn, err error, ph phase) bool {
	if err != nil {
		p.errors++
		p.due = time.Now().Add(rest)
		return ph.tries > 0 && p.errors >= ph.tries
	}
	p.errors = 0
	if g.c.HonorDelay {
		p.due = time.Now().Add(t.Wait)
	}
	return ph.once
}
