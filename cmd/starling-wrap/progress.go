package main

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol/appipc"
)

// tailBytes is the size of the end of a file that is searched for the fraction done.
const tailBytes = 4 << 10

// tells reports whether the program reports its progress.
func (st step) tells() bool { return st.progress != "" || st.pattern != nil }

// fraction returns the progress that the program reports, from 0 to 1: the last number in its
// progress file, or the last match of the pattern in its output or its errors. It returns 0 before
// the first report.
func (st step) fraction(resolve func(string) (string, error)) (f float64) {
	if st.progress != "" {
		for _, word := range slices.Backward(strings.Fields(string(tail(st.progress)))) {
			if n, ok := number(word); ok {
				return n
			}
		}
		return 0
	}
	for _, logical := range []string{st.stdout, cmp.Or(st.stderr, appipc.StderrFile)} {
		if logical == "" {
			continue
		}
		path, err := resolve(logical)
		if err != nil {
			continue
		}
		matches := st.pattern.FindAllSubmatch(tail(path), -1)
		if len(matches) == 0 {
			continue
		}
		if f, ok := matched(matches[len(matches)-1]); ok {
			return f
		}
	}
	return 0
}

// matched returns the fraction in a match of the pattern: its first group, which is a
// percentage if the match has a "%", or the first group of the total that is the second group.
func matched(m [][]byte) (float64, bool) {
	n, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		return 0, false
	}
	switch {
	case len(m) > 2:
		total, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			return 0, false
		}
		n /= total
	case bytes.Contains(m[0], []byte("%")):
		n /= 100
	}
	return within(n)
}

func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	return within(n)
}

// within returns the fraction from 0 to 1 that is closest to n, unless n is NaN.
func within(n float64) (float64, bool) { return min(max(n, 0), 1), !math.IsNaN(n) }

// tail returns the end of a file. The program may have put anything in its place.
func tail(path string) []byte {
	text, _ := foreigndir.TailFile(path, tailBytes)
	return text
}

// checkpoints are files that a program changes when it has made a checkpoint.
type checkpoints map[string]time.Time // when each was changed last

func newCheckpoints(files []string) checkpoints {
	c := make(checkpoints)
	for _, name := range files {
		c[name] = changedAt(name)
	}
	return c
}

// changed reports whether one was made or changed since the last look.
func (c checkpoints) changed() (some bool) {
	for name, before := range c {
		if now := changedAt(name); !now.Equal(before) {
			c[name], some = now, some || !now.IsZero()
		}
	}
	return some
}

func changedAt(name string) time.Time {
	st, err := os.Stat(name)
	if err != nil {
		return time.Time{}
	}
	return st.ModTime()
}
