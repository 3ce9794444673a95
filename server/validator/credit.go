package validator

import (
	"math"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// BOINC's unit of credit, the cobblestone: 200 of them a day for a computer of
// 1 GFLOPS. A valid result is worth the floating point operations that its
// workunit was estimated to need, whatever the host took for it, so hosts
// cannot claim more by computing slowly or by telling a wrong benchmark.
const perFLOP = 200 / 86400e9

// MaxGrantedCredit bounds what one result may bring, as BOINC's validators do.
const MaxGrantedCredit = 7.3e7

// halfLife is that of the recent average credit.
const halfLife = 7 * 24 * time.Hour

// claim returns the credit that a result of a workunit is worth.
func claim(wu store.Workunit) float64 { return min(wu.RscFpopsEst*perFLOP, MaxGrantedCredit) }

// average adds credit granted at now to a recent average, in credit a day, that
// was last changed at last.
//
// Source: BOINC lib/util.cpp, update_average.
func average(avg float64, last, now time.Time, credit float64) float64 {
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
