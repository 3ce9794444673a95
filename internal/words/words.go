// Package words writes times, durations, sizes and counts for people, the same way everywhere. Its
// test collects the texts that people see in Starling and checks their language. make words prints
// the list.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Span returns a duration in at most two units: "2 d 3 h", "5 h 56 min", "3 min 12 s". It rounds to
// seconds, and writes a negative duration as its absolute value.
func Span(d time.Duration) string {
	s := int64(d.Abs().Round(time.Second) / time.Second)
	units := []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}
	for i, u := range units {
		if s < u.seconds {
			continue
		}
		text := fmt.Sprintf("%d %s", s/u.seconds, u.name)
		if i+1 < len(units) {
			if rest := s % u.seconds / units[i+1].seconds; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 s"
}

// Time returns a time as a noun, for "until …", "since …" and "not before …". Today's times have no
// date, and have seconds if they are less than an hour away. Other times have a date.
func Time(t, now time.Time) Text {
	if Days(t, now) == 0 && t.Sub(now).Abs() < time.Hour {
		return Plain(t.In(now.Location()).Format("15:04:05"))
	}
	return Minute(t, now)
}

// UTC writes a time with write, which is Time, When or the like, in UTC: "at 15:04 UTC". Servers write for people in
// many places.
func UTC(write func(t, now time.Time) Text, t, now time.Time) Text {
	return T("{time} UTC", "time", write(t.UTC(), now.UTC()))
}

// Minute is Time without seconds.
func Minute(t, now time.Time) Text {
	t = t.In(now.Location())
	switch Days(t, now) {
	case 0:
		return Plain(t.Format("15:04"))
	case 1, -1:
		return When(t, now)
	}
	return Moment(t)
}

// Moment is a time with its date, in its own time zone: "2026-03-05 05:27".
func Moment(t time.Time) Text { return T("{year}-{month}-{day} {clock}", date(t)...) }

// Day is a date: "2026-03-05".
func Day(t time.Time) Text { return T("{year}-{month}-{day}", date(t)...) }

// When is a moment as an adverb: "at 15:04", "tomorrow at 05:27", "on 2026-03-05 05:27".
func When(t, now time.Time) Text {
	t = t.In(now.Location())
	switch Days(t, now) {
	case 0:
		return T("at {clock}", date(t)...)
	case 1:
		return T("tomorrow at {clock}", date(t)...)
	case -1:
		return T("yesterday at {clock}", date(t)...)
	}
	return T("on {year}-{month}-{day} {clock}", date(t)...)
}

func date(t time.Time) []any {
	return []any{"year", t.Format("2006"), "month", t.Format("01"), "day", t.Format("02"), "clock", t.Format("15:04")}
}

// Days returns the number of calendar days from now to t in the time zone of now. It is negative if
// t is earlier.
func Days(t, now time.Time) int {
	noon := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, time.UTC) }
	return int(noon(t.In(now.Location())).Sub(noon(now)) / (24 * time.Hour))
}

// Count is a number with its noun, whose plural has an s: "1 task", "2 tasks".
func Count(n int, noun string) Text { return Plural(n, "{n} "+noun, "{n} "+noun+"s") }

// Number is a number as people read it: "1,204".
func Number(n int64) Text {
	if n > -1000 && n < 1000 {
		return Plain(strconv.FormatInt(n, 10))
	}
	last := n % 1000
	return T("{thousands},{rest}", "thousands", Number(n/1000), "rest", fmt.Sprintf("%03d", max(last, -last)))
}

// Bytes is a size as people read it, with at most one decimal: "0 bytes", "1.5 MB", "2 GB". As in
// BOINC's programs and preferences, a KB has 1,024 bytes, an MB 1,024 KB, and so on.
func Bytes[N int64 | float64](n N) Text {
	if n < 1<<10 {
		return Count(int(n), "byte")
	}
	v, units := float64(n)/1024, []string{"KB", "MB", "GB", "TB", "PB", "EB"}
	for v >= 1023.95 && len(units) > 1 { // rounded, it is 1 of the next unit
		v, units = v/1024, units[1:]
	}
	return T("{amount} {unit}", "amount", Decimal(v, 1), "unit", units[0])
}

// Float is a number as a person types it: "1000000", "0.5", "1e30".
func Float(v float64) string {
	if s := strconv.FormatFloat(v, 'f', -1, 64); len(s) <= 12 {
		return s
	}
	return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "e+", "e", 1)
}

// Decimal is a number with at most so many decimals: "1.5", "2".
func Decimal(v float64, decimals int) Text {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, part, _ := strings.Cut(s, ".")
	if part = strings.TrimRight(part, "0"); part == "" {
		return Plain(whole)
	}
	return T("{whole}.{part}", "whole", whole, "part", part)
}
