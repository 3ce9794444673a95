package allowance

import (
	"fmt"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
)

// A Line is a limit of a token, for people.
type Line struct{ Limit, Used, Allowed string }

// Lines returns the limits of a token for its bearer.
func Lines(t wire.Token) []Line {
	line := func(name string, l wire.Limit, write func(float64) string) Line {
		allowed := "no limit"
		if l.Allowed != nil {
			allowed = write(*l.Allowed)
		}
		return Line{name, write(l.Used), allowed}
	}
	number := func(x float64) string { return words.Number(int64(x)).String() }
	return []Line{
		line("Unfinished jobs", t.Unfinished, number),
		line("Stored files", t.Bytes, func(x float64) string { return words.Bytes(x).String() }),
		line(fmt.Sprintf("CPU hours of finished jobs, last %d days", store.TokenDays), t.CPUHours, func(h float64) string { return Hours(h * Hour) }),
	}
}
