package main

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
)

func TestSinceTime(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "12h": now.Add(-12 * time.Hour), "90min": now.Add(-90 * time.Minute), "7d": now.AddDate(0, 0, -7), "4w": now.AddDate(0, 0, -28), "0.5d": now.Add(-12 * time.Hour),
		"2026-05-01": time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), "2026-05-01T08:00:00+02:00": time.Date(2026, 5, 1, 6, 0, 0, 0, time.UTC),
	} {
		if got, err := sinceTime(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"yesterday", "-7d", "d", "7", "1e9d", "NaNd", "2026-13-01"} {
		if got, err := sinceTime(text, now); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestWhatWasAchievedInWords(t *testing.T) {
	for want, a := range map[string]control.Achieved{
		"Last 7 days: 41 tasks finished, 2 failed, 130 CPU hours.":                                  {Days: 7, Finished: 41, Failed: 2, CPUTime: 130 * 3600},
		"Last 7 days: 1 task finished, 3 aborted, 25 min of CPU time.":                              {Days: 7, Finished: 1, Aborted: 3, CPUTime: 25 * 60},
		"Last 7 days: 0 tasks finished, 1 failed, 0 s of CPU time.":                                 {Days: 7, Failed: 1},
		"Last 7 days: 1 task finished, 25 min of CPU time, 4.05 Wh, 1.22 g CO2.":                    {Days: 7, Finished: 1, CPUTime: 25 * 60, Energy: control.Energy{Wh: 4.05, CO2: 1.216, CO2Of: 4.04}},
		"Last 7 days: 1 task finished, 25 min of CPU time, 12.3 kWh, 999 g CO2 for 2.00 kWh of it.": {Days: 7, Finished: 1, CPUTime: 25 * 60, Energy: control.Energy{Wh: 12345, CO2: 999.4, CO2Of: 2000}},
		"Last 7 days: 2 tasks finished, 9 h 59 min of CPU time.":                                    {Days: 7, Finished: 2, CPUTime: 9*3600 + 59*60},
		"Last 7 days: 2 tasks finished, 1 failed, 1 aborted, 10 CPU hours.":                         {Days: 7, Finished: 2, Failed: 1, Aborted: 1, CPUTime: 36000},
	} {
		if got := achieved(a); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
