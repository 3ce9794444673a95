package match

import "github.com/starling-grid/starling/server/store"

// A Case is all that a decision is made of. It can be kept and decided again.
type Case struct {
	Facts      Facts
	Standing   Standing
	Candidates []store.Candidate // in the order in which they should go
}

// Case returns the case of m with candidates.
func (m *Match) Case(list []store.Candidate) Case {
	s := m.standing
	s.Had = m.had
	return Case{m.facts, s, list}
}

// Decide decides a case. Assigned has the results that the host gets, Refusals the reasons why it
// does not get the others.
func (c Case) Decide() *Match {
	m := NewHost(c.Facts).Match(c.Standing)
	m.Assign(c.Candidates, nil)
	return m
}
