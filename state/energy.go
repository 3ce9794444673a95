package state

// Energy is electrical energy that tasks used, as far as it was measured or stated. The zero value
// means that nothing is known.
type Energy struct {
	Joules float64 `json:"joules,omitzero"`
	CO2    float64 `json:"co2_grams,omitzero"`  // of the following
	CO2Of  float64 `json:"co2_joules,omitzero"` // the part of Joules for which the carbon intensity was known
}

// JoulesPerWh is the number of joules in a watt-hour.
const JoulesPerWh = 3600

// Plus returns the sum.
func (e Energy) Plus(o Energy) Energy {
	return Energy{e.Joules + o.Joules, e.CO2 + o.CO2, e.CO2Of + o.CO2Of}
}
