package protocol

import (
	"fmt"
	"slices"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A DailyStatistic is the credit of an account and of a host at the end of a day.
type DailyStatistic struct {
	Day                   time.Time
	UserTotal, UserExpavg float64
	HostTotal, HostExpavg float64
}

// ParseStatistics reads a statistics_*.xml of BOINC's client. It returns the project's address and
// the days in chronological order.
func ParseStatistics(b []byte) (masterURL string, days []DailyStatistic, err error) {
	s := bxml.NewScanner(b).Foreign()
	if err := s.Find("project_statistics"); err != nil {
		return "", nil, fmt.Errorf("statistics: %w", err)
	}
	for name := range s.Children() {
		switch name {
		case "master_url":
			masterURL = s.Text()
		case "daily_statistics":
			days = appendTo(days, scanDailyStatistic(s))
		}
	}
	if err := s.Err(); err != nil {
		return "", nil, fmt.Errorf("statistics: %w", err)
	}
	slices.SortStableFunc(days, func(a, b DailyStatistic) int { return a.Day.Compare(b.Day) })
	return masterURL, days, nil
}

func scanDailyStatistic(s *bxml.Scanner) (d DailyStatistic) {
	for name := range s.Children() {
		switch name {
		case "day":
			scanTime(s, &d.Day)
		case "user_total_credit":
			s.Float(&d.UserTotal)
		case "user_expavg_credit":
			s.Float(&d.UserExpavg)
		case "host_total_credit":
			s.Float(&d.HostTotal)
		case "host_expavg_credit":
			s.Float(&d.HostExpavg)
		}
	}
	return d
}
