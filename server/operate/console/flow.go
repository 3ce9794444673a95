package console

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

const (
	// considered is how many of the newest results are looked at: a fraction of a second's work.
	considered = 200_000
	// hours is how far back the flow is shown.
	hours = 48
	// fresh is how long a flow is shown before it is counted anew, and rest for how many times
	// as long as counting took: versions are counted over all results.
	fresh = time.Minute
	rest  = 20
	// fewest is how many results of a computer are over before its errors are a rate.
	fewest = 5
	// worst is how many computers are named.
	worst = 10
)

// A flow is how many results passed each stage in each of the last hours, the present one last,
// and which versions and computers fail.
type flow struct {
	Stages  []stage
	Failing []failure
	Bad     []badHost
	Cut     bool // there are more results than were considered
}

// A stage is one that results pass.
type stage struct {
	Name     string
	PerHour  [hours]int
	Max, Sum int
	Bars     []bar
}

// A bar of a chart of 480 × 100 units.
type bar struct{ X, Y, Height int }

// A badHost is a computer with the share of its results that were no good.
type badHost struct {
	ID          int64
	Over, Error int
	Rate        float64
}

type flowCache struct {
	mu    sync.Mutex
	taken time.Time
	took  time.Duration
	flow  flow
}

func (c *flowCache) get(ctx context.Context, p *project.Project, now time.Time) (flow, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if age := now.Sub(c.taken); age >= 0 && age < max(fresh, rest*c.took) {
		return c.flow, nil
	}
	var all []store.RecentResult
	var versions []view.Version
	err := p.Store.View(ctx, func(tx *store.View) error {
		list, err := view.Versions.Find(tx, view.Query{}, now)
		if err != nil {
			return err
		}
		versions, _ = list.Of.([]view.Version)
		all = all[:0]
		return tx.RecentResults(considered, func(r store.RecentResult) { all = append(all, r) })
	})
	if err != nil {
		return flow{}, err
	}
	c.taken, c.took, c.flow = now, time.Since(now), flowOf(all, now)
	c.flow.Failing = failing(versions)
	return c.flow, nil
}

// flowOf counts results by the hour.
func flowOf(all []store.RecentResult, now time.Time) flow {
	f := flow{Cut: len(all) >= considered, Stages: []stage{{Name: "Created"}, {Name: "Sent"}, {Name: "Reported"}, {Name: "Valid"}}}
	add := func(stage int, at int64) {
		if at <= 0 {
			return
		}
		if back := now.Unix()/3600 - at/3600; back >= 0 && back < hours {
			f.Stages[stage].PerHour[hours-1-back]++
		}
	}
	hosts := make(map[int64]*badHost)
	for _, r := range all {
		add(0, r.Created)
		add(1, r.Sent)
		add(2, r.Received)
		if r.ValidateState == store.Valid {
			add(3, r.Received)
		}
		if r.ServerState != store.Over || r.HostID == 0 || r.Outcome == store.DidntNeed {
			continue
		}
		h := hosts[r.HostID]
		if h == nil {
			h = &badHost{ID: r.HostID}
			hosts[r.HostID] = h
		}
		h.Over++
		if r.Outcome != store.Success || r.ValidateState == store.Invalid {
			h.Error++
		}
	}
	for i := range f.Stages {
		f.Stages[i].draw()
	}
	for _, h := range hosts {
		if h.Over >= fewest && h.Error > 0 {
			h.Rate = 100 * float64(h.Error) / float64(h.Over)
			f.Bad = append(f.Bad, *h)
		}
	}
	slices.SortFunc(f.Bad, func(a, b badHost) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(b.Error, a.Error), cmp.Compare(a.ID, b.ID))
	})
	f.Bad = f.Bad[:min(len(f.Bad), worst)]
	return f
}

// draw makes the bars of a stage's chart.
func (s *stage) draw() {
	for _, n := range s.PerHour {
		s.Max = max(s.Max, n)
		s.Sum += n
	}
	for i, n := range s.PerHour {
		if n > 0 {
			height := max(1, 100*n/s.Max)
			s.Bars = append(s.Bars, bar{X: 10 * i, Y: 100 - height, Height: height})
		}
	}
}
