package allowance

import (
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
)

// A Line is a limit of a token, for people.
type Line struct{ Limit, Used, Allowed words.Text }

// Lines returns the limits of a token for its bearer.
func Lines(t wire.Token) []Line {
	line := func(name words.Text, l wire.Limit, write func(float64) words.Text) Line {
		allowed := words.T("no limit")
		if l.Allowed != nil {
			allowed = write(*l.Allowed)
		}
		return Line{name, write(l.Used), allowed}
	}
	number := func(x float64) words.Text { return words.Number(int64(x)) }
	return []Line{
		line(words.T("Unfinished jobs"), t.Unfinished, number),
		line(words.T("Stored files"), t.Bytes, words.Bytes[float64]),
		line(words.T("CPU hours of finished jobs, last {days} days", "days", store.TokenDays), t.CPUHours, func(h float64) words.Text { return Hours(h * Hour) }),
	}
}
