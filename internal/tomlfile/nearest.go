package tomlfile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// nearest returns a hint naming the known key that looks most like key, if any
// comes close.
func nearest(key string, known map[string]reflect.Type) string {
	best, distance := "", max(2, len(key)/3)+1
	names := make([]string, 0, len(known))
	for k := range known {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		d := edits(strings.ToLower(key), k)
		if len(key) >= 3 && strings.HasPrefix(k, strings.ToLower(key)) {
			d = 1 // the rest was left out
		}
		if d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %s?", best)
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
