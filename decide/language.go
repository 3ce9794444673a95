package decide

import (
	"slices"

	"github.com/starling-grid/starling/internal/words"
)

// In returns a record of a decision with the texts for people in a language. r is not changed.
func (r Record) In(l words.Language) Record {
	if l == words.English {
		return r
	}
	s, p := &r.Snapshot, &r.Plan
	s.Compute, s.Network = s.Compute.In(l), s.Network.In(l)
	s.CPUBound, s.Bound, s.Disk = s.CPUBound.In(l), s.Bound.In(l), s.Disk.In(l)
	s.Presence, s.NoEffect = s.Presence.Only(l), slices.Clone(s.NoEffect)
	for i := range s.NoEffect {
		s.NoEffect[i] = s.NoEffect[i].Only(l)
	}
	p.Projects, p.Results = slices.Clone(p.Projects), slices.Clone(p.Results)
	for i := range p.Projects {
		p.Projects[i] = p.Projects[i].In(l)
	}
	for i := range p.Results {
		p.Results[i].Explanation = p.Results[i].In(l)
	}
	return r
}

// In returns the plan with its texts in a language. p is not changed.
func (p ProjectPlan) In(l words.Language) ProjectPlan {
	p.Session.Why, p.Fetch.Explanation = p.Session.Why.Only(l), p.Fetch.In(l)
	p.Fetch.Coprocs = slices.Clone(p.Fetch.Coprocs)
	for i := range p.Fetch.Coprocs {
		p.Fetch.Coprocs[i].Explanation = p.Fetch.Coprocs[i].In(l)
	}
	return p
}
