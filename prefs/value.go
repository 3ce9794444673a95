package prefs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/tomlfile"
)

// Value parses a preference's value as a person writes it: a number, with or without its unit, or
// yes, no, true, false, on, off. The error describes the expected value.
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
		return 0, fmt.Errorf("%s: %q is not a number of %s, such as %v", name, text, k.Unit, k.Default)
	}
	return v, Check(name, &v)
}

// Check returns an error if a value is wrong for a preference. A nil value is always accepted.
func Check(name string, value *float64) error {
	k, err := find(name)
	if err != nil {
		return err
	}
	if value != nil && !(*value >= k.Least && *value <= k.Most) {
		return fmt.Errorf("%s: %v is not between %v and %v", name, *value, k.Least, k.Most)
	}
	return nil
}

func find(name string) (*Key, error) {
	if k := byName(name); k != nil {
		return k, nil
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return nil, tomlfile.Lines{}.Unknown(name, names)
}
