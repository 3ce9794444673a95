// Package nearest finds what somebody may have meant who misspelt a word.
package nearest

import (
	"slices"
	"strings"
)

// Word returns the known word, in lower case, that looks most like word, or "" if none
// comes close. Of several that are equally near it is the first by the alphabet.
func Word(word string, known []string) string {
	lower := strings.ToLower(word)
	best, distance := "", max(2, len(word)/3)+1
	for _, k := range slices.Sorted(slices.Values(known)) {
		d := edits(lower, k)
		if d > 1 && (len(lower) >= 3 && strings.HasPrefix(k, lower) || len(k) >= 3 && strings.HasPrefix(lower, k)) {
			d = 2 // the rest was left out, or is too much
		}
		if d < distance {
			best, distance = k, d
		}
	}
	return best
}

// edits is the Levenshtein distance of two short words.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
