package project

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// assignment is a line that sets a key, and table one after which keys are of a table.
var (
	assignment = regexp.MustCompile(`^\s*([A-Za-z0-9_]+)\s*=`)
	table      = regexp.MustCompile(`^\s*\[`)
)

// EditSettings returns the text of a server.toml with changed values for some keys, which may be
// texts and lists of texts. Everything else is kept, comments included. A setting on one line is
// replaced there. A key that is not set is added. The result may be wrong if the text was: see
// ParseConfig.
func EditSettings(text string, changes map[string]any) string {
	left := maps.Clone(changes)
	lines := strings.Split(text, "\n")
	end := len(lines)
	open := false // within a list of several lines
	for i, line := range lines {
		if open {
			open = !strings.Contains(line, "]")
			continue
		}
		m := assignment.FindStringSubmatch(line)
		if m == nil {
			if table.MatchString(line) {
				end = i
				break
			}
			continue
		}
		if value, ok := left[m[1]]; ok {
			lines[i] = m[1] + " = " + literal(value)
			delete(left, m[1])
			continue
		}
		_, value, _ := strings.Cut(line, "=")
		value = strings.TrimSpace(value)
		open = strings.HasPrefix(value, "[") && !strings.Contains(value, "]")
	}
	var added []string
	for _, key := range slices.Sorted(maps.Keys(left)) {
		added = append(added, key+" = "+literal(left[key]))
	}
	if len(added) > 0 {
		added = append(added, "")
		lines = slices.Insert(lines, end, added...)
	}
	return strings.Join(lines, "\n")
}
