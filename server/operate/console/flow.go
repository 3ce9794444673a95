package console

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/cache"
	"github.com/starling-grid/starling/server/operate/view"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

const (
	// considered is the number of the newest results that are looked at: a fraction of a second's
	// work.
	considered = 200_000
	// hours is the length of time for which the flow is shown.
	hours = 48
	// fewest is the minimum number of finished results of a computer for an error rate.
	fewest = 5
	// worst is the maximum number of computers that are listed.
	worst = 10
)

// The stages that results pass.
const (
	created = iota
	sent
	reported
	valid
)

// A flow has the number of results that passed each stage in each of the last hours, the current
// one last, and the versions and computers that fail.
type flow struct {
	Stages  []stage
	Failing []view.Version
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

// lately returns the number of results that passed a stage in the last 24 hours, or in the 24 hours
// that ended days before.
func (f flow) lately(stage, days int) (n int) {
	end := hours - 24*days
	for _, k := range f.Stages[stage].PerHour[end-24 : end] {
		n += k
	}
	return n
}

// silent returns the number of whole hours in which nothing was reported. It is 0 for less than one
// hour, or if nothing was reported at all.
func (f flow) silent() int {
	for i := hours - 1; i >= 0; i-- {
		if f.Stages[reported].PerHour[i] > 0 {
			return hours - 1 - i
		}
	}
	return 0
}

// A badHost is a computer with its share of failed or invalid results.
type badHost struct {
	ID          int64
	Over, Error int
	Rate        float64 // percent
}

// Alarming reports whether an operator should act.
func (h badHost) Alarming() bool { return h.Rate >= alarming }

// flows caches a project's flow, because versions are counted over all results.
func flows(p *project.Project) *cache.Value[flow] {
	return &cache.Value[flow]{Rest: 20, Find: func(ctx context.Context) (f flow, err error) {
		now := time.Now()
		var all []store.RecentResult
		var versions []view.Version
		err = p.Store.View(ctx, func(tx *store.View) error {
			list, err := view.Versions.Find(tx, view.Query{}, now)
			if err != nil {
				return err
			}
			versions, _ = list.Of.([]view.Version)
			all = all[:0]
			return tx.RecentResults(considered, func(r store.RecentResult) { all = append(all, r) })
		})
		if err != nil {
			return f, err
		}
		f = flowOf(all, now)
		f.Failing = slices.DeleteFunc(versions, func(v view.Version) bool { return v.State != "active" || v.Failed() == 0 })
		return f, nil
	}}
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
		add(created, r.Created)
		add(sent, r.Sent)
		add(reported, r.Received)
		if r.ValidateState == store.Valid {
			add(valid, r.Received)
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
	scale := 0
	for i := range f.Stages {
		scale = max(scale, f.Stages[i].count())
	}
	for i := range f.Stages {
		f.Stages[i].draw(scale)
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

// count adds the hours up, and returns the most of one.
func (s *stage) count() int {
	for _, n := range s.PerHour {
		s.Max = max(s.Max, n)
		s.Sum += n
	}
	return s.Max
}

// draw makes the bars of a stage's chart, where a bar of the value scale has the full height. All
// stages have the same scale, so that losses between two stages are visible.
func (s *stage) draw(scale int) {
	for i, n := range s.PerHour {
		if n > 0 {
			height := max(1, 100*n/scale)
			s.Bars = append(s.Bars, bar{X: 10 * i, Y: 100 - height, Height: height})
		}
	}
}
