package main

import "math/big"

// known are exponents of Mersenne primes, those that take longest first.
//
// Source: the list of Mersenne primes, https://www.mersenne.org/primes/
var known = []int{44497, 23209, 21701, 19937, 11213, 9941, 9689, 4423, 4253, 3217, 2281, 2203}

// budget is the intended cost of a workunit, in units of cost.
const budget = 0.4

// cost returns the time that the test of an exponent takes, relative to 44497. The test has p
// steps, each of which squares a number of p bits.
func cost(p int) float64 {
	x := float64(p) / 44497
	return x * x * x
}

// plan returns the exponents of n workunits of about the same size: each starts
// with the exponent of a Mersenne prime while there are some, and continues with
// the prime numbers that follow it. Light workunits are a twenty-fifth of the others.
func plan(n int, light bool) [][]int {
	known, budget, next := known, budget, 30000
	if light {
		known, budget, next = known[4:], budget/25, 9000
	}
	units := make([][]int, n)
	for i := range units {
		p := 0
		if i < len(known) {
			p = known[i]
		} else {
			p = nextPrime(next)
			next = p
		}
		units[i] = []int{p}
		for spent := cost(p); spent < budget && len(units[i]) < 40; {
			p = nextPrime(p)
			spent += cost(p)
			units[i] = append(units[i], p)
		}
		if i >= len(known) {
			next = p
		}
	}
	return units
}

func nextPrime(p int) int {
	for p++; !big.NewInt(int64(p)).ProbablyPrime(0); p++ {
	}
	return p
}
