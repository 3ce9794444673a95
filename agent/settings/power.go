package settings

import (
	"fmt"
	"math"
	"net/url"
	"reflect"
	"strings"
)

// A Power is a number from outside the computer that computing depends on, such as the price of
// electricity.
type Power struct {
	Name       string   `toml:"name" about:"a name of the number for people, such as Grid"`
	File       string   `toml:"file" about:"the file that contains the number; give one of file, command and url"`
	Command    []string `toml:"command" about:"a program that prints the number, and its arguments; it runs with the rights of the agent's user, and never as root"`
	URL        string   `toml:"url" about:"the http or https address of a page that contains the number, or mqtt://BROKER/TOPIC or mqtts:// of a topic with retained messages; with USER:PASSWORD@ before the host if needed"`
	Value      string   `toml:"value" about:"the number's place in JSON, such as data.0.intensity; empty: the text starts with the number"`
	Forecast   string   `toml:"forecast" about:"the place in JSON of a list with the numbers of the next hours; work is then fetched and deadlines are planned for the hours in which tasks will run"`
	Time       string   `toml:"forecast_time" about:"the place, in an entry of that list, of the time from which its number holds: RFC 3339, or seconds or milliseconds since 1970"`
	Number     string   `toml:"forecast_value" about:"the place of its number, likewise; with no value, the number now is the one of the forecast"`
	Unit       string   `toml:"unit" about:"unit of the number, for people; gCO2/kWh or g/kWh is the carbon intensity, with which the CO2 of tasks is computed"`
	Limit      float64  `toml:"limit" about:"the number up to which tasks run"`
	Above      bool     `toml:"above" about:"tasks run from the limit upward instead, as for the charge of a battery"`
	Hysteresis float64  `toml:"hysteresis" about:"how far beyond the limit the number must return before tasks resume"`
	Every      int      `toml:"every" unit:"seconds" about:"how often the number is read; 0: 300"`
	OnlyGPUs   bool     `toml:"only_gpus" about:"suspend only tasks on GPUs and other coprocessors"`
	Strict     bool     `toml:"strict" about:"suspend tasks also while the number cannot be read"`
}

// IsMQTT reports whether an address is of a topic of MQTT.
func IsMQTT(address string) bool {
	return strings.HasPrefix(address, "mqtt://") || strings.HasPrefix(address, "mqtts://")
}

// Carbon reports whether the number is the carbon intensity of electricity, in grams of CO2 for each
// kWh, by its unit.
func (p Power) Carbon() bool {
	switch strings.ToLower(strings.ReplaceAll(p.Unit, " ", "")) {
	case "g/kwh", "gco2/kwh", "gco2e/kwh", "gco2eq/kwh":
		return true
	}
	return false
}

// EveryDefault is the default interval at which a number is read, in seconds.
const EveryDefault = 300

// maxPowers is the maximum number of such numbers.
const maxPowers = 8

func (s Settings) checkPowers(lines faults) (errs []error) {
	wrong := func(key, format string, args ...any) { errs = append(errs, lines.Errorf(key, format, args...)) }
	if len(s.Powers) > maxPowers {
		wrong("power", "there are %d of them; at most %d are supported", len(s.Powers), maxPowers)
	}
	seen := make(map[string]bool)
	for _, p := range s.Powers {
		key := fmt.Sprintf("power %q: ", p.Name)
		sources := 0
		for _, set := range []bool{p.File != "", len(p.Command) > 0, p.URL != ""} {
			if set {
				sources++
			}
		}
		switch {
		case strings.TrimSpace(p.Name) == "":
			wrong("power", "name is missing; write name = \"Grid\"")
		case seen[p.Name]:
			wrong(key+"name", "there are two of this name")
		case sources != 1:
			wrong(key+"file", "give exactly one of file, command and url")
		}
		seen[p.Name] = true
		switch u, err := url.Parse(p.URL); {
		case p.URL == "":
		case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" && !IsMQTT(p.URL):
			wrong(key+"url", "%q is not an http, https, mqtt or mqtts URL", p.URL)
		case IsMQTT(p.URL) && (len(u.Path) < 2 || strings.ContainsAny(u.Path, "+#") || u.RawQuery != "" || strings.Contains(p.URL, "#")):
			wrong(key+"url", "%q does not name one topic; write mqtt://BROKER/TOPIC, without wildcards", p.URL)
		}
		if len(p.Command) > 0 && p.Command[0] == "" {
			wrong(key+"command", "the program is missing; write command = [\"PROGRAM\", \"ARGUMENT\"]")
		}
		if (p.Forecast == "") != (p.Time == "") || (p.Forecast == "") != (p.Number == "") {
			wrong(key+"forecast", "give all of forecast, forecast_time and forecast_value, or none")
		}
		if math.IsNaN(p.Limit) || math.IsInf(p.Limit, 0) {
			wrong(key+"limit", "%v is not a number", p.Limit)
		}
		if !(p.Hysteresis >= 0) || math.IsInf(p.Hysteresis, 0) {
			wrong(key+"hysteresis", "%v is negative or not a number", p.Hysteresis)
		}
		if p.Every != 0 && (p.Every < 10 || p.Every > 86400) {
			wrong(key+"every", "%d is not between 10 and 86400 seconds", p.Every)
		}
	}
	return errs
}

// SamePowers reports whether the same numbers are read with both.
func (s Settings) SamePowers(o Settings) bool { return reflect.DeepEqual(s.Powers, o.Powers) }
