package forecast

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// A Plan is work of one application that a sender considers submitting.
type Plan struct {
	Turn         store.Turn   // of the last workunit
	Flops        float64      // operations of all results
	Task         float64      // operations of one
	Memory, Disk float64      // bytes that one needs, at most
	Quorum       int          // results of a workunit that have to agree, at most
	Target       store.Target // whose computers may have it
	Steps        int          // tasks that follow each other, at most
}

// Look asks all that an estimate for a plan depends on. It reads the records of all hosts and all results
// that are not over.
func Look(tx *store.View, p Plan, rules *match.Rules, now time.Time) (Question, error) {
	p.Turn.ID = math.MaxInt64
	q, err := look(tx, p, 0, rules, now)
	if rules.OneResult() {
		able := len(q.Computers)
		if rules.OneResultPerUserPerWU {
			users := make(map[int64]bool)
			for _, c := range q.Computers {
				users[c.User] = true
			}
			able = len(users)
		}
		q.Few = able < p.Quorum
	}
	return q, err
}

func look(tx *store.View, p Plan, batch int64, rules *match.Rules, now time.Time) (Question, error) {
	q := Question{Now: now, Flops: p.Flops, Task: p.Task, Steps: p.Steps, Stopped: true, Weight: 1, Share: 1}
	apps, err := tx.Apps()
	if err != nil {
		return q, err
	}
	weights := make(map[int64]float64) // of those whose work is sent
	for _, a := range apps {
		if a.Deprecated {
			continue
		}
		if weights[a.ID] = 1; a.Weight > 0 {
			weights[a.ID] = a.Weight
		}
		if a.ID == p.Turn.AppID {
			q.Stopped, q.Weight = false, weights[a.ID]
		}
	}
	tokens, err := tx.Tokens()
	if err != nil {
		return q, err
	}
	shares := make(map[int64]float64) // 1 for work without a token
	for _, t := range tokens {
		shares[t.ID] = t.Weight
	}
	q.Share = cmp.Or(shares[p.Turn.TokenID], 1)
	loads, err := tx.Load(p.Turn, batch)
	if err != nil {
		return q, err
	}
	for _, l := range loads {
		switch w := weights[l.AppID]; {
		case l.AppID == p.Turn.AppID && l.TokenID == p.Turn.TokenID:
			q.Ahead = l.Flops
		case l.AppID == p.Turn.AppID:
			q.Peers = append(q.Peers, Work{Flops: l.Flops, Weight: cmp.Or(shares[l.TokenID], 1)})
		case w > 0 && l.Flops > 0:
			q.Others = append(q.Others, Work{Flops: l.Flops, Weight: w})
		}
	}
	err = q.computers(tx, p, rules.PlanClasses, now)
	return q, err
}

// Batch estimates when a batch will be done, all of whose workunits were made.
func Batch(tx *store.View, batch int64, rules *match.Rules, now time.Time) (Forecast, error) {
	s, err := tx.BatchStatus(batch)
	if err != nil {
		return Forecast{}, err
	}
	left, err := tx.BatchLeft(batch)
	if err != nil {
		return Forecast{}, err
	}
	if left.Workunits == 0 {
		return Estimate(Question{Now: now, Weight: 1, Workunits: s.Total}), nil
	}
	plan := Plan{Turn: left.Turn, Flops: left.Flops, Task: left.Task, Memory: left.Memory, Disk: left.Disk, Target: left.Target}
	var steps Steps[int64]
	if err := tx.Ask(store.Precedences(batch, func(p store.Precedence) { steps.Add(p.Before, p.After) })); err != nil {
		return Forecast{}, err
	}
	plan.Steps = steps.Longest()
	q, err := look(tx, plan, batch, rules, now)
	if err == nil && rules.OneResult() {
		err = tx.Ask(store.TooFewHosts(batch, now.Add(-Window), rules.OneResultPerUserPerWU, func(int64) { q.Few = true }))
	}
	q.Started, q.Workunits, q.Left = s.CreateTime, s.Total, left.Workunits
	return Estimate(q), err
}

// A version is one of the application that is sent.
type version struct {
	platform, class string
	stretch         float64 // its time relative to the time by the benchmark
}

