package forecast

// Steps counts the steps of chains of work, each of which starts after another. Its zero value is one step.
type Steps[Name comparable] struct {
	first map[Name]int // steps up to each one that comes after another
	most  int
}

// Add notes that a step comes after another one, all of whose own were added.
func (s *Steps[Name]) Add(before, after Name) {
	if s.first == nil {
		s.first = make(map[Name]int)
	}
	n := max(s.first[after], max(s.first[before], 1)+1)
	s.first[after], s.most = n, max(s.most, n)
}

// Longest returns the number of steps of the longest chain.
func (s *Steps[Name]) Longest() int { return max(s.most, 1) }
