// Package power reads numbers from outside the computer on which a volunteer lets computing depend,
// such as the price of electricity, its carbon intensity, or the charge of a battery.
//
//	signal.go    judges the numbers of one source
//	forecast.go  finds the hours in which tasks will not run
//	read.go      reads one number from a file, a program or a page
//	mqtt.go      reads the message of a broker
//	power.go     reads all of them now and then
package power

import (
	"strconv"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol/bxml"
)

// A Signal is one number and its consequences. Its methods take values only.
type Signal struct {
	settings.Power
	Number float64   // as last read
	Read   time.Time // the time of that, or zero
	Fault  string    // the reason why the last attempt failed, as a sentence, or ""
	hours  []Hour    // its forecast, as last read
	over   bool      // the number is beyond the limit
	denied bool      // it kept tasks from running when it was looked at last
}

// staleAfter is the number of intervals after which a number counts as unknown.
const staleAfter = 3

// maxFault is the maximum length of a fault, in bytes. It may have words of a server.
const maxFault = 500

// Take sets the content of the source, or the reason why it is not known.
func (s *Signal) Take(r Reading, err error, now time.Time) {
	if err != nil {
		s.Fault = bxml.Printable(err.Error(), maxFault)
		return
	}
	s.Number, s.hours, s.Read, s.Fault = r.Number, r.Hours, now, ""
	s.over = s.beyond(r.Number, s.over)
}

// beyond reports whether a number keeps tasks from running, after one that did or did not.
func (s *Signal) beyond(number float64, over bool) bool {
	by := number - s.Limit
	if s.Above {
		by = -by
	}
	return by > 0 || over && by > -s.Hysteresis
}

// Interval is the time between two attempts.
func (s *Signal) Interval() time.Duration {
	if s.Every > 0 {
		return time.Duration(s.Every) * time.Second
	}
	return settings.EveryDefault * time.Second
}

// Known reports whether the number can be relied on.
func (s *Signal) Known(now time.Time) bool {
	return !s.Read.IsZero() && now.Sub(s.Read) < staleAfter*s.Interval()
}

// Denies returns why tasks may not run now, and whether that is so.
func (s *Signal) Denies(now time.Time) (p prefs.Power, denies bool) {
	p.OnlyGPUs = s.OnlyGPUs
	switch {
	case s.Known(now) && s.over:
		why, back, set := "{name} is at {now}, above the limit of {limit} ([[power]] in starling.toml).", s.Limit-s.Hysteresis, words.T("or set the limit higher.")
		if s.Above {
			why, back, set = "{name} is at {now}, below the limit of {limit} ([[power]] in starling.toml).", s.Limit+s.Hysteresis, words.T("or set the limit lower.")
		}
		p.Why = s.ofGPUs(words.T(why, "name", s.Name, "now", s.amount(s.Number), "limit", s.amount(s.Limit)))
		p.Cure = words.T("Wait until it is at {back}, {set}", "back", s.amount(back), "set", set)
		if p.Until = s.opens(now); !p.Until.IsZero() {
			p.Cure = words.T("Wait until it is at {back}, by its forecast at {time}, {set}", "back", s.amount(back), "time", words.Time(p.Until, now), "set", set)
		}
		return p, true
	case !s.Known(now) && s.Strict:
		p.Why = words.And(s.ofGPUs(words.T("{name} is not known ([[power]] in starling.toml, strict = true).", "name", s.Name)), s.fault())
		p.Cure = words.T("Repair its source, or set strict = false.")
		return p, true
	}
	return p, false
}

// ofGPUs adds to a reason that it is about GPUs alone, if it is.
func (s *Signal) ofGPUs(why words.Text) words.Text {
	if s.OnlyGPUs {
		return words.T("GPUs are not used: {why}", "why", why)
	}
	return why
}

// State is the signal as a sentence, and whether something is wrong with it.
func (s *Signal) State(now time.Time) (text words.Text, wrong bool) {
	if !s.Known(now) {
		return words.And(words.T("{name} is not known.", "name", s.Name), s.fault()), s.Fault != ""
	}
	text = words.T("{name} is at {now}, and the limit is {limit}.", "name", s.Name, "now", s.amount(s.Number), "limit", s.amount(s.Limit))
	if s.Fault != "" {
		text = words.And(text, words.T("It was read at {time}.", "time", words.Time(s.Read, now)), words.Plain(s.Fault))
	}
	return text, s.Fault != ""
}

func (s *Signal) fault() words.Text {
	if s.Fault == "" {
		return words.T("It was not read yet.")
	}
	return words.Plain(s.Fault)
}

// amount is a number with its unit.
func (s *Signal) amount(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64)
	if len(text) > 12 {
		text = strconv.FormatFloat(n, 'g', 6, 64)
	}
	if s.Unit == "" || s.Unit == "%" {
		return text + s.Unit
	}
	return text + " " + s.Unit
}
