package prefs

import (
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/internal/words"
)

// Value parses a preference's value as a person writes it: a number, with or without its unit, or
// yes, no, true, false, on, off. The error describes the expected form.
func Value(name, text string) (float64, error) {
	k, err := find(name)
	if err != nil {
		return 0, err
	}
	text = strings.ToLower(strings.TrimSpace(text))
	if k.Bool() {
		switch text {
		case "yes", "true", "on", "1":
			return 1, nil
		case "no", "false", "off", "0":
			return 0, nil
		}
		return 0, words.Refuse(words.T("{key}: {value} is neither yes nor no", "key", name, "value", strconv.Quote(text)))
	}
	number := text
	for _, unit := range []string{k.Unit, "%"} {
		if unit != "%" || k.Unit == "percent" {
			number = strings.TrimSpace(strings.TrimSuffix(number, strings.ToLower(unit)))
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, words.Refuse(words.T("{key}: {value} is not a number of {unit}; {remedy}", "key", name, "value", strconv.Quote(text),
			"unit", words.T(k.Unit), "remedy", words.Or(tomlfile.Decimal(number), words.T("write for example {value}", "value", k.Default))))
	}
	return v, Check(name, &v)
}

// Check returns the fault of a value for a preference. nil means that the preference is unset.
func Check(name string, value *float64) error {
	k, err := find(name)
	if err != nil {
		return err
	}
	if value != nil && !(*value >= k.Least && *value <= k.Most) {
		return tomlfile.Lines{}.Fault(name, outside(*value, k.Least, k.Most))
	}
	return nil
}

// outside is the fault of a value outside of its range.
func outside(value, least, most float64) words.Text {
	return words.T("{value} is not between {least} and {most}", "value", value, "least", least, "most", most)
}

func find(name string) (*Key, error) {
	if k := byName(name); k != nil {
		return k, nil
	}
	if strings.Contains(name, ".") {
		return nil, words.Refuse(words.T("{key}: a preference of a day or a venue can only be set in prefs.toml: starling prefs edit", "key", name))
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return nil, tomlfile.Lines{}.Unknown(name, names)
}
