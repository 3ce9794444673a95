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
// texts and lists of texts. Everything else is kept, comments included. A setting is
// replaced where it is. A key that is not set is added. The result may be wrong if the text was: see
// ParseConfig.
func EditSettings(text string, changes map[string]any) string {
	left := maps.Clone(changes)
	lines := strings.Split(text, "\n")
	end := len(lines)
	open, drop := 0, false // brackets of a list of several lines, which is replaced
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if open > 0 {
			open += brackets(line)
			if drop {
				lines = slices.Delete(lines, i, i+1)
				i--
			}
			end = len(lines)
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
		_, old, _ := strings.Cut(line, "=")
		if old = strings.TrimSpace(old); strings.HasPrefix(old, "[") {
			open = brackets(old)
		}
		var value any
		if value, drop = left[m[1]]; drop {
			lines[i] = m[1] + " = " + literal(value)
			delete(left, m[1])
		}
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

// brackets returns how many more brackets a line opens than it closes, outside of texts and comments.
func brackets(line string) (n int) {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#':
			return n
		case c == '[':
			n++
		case c == ']':
			n--
		}
	}
	return n
}
