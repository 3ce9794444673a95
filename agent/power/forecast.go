package power

import (
	"cmp"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/jobsched"
)

// An Hour is an entry of a forecast: a number that is valid from a time on, until the next entry. It
// is often an hour, and sometimes a quarter of one.
type Hour struct {
	Start  time.Time
	Number float64
}

// The limits on a forecast.
const (
	maxHours = 1000
	// lastHour is how long the last number of a forecast holds.
	lastHour = time.Hour
)

// hoursOf finds the list in a text.
func hoursOf(text []byte, p settings.Power) (all []Hour, err error) {
	v, err := document(text)
	if err != nil {
		return nil, err
	}
	list, ok := at(v, p.Forecast).([]any)
	if !ok {
		return nil, sentence("Its source has no list at %s.", p.Forecast)
	}
	for _, entry := range list[:min(len(list), maxHours)] {
		start, ok := asTime(at(entry, p.Time))
		if !ok {
			return nil, sentence("Its forecast has an entry without a time at %s.", p.Time)
		}
		n, ok, err := asNumber(at(entry, p.Number))
		if err != nil || !ok {
			continue // often null, where nothing is known
		}
		all = append(all, Hour{start, n})
	}
	if len(all) == 0 {
		return nil, sentence("Its forecast has no numbers at %s.", p.Number)
	}
	slices.SortStableFunc(all, func(a, b Hour) int { return a.Start.Compare(b.Start) })
	return all, nil
}

// asTime reads a time: RFC 3339, also without seconds, or seconds or milliseconds since 1970.
func asTime(v any) (time.Time, bool) {
	switch x := v.(type) {
	case string:
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
			if t, err := time.Parse(layout, x); err == nil {
				return t, true
			}
		}
	case float64:
		const inMilliseconds = 1e11 // as seconds, this would be in the year 5138
		if x >= inMilliseconds {
			x /= 1000
		}
		if x >= 0 && x < inMilliseconds {
			return time.Unix(int64(x), 0), true
		}
	}
	return time.Time{}, false
}

// end returns the end of an entry.
func end(hours []Hour, i int) time.Time {
	if i+1 < len(hours) {
		return hours[i+1].Start
	}
	return hours[i].Start.Add(lastHour)
}

// numberAt returns the number of the forecast at a time.
func numberAt(hours []Hour, now time.Time) (float64, error) {
	for i, h := range slices.Backward(hours) {
		if !h.Start.After(now) && now.Before(end(hours, i)) {
			return h.Number, nil
		}
	}
	return 0, sentence("Its forecast has no number for now.")
}

// Closed returns the times from now on in which tasks may not run, by the forecast. Before its first
// entry, and in the one of now, the number that was read counts.
func (s *Signal) Closed(now time.Time) (all []jobsched.Closed) {
	if len(s.hours) == 0 || !s.Known(now) {
		return nil
	}
	add := func(from, to time.Time) {
		if n := len(all); n > 0 && !all[n-1].End.Before(from) {
			all[n-1].End = to
		} else {
			all = append(all, jobsched.Closed{Start: from, End: to})
		}
	}
	over := s.over
	if first := s.hours[0].Start; over && first.After(now) {
		add(now, first)
	}
	for i, h := range s.hours {
		if !end(s.hours, i).After(now) {
			continue
		}
		if h.Start.After(now) {
			over = s.beyond(h.Number, over)
		}
		if over {
			add(latest(h.Start, now), end(s.hours, i))
		}
	}
	return all
}

// opens returns when tasks may run again, by the forecast, or zero if that is not known.
func (s *Signal) opens(now time.Time) time.Time {
	closed := s.Closed(now)
	if len(closed) == 0 || closed[0].Start.After(now) || !closed[0].End.Before(end(s.hours, len(s.hours)-1)) {
		return time.Time{}
	}
	return closed[0].End
}

// Forecast joins the forecasts of all numbers: for tasks on CPUs, or with gpus for tasks on
// coprocessors. It is complete as long as each of them is.
func Forecast(list []Signal, now time.Time, gpus bool) (f jobsched.Forecast) {
	var all []jobsched.Closed
	for i := range list {
		s := &list[i]
		if !gpus && s.OnlyGPUs || len(s.hours) == 0 || !s.Known(now) {
			continue
		}
		all = append(all, s.Closed(now)...)
		if last := end(s.hours, len(s.hours)-1); f.Until.IsZero() || last.Before(f.Until) {
			f.Until = last
		}
	}
	slices.SortFunc(all, func(a, b jobsched.Closed) int { return cmp.Or(a.Start.Compare(b.Start), a.End.Compare(b.End)) })
	for _, x := range all {
		if n := len(f.Closed); n > 0 && !f.Closed[n-1].End.Before(x.Start) {
			f.Closed[n-1].End = latest(f.Closed[n-1].End, x.End)
		} else {
			f.Closed = append(f.Closed, x)
		}
	}
	return f
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
