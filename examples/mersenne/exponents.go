package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// maxExponent is far above what this program can test in a lifetime.
const maxExponent = 1 << 30

// parseExponents reads one exponent a line. It ignores text behind a # and empty lines.
func parseExponents(input []byte) ([]int, error) {
	var all []int
	n := 0
	for line := range bytes.Lines(input) {
		n++
		line, _, _ = bytes.Cut(line, []byte("#"))
		word := string(bytes.TrimSpace(line))
		if word == "" {
			continue
		}
		p, err := strconv.Atoi(word)
		if err != nil || p < 2 || p > maxExponent {
			return nil, fmt.Errorf("in:%d: %.40q is not an exponent: want a whole number from 2 to %d", n, word, maxExponent)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, errors.New("in: no exponents")
	}
	return all, nil
}

// cost returns the relative time of the test of 2^p−1. The test consists of p squarings, each of
// which takes p^1.6 by Karatsuba's method. Numbers with a known factor cost next to nothing.
func cost(p int) float64 {
	if smallestFactor(p) < p {
		return 1
	}
	return math.Pow(float64(p), 2.6)
}

// knownFactor returns a factor of 2^p−1 if p is composite: 2^q−1, where q is
// the smallest prime factor of p. For a prime p it returns nil.
func knownFactor(p int) *big.Int {
	q := smallestFactor(p)
	if q == p {
		return nil
	}
	f := big.NewInt(1)
	f.Lsh(f, uint(q))
	return f.Sub(f, big.NewInt(1))
}

// smallestFactor returns the smallest prime factor of n, at least 2.
func smallestFactor(n int) int {
	for q := 2; q*q <= n; q++ {
		if n%q == 0 {
			return q
		}
	}
	return n
}
