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
	err = bxml.NewScanner(b).Foreign().Decode("project_statistics", func(x bxml.Codec) {
		x.Text("master_url", &masterURL)
		each(x, "daily_statistics", &days)
	})
	if err != nil {
		return "", nil, fmt.Errorf("statistics: %w", err)
	}
	slices.SortStableFunc(days, func(a, b DailyStatistic) int { return a.Day.Compare(b.Day) })
	return masterURL, days, nil
}

func (d *DailyStatistic) fields(x bxml.Codec) {
	instant(x, "day", &d.Day)
	x.Float("user_total_credit", &d.UserTotal)
	x.Float("user_expavg_credit", &d.UserExpavg)
	x.Float("host_total_credit", &d.HostTotal)
	x.Float("host_expavg_credit", &d.HostExpavg)
}