func (q *Question) computers(tx *store.View, p Plan, classes map[string]match.PlanClass, now time.Time) error {
	rows, err := tx.AppVersions()
	if err != nil {
		return err
	}
	votes, err := tx.VersionVotes()
	if err != nil {
		return err
	}
	speeds := hostversion.NewSpeeds(votes, nil)
	versions := make(map[int64]version)
	for _, v := range rows {
		if v.AppID != p.Turn.AppID {
			continue
		}
		x := version{platform: v.Platform.Name, class: v.PlanClass, stretch: 1}
		if known := speeds.Version(v.ID); known.Hosts >= speed.Quorum && known.Stretch > 0 {
			x.stretch = known.Stretch
		}
		versions[v.ID] = x
	}
	var host []store.HostSpeed
	end := func() {
		c, unmeasured := computer(host, p, versions, classes)
		if c.Flops > 0 {
			q.Computers = append(q.Computers, c)
		}
		q.Unmeasured = q.Unmeasured || unmeasured
		host = host[:0]
	}
	err = tx.HostSpeeds(p.Turn.AppID, now.Add(-Window), func(h store.HostSpeed) {
		if len(host) > 0 && host[0].HostID != h.HostID {
			end()
		}
		host = append(host, h)
	})
	end()
	return err
}

// isFor reports whether the target of the work admits a host.
func (p Plan) isFor(h store.HostSpeed) bool {
	switch p.Target.Type {
	case store.TargetHost:
		return h.HostID == p.Target.ID
	case store.TargetUser:
		return h.UserID == p.Target.ID
	case store.TargetTeam:
		return h.TeamID == p.Target.ID
	}
	return true
}

// computer returns the speed of a host, from its record with each version, or else from its
// benchmark. The speed is 0 if it cannot compute for the application, or only on a GPU whose speed with it,
// and even existence, is unknown.
func computer(rows []store.HostSpeed, p Plan, versions map[int64]version, classes map[string]match.PlanClass) (c Computer, unmeasured bool) {
	if len(rows) == 0 {
		return c, false
	}
	h := rows[0]
	c.User = h.UserID
	if h.UsableMemory < p.Memory || h.UsableDisk < p.Disk || !p.isFor(h) {
		return c, false
	}
	measured := make(map[int64]float64)
	for _, r := range rows {
		if r.Samples > 0 && r.Elapsed > 0 {
			measured[r.AppVersionID] = 1 / r.Elapsed
			c.Turnaround = max(c.Turnaround, protocol.Seconds(r.Turnaround))
		}
	}
	platforms, unsuited := strings.Fields(h.Platforms), strings.Fields(h.Unsuited)
	cpus, gpus := 0.0, make(map[string]float64)
	ncpus := float64(max(1, h.NCPUs))
	for _, id := range slices.Sorted(maps.Keys(versions)) { // sums of floats in the same order
		v := versions[id]
		if len(platforms) > 0 && !slices.Contains(platforms, v.platform) || slices.Contains(unsuited, v.class) {
			continue
		}
		class := classes[v.class]
		one, known := measured[id]
		if kind := class.Kind(); kind != "" {
			if known {
				gpus[kind] = max(gpus[kind], one)
			}
			unmeasured = unmeasured || !known
			continue
		}
		width := max(1, min(float64(class.MaxThreads), ncpus))
		if class.AvgNCPUs > 0 {
			width = class.AvgNCPUs
		}
		if !known {
			one = width * flops(h.Fpops) / v.stretch
		}
		if at := one * ncpus / width; at > cpus {
			cpus, c.Task = at, one
		}
	}
	c.Flops = cpus
	for _, kind := range slices.Sorted(maps.Keys(gpus)) {
		c.Flops += gpus[kind]
		c.Task = max(c.Task, gpus[kind])
	}
	if on := h.OnFrac * h.ActiveFrac; h.OnFrac > 0 && h.ActiveFrac > 0 {
		c.Flops *= min(max(0.01, on), 1)
	}
	return c, unmeasured
}

func flops(benchmark float64) float64 {
	if benchmark > 0 {
		return max(benchmark, 1) // nonsense stays finite
	}
	return match.Unmeasured
}

// Known reports whether Left is an estimate.
func (f Forecast) Known() bool { return f.Basis == Computers || f.Basis == Pace }

// Text is a forecast in a sentence.
func (f Forecast) Text() words.Text {
	switch {
	case f.Basis == Stopped:
		return words.T("end unknown: the application is stopped until the project's operator starts it again (app start)")
	case f.Basis == None:
		return words.T("end unknown: no computer that can compute it was active in the last 7 days")
	case f.Basis == Unmeasured:
		return words.T("end unknown: it needs a GPU, and no computer active in the last 7 days has finished a task of it")
	case f.Basis == Few:
		return words.T("end unknown: a workunit needs results of more different computers, or volunteers, than were active in the last 7 days")
	case f.Left <= 0:
		return words.T("done")
	case f.Basis == Pace:
		return words.T("done in about {span} at its pace so far", "span", words.Span(f.Left))
	}
	return words.Plural(f.Computers, "done in about {span}, without other work for the {n} computer active lately",
		"done in about {span}, without other work for the {n} computers active lately", "span", words.Span(f.Left))
}
