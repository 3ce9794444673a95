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
	"fmt"
	"strconv"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
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

// Take sets the content of the source, or the reason why it is not known.
func (s *Signal) Take(r Reading, err error, now time.Time) {
	if err != nil {
		s.Fault = err.Error()
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
	gpus := ""
	if s.OnlyGPUs {
		gpus = "GPUs are not used: "
	}
	p.OnlyGPUs = s.OnlyGPUs
	switch {
	case s.Known(now) && s.over:
		side, back, other := "above", s.Limit-s.Hysteresis, "higher"
		if s.Above {
			side, back, other = "below", s.Limit+s.Hysteresis, "lower"
		}
		p.Why = fmt.Sprintf("%s%s is at %s, %s the limit of %s ([[power]] in starling.toml).", gpus, s.Name, s.amount(s.Number), side, s.amount(s.Limit))
		p.Cure = fmt.Sprintf("Wait until it is at %s, or set the limit %s.", s.amount(back), other)
		if p.Until = s.opens(now); !p.Until.IsZero() {
			p.Cure = fmt.Sprintf("Wait until it is at %s, by its forecast at %s, or set the limit %s.", s.amount(back), words.Time(p.Until, now), other)
		}
		return p, true
	case !s.Known(now) && s.Strict:
		p.Why = fmt.Sprintf("%s%s is not known ([[power]] in starling.toml, strict = true). %s", gpus, s.Name, s.fault())
		p.Cure = "Repair its source, or set strict = false."
		return p, true
	}
	return p, false
}

// State is the signal as a sentence, and whether something is wrong with it.
func (s *Signal) State(now time.Time) (text string, wrong bool) {
	if !s.Known(now) {
		return fmt.Sprintf("%s is not known. %s", s.Name, s.fault()), s.Fault != ""
	}
	text = fmt.Sprintf("%s is at %s, and the limit is %s.", s.Name, s.amount(s.Number), s.amount(s.Limit))
	if s.Fault != "" {
		text += " It was read at " + words.Time(s.Read, now) + ". " + s.Fault
	}
	return text, s.Fault != ""
}

func (s *Signal) fault() string {
	if s.Fault == "" {
		return "It was not read yet."
	}
	return s.Fault
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
