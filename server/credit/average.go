package credit

import (
	"math"
	"time"
)

// halfLife is the half-life of the recent average credit.
const halfLife = 7 * 24 * time.Hour

// Average adds credit granted at now to a recent average, in credit a day, that
// was last changed at last.
//
// Source: BOINC lib/util.cpp, update_average.
func Average(avg float64, last, now time.Time, credit float64) float64 {
	if last.IsZero() {
		// As if the credit had been earned evenly over one half-life.
		return credit * math.Ln2 / (halfLife.Hours() / 24)
	}
	days := max(0, now.Sub(last).Hours()/24)
	weight := math.Exp2(-days / (halfLife.Hours() / 24))
	if 1-weight < 1e-6 {
		return avg + credit*math.Ln2/(halfLife.Hours()/24)
	}
	return avg*weight + (1-weight)*credit/days
}

// Decayed returns the current value of a recent average that was last changed at last, if no credit
// was granted since: half of it a week later. The stored value is from the last grant. A clock that
// was set back leaves it as it was.
//
// Source: BOINC lib/util.cpp, update_average, for a credit of 0. BOINC's update_stats stores that
// for users, teams and hosts without recent credit.
func Decayed(avg float64, last, now time.Time) float64 {
	if last.IsZero() || !now.After(last) {
		return avg
	}
	return avg * math.Exp2(-now.Sub(last).Hours()/halfLife.Hours())
}
