package debt

// Claims divides the computing of an interval, the sum of what the projects that count got, among
// these projects. Each gets a part in proportion to its resource share of the whole, as far as the
// kinds of processors permit for which it has work. If a project cannot get its part for lack of
// such work, the others get it, again by their shares.
//
// If shares cannot be kept over the whole computer, the result is the closest to them: no claim,
// relative to its share, could be larger except at the expense of one that is already smaller. So
// two projects for the CPUs divide these by their shares, however much a third gets of a GPU.
//
// Source: progressive filling, as in Bertsekas and Gallager, Data Networks, 6.5.2, for a
// polymatroid: the next to be full are the kinds with the least work for the shares of those that
// have work for nothing else.
func Claims(ps []Project) []float64 {
	claims := make([]float64, len(ps))
	var work PerKind // that was done of each kind
	open := make([]int, 0, len(ps))
	for i := range ps {
		if ps[i].Counts && ps[i].Share > 0 {
			open = append(open, i)
		}
		for k, used := range ps[i].Used {
			if ps[i].Counts {
				work[k] += used
			}
		}
	}
	left := uint(0) // kinds that are not shared out, as bits
	for k, w := range work {
		if w > 0 {
			left |= 1 << k
		}
	}
	for left != 0 && len(open) > 0 {
		full, done, shares := tightest(ps, open, work, left)
		if shares == 0 {
			break // no project has work for the rest
		}
		rest := open[:0]
		for _, i := range open {
			switch has := ps[i].kinds() & left; {
			case has == 0: // nothing it has work for was done
			case has&^full == 0:
				claims[i] = ps[i].Share / shares * done
			default:
				rest = append(rest, i)
			}
		}
		open, left = rest, left&^full
	}
	return claims
}

// kinds returns the kinds that the project has work for, as bits.
func (p *Project) kinds() (bits uint) {
	for k := range p.Used {
		if p.has(k) {
			bits |= 1 << k
		}
	}
	return bits
}

// tightest returns the set of kinds, of those left, that is full first: how much was done of
// them, and the shares of the open projects that have work for no others.
func tightest(ps []Project, open []int, work PerKind, left uint) (full uint, done, shares float64) {
	for set := left; set != 0; set = (set - 1) & left {
		d, s := 0.0, 0.0
		for k, w := range work {
			if set&(1<<k) != 0 {
				d += w
			}
		}
		for _, i := range open {
			if has := ps[i].kinds() & left; has != 0 && has&^set == 0 {
				s += ps[i].Share
			}
		}
		if s > 0 && (shares == 0 || d*shares < done*s) {
			full, done, shares = set, d, s
		}
	}
	return full, done, shares
}
