// Package badge determines the badge for an amount of credit, and draws it. The package is pure: a
// badge follows from the current credit, and is not stored.
package badge

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/setting"
)

// Settings are the settings for badges.
type Settings struct {
	Badges Ladder `toml:"badges"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Of(&s.Badges, Ladder{10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000},
			`Amounts of credit for which volunteers and teams get a badge, in ascending order. They show the
			highest. []: no badges.`).Checked(func() error { return s.Badges.Check() }),
	}
}

// A Ladder has the amounts of credit for which there are badges, in ascending order. If it is
// empty, there are no badges.
type Ladder []int64

// Check returns an error if a ladder is invalid.
func (l Ladder) Check() error {
	for i, amount := range l {
		if amount <= 0 || i > 0 && amount <= l[i-1] {
			return fmt.Errorf("%d is out of place, want amounts above 0 in ascending order", amount)
		}
	}
	return nil
}

// A Badge is an award for an amount of credit.
type Badge struct {
	Credit int64 // also its number for sites of statistics, which so stays the same
	Rung   int   // of the ladder, starting at 0
}

// Of returns the highest badge for total credit, or nil if that is below the first.
func (l Ladder) Of(total float64) *Badge {
	for i, amount := range slices.Backward(l) {
		if total >= float64(amount) {
			return &Badge{amount, i}
		}
	}
	return nil
}

// All returns all badges, the lowest first.
func (l Ladder) All() []Badge {
	all := make([]Badge, len(l))
	for i, amount := range l {
		all[i] = Badge{amount, i}
	}
	return all
}

// Title returns the title of the badge: "Credit of 10,000 or more".
func (b Badge) Title() words.Text {
	return words.T("Credit of {amount} or more", "amount", words.Number(b.Credit))
}

// Image is the name of the file with its picture.
func (b Badge) Image() string { return fmt.Sprintf("credit_%d.svg", b.Credit) }

// colors has one color for each rung. Rungs above use the last one. Dark letters are legible on all
// of them.
var colors = []string{"#d9a066", "#c9ced4", "#e8c547", "#8fd3b6", "#8fbcf5", "#d0a5f7"}

// SVG returns its picture, a medal with the amount. The picture contains its title in a language, for
// people who cannot see it.
func (b Badge) SVG(l words.Language) template.HTML {
	color := colors[min(b.Rung, len(colors)-1)]
	return template.HTML(fmt.Sprintf( //nolint:gosec // of numbers and an escaped text
		`<svg xmlns="http://www.w3.org/2000/svg" class="badge" role="img" aria-label="%[1]s" viewBox="0 0 32 32" width="32" height="32"><title>%[1]s</title>`+
			`<circle cx="16" cy="16" r="15" fill="%[2]s" stroke="#3a3a3a" stroke-width="1.5"/><circle cx="16" cy="16" r="12" fill="none" stroke="#3a3a3a" stroke-width=".75"/>`+
			`<text x="16" y="19.2" font-family="sans-serif" font-size="9" font-weight="bold" text-anchor="middle" fill="#1a1a1a">%[3]s</text></svg>`,
		template.HTMLEscapeString(b.Title().In(l)), color, b.short()))
}

// short is the amount in four letters at most: 2.5k, 100k, 1M.
func (b Badge) short() string {
	for _, unit := range []struct {
		name string
		size float64
	}{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if n := float64(b.Credit) / unit.size; n >= 1 {
			if n < 10 {
				return strconv.FormatFloat(math.Trunc(n*10)/10, 'f', -1, 64) + unit.name
			}
			return strconv.FormatFloat(math.Trunc(n), 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatInt(b.Credit, 10)
}
