package prefs

import (
	"cmp"
	"fmt"
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
		return 0, fmt.Errorf("%s: %q is neither yes nor no", name, text)
	}
	number := text
	for _, unit := range []string{k.Unit, "%"} {
		if unit != "%" || k.Unit == "percent" {
			number = strings.TrimSpace(strings.TrimSuffix(number, strings.ToLower(unit)))
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a number of %s; %s", name, text, k.Unit, cmp.Or(tomlfile.Decimal(number), "write for example "+words.Float(k.Default)))
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
		return fmt.Errorf("%s: %s is not between %s and %s", name, words.Float(*value), words.Float(k.Least), words.Float(k.Most))
	}
	return nil
}

func find(name string) (*Key, error) {
	if k := byName(name); k != nil {
		return k, nil
	}
	if strings.Contains(name, ".") {
		return nil, fmt.Errorf("%s: a preference of a day or a venue can only be set in prefs.toml: starling prefs edit", name)
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return nil, tomlfile.Lines{}.Unknown(name, names)
}
