package tomlfile

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/internal/words"
)

// syntax returns an error for a parser's error, with the key and, if it can be guessed, a
// correction. t is the struct that the file is read into.
func syntax(lines Lines, t reflect.Type, src []byte, pe toml.ParseError) error {
	n := pe.Position.Line
	if strings.Contains(pe.Message, "to end table name") && !strings.HasPrefix(lineOf(string(src), n), "[") {
		n-- // the parser is at the next line already
	}
	text := lineOf(string(src), n)
	at := fmt.Sprintf("%s:%d: ", lines.name, n)
	name, value, assigns := strings.Cut(text, "=")
	switch {
	case strings.ContainsRune(string(src), 0):
		return fmt.Errorf("%s: not a text file in UTF-8; save it as UTF-8", lines.name)
	case strings.HasPrefix(text, "["):
		if header := strings.Trim(text, "[] \t"); header != "" && !strings.Contains(text, "]") {
			return fmt.Errorf("%s%s: a section's name must be closed by ]", at, plainKey(header))
		}
	case strings.Contains(pe.Message, "has already been defined"):
		return fmt.Errorf("%s%s: set twice; delete one of the lines", at, plainKey(name))
	case !assigns:
		if m := colon.FindStringSubmatch(text); m != nil && typeOf(t, lines.table(n)+m[1]) != nil {
			return fmt.Errorf("%s%s: there is no = between key and value; write %[2]s = VALUE", at, lines.table(n)+m[1])
		}
	default:
		key := lines.table(n) + plainKey(name)
		want := typeOf(t, key)
		switch value = strings.TrimSpace(comment.ReplaceAllString(value, "")); {
		case want == nil:
		case value == "":
			return fmt.Errorf("%s%s: no value; write %s after =", at, key, kind(want))
		case secret(want):
			return fmt.Errorf("%s%s: must be %s", at, key, kind(want))
		case !strings.HasPrefix(value, "[") && !strings.HasPrefix(value, `"""`) && !strings.HasPrefix(value, "'''"):
			return fmt.Errorf("%s%s: %.60s is not %s%s", at, key, value, kind(want), instead(want, plainKey(name), value))
		}
	}
	return fmt.Errorf("%s%s", at, pe.Message)
}

var (
	colon   = regexp.MustCompile(`^([A-Za-z0-9_-]+)\s*[:\s]\s*\S`)
	comment = regexp.MustCompile(`\s#.*$`)
)

// lineOf returns the n-th line of a text, counted from 1, without surrounding blanks.
func lineOf(src string, n int) string {
	all := strings.Split(src, "\n")
	if n < 1 || n > len(all) {
		return ""
	}
	return strings.TrimSpace(all[n-1])
}

// table returns the table that a line belongs to, followed by a dot, or "" for the top level.
func (l Lines) table(line int) string {
	best, at := "", 0
	for key, n := range l.tables {
		if n <= line && n > at {
			best, at = key+".", n
		}
	}
	return best
}

// typeOf returns the type of a key, in which lists may have numbers: list[1].key. It returns nil
// for an unknown key.
func typeOf(t reflect.Type, key string) reflect.Type {
	for part := range strings.SplitSeq(number.ReplaceAllString(key, ""), ".") {
		switch {
		case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
			t = t.Elem()
		case t.Kind() == reflect.Map:
			t = t.Elem()
			continue // its names are chosen by the user
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
		if t = fields(t, "")[part]; t == nil {
			return nil
		}
	}
	return t
}

var number = regexp.MustCompile(`\[\d+\]`)

// instead returns a correction for a value of the wrong kind, or "" if it cannot be guessed.
func instead(t reflect.Type, name, value string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[i+1:]
	}
	if better := guess(t, name, value); better != "" {
		return fmt.Sprintf("; write %s = %s", name, better)
	}
	if m := quantity.FindStringSubmatch(bare(value)); m != nil && m[1] != "" && m[2] != "" && strings.HasSuffix(kind(t), " number") {
		return fmt.Sprintf("; write it without %q, in the unit of %s", m[2], name)
	}
	return ""
}

