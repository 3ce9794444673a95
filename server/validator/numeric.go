package validator

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// numeric takes outputs as equivalent if they are the same texts except for small differences
// between numbers, as different processors and compilers make them.
//
// A text is a list of tokens, separated by white space, commas and semicolons. Two texts are
// equivalent if they have the same number of tokens and each pair is the same text, or two finite
// numbers a, b in decimal or scientific form with |a−b| ≤ max(abs, rel·max(|a|, |b|)). NaN equals
// NaN and an infinity equals itself, however they are written.
//
// This is not an equivalence in the mathematical sense: of three outputs, the first may match the
// second and the second the third, but not the first the third. The canonical result is one that a
// majority of the quorum matches.
//
// Outputs are compared in memory. The output template's max_nbytes limits their size.
type numeric struct {
	abs, rel float64
	files    Files
}

// parseNumeric reads ABS[,REL].
func parseNumeric(s string) (n numeric, err error) {
	absolute, relative, two := strings.Cut(s, ",")
	if n.abs, err = strconv.ParseFloat(absolute, 64); err != nil {
		return n, fmt.Errorf("absolute tolerance %q is not a number", absolute)
	}
	if two {
		if n.rel, err = strconv.ParseFloat(relative, 64); err != nil {
			return n, fmt.Errorf("relative tolerance %q is not a number", relative)
		}
	}
	switch {
	case !(n.abs >= 0) || math.IsInf(n.abs, 0):
		return n, fmt.Errorf("absolute tolerance %v, want 0 or more", words.Float(n.abs))
	case !(n.rel >= 0 && n.rel < 1):
		return n, fmt.Errorf("relative tolerance %v, want 0 to less than 1", words.Float(n.rel))
	}
	return n, nil
}

func (n numeric) Load(ctx context.Context, r store.Result) (any, error) {
	texts := make(map[string][]string)
	err := eachOutput(r, func(ref protocol.FileRef) error {
		text, err := n.read(ctx, ref.FileName)
		if err == nil && !ref.NoValidate {
			texts[ref.Logical()] = strings.FieldsFunc(text, separates)
		}
		return err
	})
	return texts, err
}

func (n numeric) read(ctx context.Context, name string) (string, error) {
	f, err := n.files.Open(ctx, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	return string(b), err
}

func separates(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ';' }

func (n numeric) Match(x, y any) bool {
	return maps.EqualFunc(x.(map[string][]string), y.(map[string][]string), func(a, b []string) bool {
		return slices.EqualFunc(a, b, n.same)
	})
}

// same compares two tokens.
func (n numeric) same(a, b string) bool {
	if a == b {
		return true
	}
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	switch {
	case err != nil:
		return false
	case math.IsNaN(x) || math.IsNaN(y):
		return math.IsNaN(x) && math.IsNaN(y)
	case math.IsInf(x, 0) || math.IsInf(y, 0):
		return x == y
	}
	return math.Abs(x-y) <= max(n.abs, n.rel*max(math.Abs(x), math.Abs(y)))
}
