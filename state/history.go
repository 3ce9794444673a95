package state

import "time"

// historyDays is the number of days for which credit and traffic are kept.
//
// Source: BOINC's save_stats_days.
const historyDays = 60

// A DailyCredit is the credit as of the last reply on a day.
type DailyCredit struct {
	Day        time.Time `json:"day,omitzero"` // its start, UTC
	UserTotal  float64   `json:"user_total,omitzero"`
	UserExpavg float64   `json:"user_expavg,omitzero"`
	HostTotal  float64   `json:"host_total,omitzero"`
	HostExpavg float64   `json:"host_expavg,omitzero"`
}

// AddCredit returns a history to which the current credit has been added.
func AddCredit(h []DailyCredit, now time.Time, c DailyCredit) []DailyCredit {
	c.Day = now.UTC().Truncate(24 * time.Hour)
	out := make([]DailyCredit, 0, len(h)+1)
	for _, d := range h {
		if d.Day.Before(c.Day) && c.Day.Sub(d.Day) < historyDays*24*time.Hour {
			out = append(out, d)
		}
	}
	return append(out, c)
}

// Traffic is the amount of data transferred in a day.
type Traffic struct {
	Day  int     `json:"day,omitzero"` // days since 1970, UTC
	Up   float64 `json:"up,omitzero"`  // bytes
	Down float64 `json:"down,omitzero"`
}

// AddTraffic returns a history to which some bytes of today have been added.
func AddTraffic(h []Traffic, now time.Time, bytes float64, upload bool) []Traffic {
	day := int(now.Unix() / 86400)
	out := make([]Traffic, 0, len(h)+1)
	today := Traffic{Day: day}
	for _, t := range h {
		switch {
		case t.Day == day:
			today = t
		case t.Day < day && day-t.Day < historyDays:
			out = append(out, t)
		}
	}
	if upload {
		today.Up += bytes
	} else {
		today.Down += bytes
	}
	return append(out, today)
}

// TrafficSince returns the number of bytes of the last days, where today counts as one.
func TrafficSince(h []Traffic, now time.Time, days int) (bytes float64) {
	day := int(now.Unix() / 86400)
	for _, t := range h {
		if day-t.Day < days && t.Day <= day {
			bytes += t.Up + t.Down
		}
	}
	return bytes
}
