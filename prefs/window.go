package prefs

import "time"

// A window is a part of the day, from one hour to another, over midnight if the second is earlier.
// Equal hours mean the whole day. 24 to 0 means never.
//
// Source: BOINC lib/prefs.cpp, TIME_SPAN::mode.
type window struct{ from, to float64 }

func (w window) always() bool { return w.from == w.to || w.from == 0 && w.to == 24 }
func (w window) never() bool  { return w.from == 24 && w.to == 0 }

// open reports whether the window is open at an hour of its day.
func (w window) open(hour float64) bool {
	switch {
	case w.always():
		return true
	case w.never():
		return false
	case w.from < w.to:
		return w.from <= hour && hour < w.to
	default:
		return hour >= w.from || hour < w.to
	}
}

// computing and network are the windows of a weekday.
func (p *Prefs) computing(d time.Weekday) window {
	if day := p.Days.of(d); day.StartHour != day.EndHour {
		return window{day.StartHour, day.EndHour}
	}
	return window{p.StartHour, p.EndHour}
}

func (p *Prefs) network(d time.Weekday) window {
	if day := p.Days.of(d); day.NetStartHour != day.NetEndHour {
		return window{day.NetStartHour, day.NetEndHour}
	}
	return window{p.NetStartHour, p.NetEndHour}
}

// within reports whether now, in its own time zone, is within the window of its day. until is the
// time of the next change, at most eight days ahead, or zero if there is none.
func within(now time.Time, of func(time.Weekday) window) (open bool, until time.Time) {
	open = of(now.Weekday()).open(hour(now))
	for day := range 9 {
		d := now.AddDate(0, 0, day)
		w := of(d.Weekday())
		for _, h := range []float64{0, min(w.from, w.to), max(w.from, w.to)} {
			t := at(d, h)
			if t.After(now) && of(t.Weekday()).open(hour(t)) != open && (until.IsZero() || t.Before(until)) {
				until = t
			}
		}
		if !until.IsZero() {
			return open, until
		}
	}
	return open, time.Time{}
}

// hour returns the hour of the day in local time.
func hour(t time.Time) float64 {
	return float64(t.Hour()) + float64(t.Minute())/60 + float64(t.Second())/3600
}

// at returns the time when a clock on the wall shows an hour on a day. If the change to summer time
// skips that hour, it is the one after.
func at(day time.Time, h float64) time.Time {
	s := int(h*3600 + 0.5)
	return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, s, 0, day.Location())
}