// Decimal returns "write 19.5" for 19,5 or 19:30, or no text if it is not a number with a decimal comma or
// a time of day.
func Decimal(text string) words.Text {
	if better := guess(reflect.TypeFor[float64](), "", text); better != "" && strings.ContainsAny(text, ",:") {
		return words.T("write {value}", "value", better)
	}
	return words.Text{}
}

// bare returns a value in lower case, without quotes.
func bare(value string) string { return strings.ToLower(strings.Trim(strings.TrimSpace(value), `"'`)) }

// guess returns the value of a key that a person may have meant, in TOML's syntax, or "" if it cannot be
// guessed.
func guess(t reflect.Type, key, value string) string {
	value = strings.TrimSpace(value)
	switch bare := bare(value); kind(t) {
	case "true or false":
		switch bare {
		case "yes", "on", "true", "1", "y":
			return "true"
		case "no", "off", "false", "0", "n":
			return "false"
		}
	case "a number", "a whole number":
		if m := clock.FindStringSubmatch(bare); m != nil {
			hours, _ := strconv.Atoi(m[1])
			minutes, _ := strconv.Atoi(m[2])
			return strconv.FormatFloat(float64(hours)+float64(minutes)/60, 'g', 4, 64)
		}
		m := quantity.FindStringSubmatch(bare)
		if m == nil || thousands.MatchString(m[1]) {
			return ""
		}
		f, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
		f, known := convert(f, m[2], key)
		if err != nil || !known || kind(t) == "a whole number" && f != float64(int64(f)) {
			return ""
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	case "a list":
		if t.Elem().Kind() == reflect.String && bare != "" {
			return fmt.Sprintf("[%q]", strings.Trim(value, `"'`))
		}
	case "a string in quotes":
		if !strings.ContainsAny(value, `"'`) {
			return strconv.Quote(value)
		}
	}
	return ""
}

var (
	// quantity matches a number as people write it, with or without a unit.
	quantity = regexp.MustCompile(`^([-+]?\d*[.,]?\d*)\s*(%|°c|[a-z]+(?:/s)?)?$`)
	// thousands matches a number in which a comma may separate thousands.
	thousands = regexp.MustCompile(`,\d{3}$`)
	clock     = regexp.MustCompile(`^(\d{1,2}):(\d{2})$`)
)

// Units of values, and words in the names of keys that state the key's unit. The sizes of all units with the
// same kind are comparable.
var (
	units = map[string]unit{
		"%": {"percent", 1}, "°c": {"degrees", 1}, "c": {"degrees", 1}, "kb": {"kb", 1}, "mb": {"mb", 1}, "gb": {"gb", 1}, "tb": {"gb", 1024},
		"s": {"time", 1}, "sec": {"time", 1}, "second": {"time", 1}, "seconds": {"time", 1}, "min": {"time", 60}, "minute": {"time", 60}, "minutes": {"time", 60},
		"h": {"time", 3600}, "hour": {"time", 3600}, "hours": {"time", 3600}, "d": {"time", 86400}, "day": {"time", 86400}, "days": {"time", 86400},
	}
	inNames = map[string]unit{
		"pct": {"percent", 1}, "temperature": {"degrees", 1}, "kb": {"kb", 1}, "mb": {"mb", 1}, "gb": {"gb", 1},
		"seconds": {"time", 1}, "minutes": {"time", 60}, "hours": {"time", 3600}, "days": {"time", 86400},
	}
)

type unit struct {
	kind string
	size float64
}

// convert converts a number with a unit, or "", to the unit that a key's name states. ok is false if
// that is not known to be right.
func convert(f float64, from, key string) (_ float64, ok bool) {
	if from == "" {
		return f, true
	}
	for word := range strings.SplitSeq(key, "_") {
		if to, known := inNames[word]; known && to.kind == units[from].kind {
			return f * units[from].size / to.size, true
		}
	}
	return 0, false
}
