package control

import "strconv"

// Energy is the electrical energy of tasks, as far as it was measured or stated.
type Energy struct {
	Wh  float64 `json:"energy_wh,omitempty"`
	CO2 float64 `json:"co2_grams,omitempty"` // of CO2Of
	// CO2Of is the part of Wh for which a carbon intensity was known.
	CO2Of float64 `json:"co2_of_wh,omitempty"`
}

// whole is the part of the energy that counts as all of it.
const whole = 0.99

// EnergyText returns an energy in words, such as "1.2 kWh, 310 g CO2", or "" if nothing is known.
func EnergyText(e Energy) string {
	if e.Wh <= 0 {
		return ""
	}
	text := scaled(e.Wh, "Wh", "kWh")
	if e.CO2Of <= 0 {
		return text
	}
	text += ", " + scaled(e.CO2, "g", "kg") + " CO2"
	if e.CO2Of < whole*e.Wh {
		text += " for " + scaled(e.CO2Of, "Wh", "kWh") + " of it"
	}
	return text
}

// scaled writes a number with three digits.
func scaled(n float64, unit, thousand string) string {
	if n >= 999.5 {
		n, unit = n/1000, thousand
	}
	digits := 2
	for limit := 9.995; digits > 0 && n >= limit; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + " " + unit
}
