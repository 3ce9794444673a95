package store

import "github.com/starling-grid/starling/server/db"

// CreditedEnergy is a sum over the valid results of an application whose hosts shared their energy,
// purged ones included. The zero value is the sum over no results.
type CreditedEnergy struct {
	Results int64   `json:"results"`
	Wh      float64 `json:"wh"`
	Credit  float64 `json:"credit"`
}

// Plus returns the sum with a result.
func (e CreditedEnergy) Plus(wh, credit float64) CreditedEnergy {
	return CreditedEnergy{e.Results + 1, e.Wh + wh, e.Credit + credit}
}

const creditedEnergies = `SELECT appid, results, energy_wh, credit FROM credited_energy`

var addEnergy = db.Change(`INSERT INTO credited_energy (appid, results, energy_wh, credit) VALUES ($1, $2, $3, $4)
ON CONFLICT (appid) DO UPDATE SET results = credited_energy.results + excluded.results,
       energy_wh = credited_energy.energy_wh + excluded.energy_wh, credit = credited_energy.credit + excluded.credit`)

// AddCreditedEnergy adds to the sum of an application.
func (t *Tx) AddCreditedEnergy(appID int64, e CreditedEnergy) error {
	return t.run(addEnergy, appID, e.Results, e.Wh, e.Credit)
}

// CreditedEnergies returns the sums by application.
func (t *View) CreditedEnergies() (map[int64]CreditedEnergy, error) {
	sums := make(map[int64]CreditedEnergy)
	_, err := all(t, func(r row) (struct{}, error) {
		var app int64
		var e CreditedEnergy
		err := r.Scan(&app, &e.Results, &e.Wh, &e.Credit)
		sums[app] = e
		return struct{}{}, err
	}, creditedEnergies)
	return sums, err
}
