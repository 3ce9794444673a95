package main

import (
	"fmt"
	"math/big"
)

// A test is a running Lucas–Lehmer test. s starts at 4 and becomes s²−2 modulo 2^p−1. After p−2
// steps it is 0 if and only if 2^p−1 is prime, for odd primes p.
type test struct {
	p         int
	iteration int
	s         big.Int
	m         big.Int // 2^p−1
	two       big.Int
	sq, hi    big.Int // kept to spare the allocations
}

// newTest starts a test, or continues one if residue is not nil.
func newTest(p, iteration int, residue *big.Int) *test {
	t := &test{p: p}
	t.two.SetInt64(2)
	t.m.Lsh(big.NewInt(1), uint(p))
	t.m.Sub(&t.m, big.NewInt(1))
	t.s.SetInt64(4)
	if residue != nil {
		t.iteration = iteration
		t.s.Set(residue)
	}
	return t
}

func (t *test) done() bool { return t.iteration >= t.p-2 }

func (t *test) fraction() float64 { return float64(t.iteration) / float64(t.p) }

// step squares and reduces. Modulo 2^p−1 the bits above the lowest p count as if they were at the
// bottom, so a shift and an addition replace a division.
func (t *test) step() {
	t.sq.Mul(&t.s, &t.s)
	t.hi.Rsh(&t.sq, uint(t.p))
	t.s.And(&t.sq, &t.m)
	t.s.Add(&t.s, &t.hi)
	t.s.Sub(&t.s, &t.two)
	switch {
	case t.s.Sign() < 0:
		t.s.Add(&t.s, &t.m)
	case t.s.Cmp(&t.m) >= 0:
		t.s.Sub(&t.s, &t.m)
	}
	t.iteration++
}

// verdict returns the line that Prime95 writes to its results file, without
// the version and checksum at its end: hosts with different programs must
// agree byte for byte.
func (t *test) verdict() string {
	if t.p == 2 || t.s.Sign() == 0 { // 2²−1 is prime, although the test works only for odd p
		return fmt.Sprintf("M%d is prime!\n", t.p)
	}
	var res64 big.Int
	res64.And(&t.s, new(big.Int).SetUint64(1<<64-1))
	return fmt.Sprintf("M%d is not prime. Res64: %016X\n", t.p, res64.Uint64())
}
