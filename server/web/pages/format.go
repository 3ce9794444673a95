package pages

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// when is a moment, to the minute.
func when(t time.Time) words.Text {
	if t.Unix() <= 0 {
		return words.T("never")
	}
	return words.Moment(t.UTC())
}

// ago is a day relative to now, for readers of news.
func ago(day, now time.Time) words.Text {
	n := -words.Days(day, now)
	date := words.T("{day} {month}", "day", day.Day(), "month", months[day.Month()-1])
	switch {
	case n == 0:
		return words.T("today")
	case n == 1:
		return words.T("yesterday")
	case n > 1 && n < 7:
		return words.T("{n} days ago", "n", n)
	case day.Year() == now.Year():
		return date
	}
	return words.T("{date} {year}", "date", date, "year", day.Year())
}

// months are the months, in short.
var months = [...]words.Text{
	words.T("Jan"), words.T("Feb"), words.T("Mar"), words.T("Apr"), words.T("May"), words.T("Jun"),
	words.T("Jul"), words.T("Aug"), words.T("Sep"), words.T("Oct"), words.T("Nov"), words.T("Dec"),
}

// device names the coprocessors of one kind: 2 × NVIDIA GeForce RTX 3060 (12 GB).
func device(c store.Coproc) words.Text {
	name := words.Plain(c.Name)
	if c.Name == "" {
		name = kind(c.Kind)
	}
	if c.Count > 1 {
		name = words.T("{n} × {name}", "n", c.Count, "name", name)
	}
	if c.Memory > 0 {
		name = words.T("{name} ({size})", "name", name, "size", words.Bytes(c.Memory))
	}
	return name
}

// kind names a kind of coprocessor.
func kind(name string) words.Text {
	if known := match.KnownDevice(name); known != "" {
		return words.Plain(known)
	}
	return words.T("coprocessor of type {kind}", "kind", name)
}

// called returns the owner's name for a computer.
func called(h store.Host) words.Text {
	if name := cmp.Or(h.Label, h.DomainName); name != "" {
		return words.Plain(name)
	}
	return words.T("Computer {id}", "id", h.ID)
}

// count is a number of things, which may be an int, int64 or float64. It is rounded.
func count(n any) words.Text {
	switch n := n.(type) {
	case int:
		return words.Number(int64(n))
	case int64:
		return words.Number(n)
	case float64:
		return words.Number(int64(math.Round(n)))
	}
	return words.Plain(fmt.Sprint(n))
}

// number is an amount of credit: 1,234,567, or 12.34 if it is little.
func number(v float64) words.Text {
	if v >= 1000 {
		return count(v)
	}
	whole, part, _ := strings.Cut(strconv.FormatFloat(v, 'f', 2, 64), ".")
	return words.T("{whole}.{part}", "whole", whole, "part", part)
}

// decimalPoint is what stands before the decimals of a number in a language.
func decimalPoint(l words.Language) string {
	return words.T("{whole}.{part}", "whole", "", "part", "").In(l)
}

// labels are the names of states, outcomes and venues for people.
var labels = map[string]words.Text{
	"inactive": words.T("inactive"), "unsent": words.T("unsent"), "in_progress": words.T("in progress"), "over": words.T("over"),
	"init": words.T("init"), "success": words.T("success"), "couldnt_send": words.T("could not be sent"), "client_error": words.T("client error"),
	"no_reply": words.T("no reply"), "didnt_need": words.T("not needed"), "validate_error": words.T("validate error"), "client_detached": words.T("client detached"),
	"home": words.T("home"), "work": words.T("work"), "school": words.T("school"),
}

// label is the name of a state, an outcome or a venue for people.
func label(name string) words.Text {
	if text, ok := labels[name]; ok {
		return text
	}
	return words.Plain(strings.ReplaceAll(name, "_", " "))
}
