// Package tomlfile reads TOML files that people write, strictly. An unknown key or a value of the
// wrong kind is an error with the file, the line, the key and the nearest valid name, and all such
// errors are reported at once. It does not define any settings. Packages that do check their values
// with Lines.Errorf.
package tomlfile

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/internal/nearest"
	"github.com/starling-grid/starling/internal/words"
)

// Lines contains the line of each key in a file. Decode returns it for checks of values that only
// the caller can make.
type Lines struct {
	name   string
	lines  map[string]int
	tables map[string]int // of the keys in lines, those that are headers of tables
}

// Errorf returns an error about the value of key (dotted, as in "a.b"), starting with file and
// line. Floats among args are written as people type them.
func (l Lines) Errorf(key, format string, args ...any) error {
	for i, v := range args {
		if f, ok := v.(float64); ok {
			args[i] = words.Float(f)
		}
	}
	return fmt.Errorf("%s%s: %s", l.at(key), key, fmt.Sprintf(format, args...))
}

// Fault is Errorf with a text that can be translated.
func (l Lines) Fault(key string, fault words.Text) error {
	return words.Refuse(words.And(words.Plain(l.at(key)+key+":"), fault))
}

// Unknown returns an error about a key in a table whose names the user chooses, but in which only
// these names have a meaning.
func (l Lines) Unknown(key string, names []string) error {
	table, name := "", key
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		table, name = key[:i+1], key[i+1:]
	}
	return l.unknown(table+name, hint(name, names))
}

func (l Lines) unknown(key string, hint words.Text) error {
	if !hint.Is() {
		return l.Fault(key, words.T("unknown key"))
	}
	return l.Fault(key, words.T("unknown key, {hint}", "hint", hint))
}

// homes has the names of files by the keys that they have outside of tables.
var homes = make(map[string]string)

// Home declares that files called name are decoded into structs like keys. Keys of one such file are
// recognized in others. It must be called before any file is decoded.
func Home(name string, keys any) {
	for key := range fields(reflect.TypeOf(keys), "") {
		homes[key] = name
	}
}

// hint names the file that has key, or the known key that is most similar, if any is close.
func hint(key string, known []string) words.Text {
	if file := homes[key]; file != "" {
		return words.T("it belongs in {file}", "file", file)
	}
	if best := nearest.Word(key, known); best != "" {
		return words.T("did you mean {key}?", "key", best)
	}
	return words.Text{}
}

// Has reports whether the file sets key.
func (l Lines) Has(key string) bool { return l.lines[key] > 0 }

func (l Lines) at(key string) string {
	if n := l.lines[key]; n > 0 {
		return fmt.Sprintf("%s:%d: ", l.name, n)
	}
	if l.name == "" {
		return "" // not from a file
	}
	return l.name + ": "
}

// Decode reads src into the struct that into points to, whose fields have `toml` tags. name is the
// file's name, for messages. The error joins all errors about keys and kinds of values. If all
// errors are about keys, the other keys are set anyway, so that their values can be checked, too.
// Otherwise nothing is set. retired are keys outside of tables that may have any value and are
// ignored.
func Decode(name string, src []byte, into any, retired ...string) (Lines, error) {
	lines := Lines{name: name}
	lines.lines, lines.tables = keyLines(string(src))
	var raw map[string]any
	if _, err := toml.Decode(string(src), &raw); err != nil {
		if pe, ok := errors.AsType[toml.ParseError](err); ok {
			return lines, syntax(lines, reflect.TypeOf(into).Elem(), src, pe)
		}
		return lines, fmt.Errorf("%s: %w", name, err)
	}
	for _, key := range retired {
		delete(raw, key)
	}
	var errs []error
	if check(&errs, lines, reflect.TypeOf(into).Elem(), raw, "") {
		if _, err := toml.Decode(string(src), into); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return lines, errors.Join(errs...)
}

// check compares the content of a table in the file with the struct type t, and reports whether all
// values are of the right kind.
func check(errs *[]error, lines Lines, t reflect.Type, table map[string]any, prefix string) (fit bool) {
	fit = true
	known := fields(t, prefix)
	keys := make([]string, 0, len(table))
	for k := range table {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		return lines.lines[prefix+keys[i]] < lines.lines[prefix+keys[j]]
	})
	for _, k := range keys {
		key, v := prefix+k, table[k]
		typ, ok := known[key]
		if !ok {
			*errs = append(*errs, lines.unknown(key, hint(key, slices.Collect(maps.Keys(known)))))
			continue
		}
		fit = checkValue(errs, lines, typ, v, key) && fit
	}
	return fit
}

func checkValue(errs *[]error, lines Lines, t reflect.Type, v any, key string) (fit bool) {
	want := kind(t)
	switch {
	case t.Kind() == reflect.Struct:
		if sub, ok := v.(map[string]any); ok {
			return check(errs, lines, t, sub, key+".")
		}
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Bool: // names chosen by the user
		if table, ok := v.(map[string]any); ok {
			fit = true
			for _, name := range slices.Sorted(maps.Keys(table)) {
				fit = checkValue(errs, lines, t.Elem(), table[name], key+"."+name) && fit
			}
			return fit
		}
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct: // tables with names chosen by the user
		if tables, ok := v.(map[string]any); ok {
			fit = true
			for _, name := range slices.Sorted(maps.Keys(tables)) {
				fit = checkValue(errs, lines, t.Elem(), tables[name], key+"."+name) && fit
			}
			return fit
		}
		want = "tables: [" + key + ".NAME]"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		if list, ok := v.([]map[string]any); ok {
			fit = true
			for i, sub := range list {
				fit = check(errs, lines, t.Elem(), sub, fmt.Sprintf("%s[%d].", key, i)) && fit
			}
			return fit
		}
		if list, ok := v.([]any); ok && len(list) == 0 { // written as key = []
			return true
		}
		want = "a list of tables: [[" + key + "]]"
	case fits(want, v):
		return true
	}
	cure := ""
	switch v.(type) {
	case bool, int64, float64, string, time.Time:
		cure = instead(t, key, show(v))
	}
	if secret(t) {
		*errs = append(*errs, lines.Errorf(key, "must be %s", want))
	} else {
		*errs = append(*errs, lines.Errorf(key, "%s is not %s%s", show(v), want, cure))
	}
	return false
}

// fields returns the keys of a struct, with dots in nested ones.
func fields(t reflect.Type, prefix string) map[string]reflect.Type {
	m := make(map[string]reflect.Type)
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "" && f.Anonymous {
			maps.Copy(m, fields(f.Type, prefix))
		}
		if name == "" || name == "-" {
			continue
		}
		ft := f.Type
		if ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		m[prefix+name] = ft
		if kind(ft) == "a table" && ft.Kind() == reflect.Struct {
			maps.Copy(m, fields(ft, prefix+name+"."))
		}
	}
	return m
}

// secret reports whether values of a type must not be shown, because they hide themselves from
// logs.
func secret(t reflect.Type) bool { return t.Implements(reflect.TypeFor[slog.LogValuer]()) }

func kind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string in quotes"
	case reflect.Slice:
		return "a list"
	default:
		return "a table"
	}
}

func fits(want string, v any) bool {
	switch v.(type) {
	case bool:
		return want == "true or false"
	case int64:
		return want == "a whole number" || want == "a number"
	case float64:
		return want == "a number"
	case string:
		return want == "a string in quotes"
	case []any:
		return want == "a list"
	case map[string]any:
		return want == "a table"
	}
	return false
}

func show(v any) string {
	if t, ok := v.(time.Time); ok { // in TOML, 12:30 is a time of day
		return t.Format("15:04")
	}
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%.60q", v)
	case map[string]any:
		return "a table"
	}
	return fmt.Sprint(v)
}

// keyLines returns the line on which each key is set. In a list of tables each has a number, from
// 0: list[1].key. The result is only for messages. The parser decides the meaning of the file.
func keyLines(src string) (lines, tables map[string]int) {
	lines, tables = make(map[string]int), make(map[string]int)
	count := make(map[string]int) // number of tables seen in each list
	table := ""
	for i, line := range strings.Split(src, "\n") {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			name, isList := strings.CutPrefix(name, "[")
			name, _, _ = strings.Cut(name, "]")
			parts := strings.Split(plainKey(name), ".")
			path := ""
			for n, part := range parts {
				path += part
				if isList && n == len(parts)-1 {
					count[path]++
					if lines[path] == 0 {
						lines[path] = i + 1
					}
				}
				if k := count[path]; k > 0 {
					path += fmt.Sprintf("[%d]", k-1)
				}
				path += "."
			}
			path = strings.TrimSuffix(path, ".")
			if lines[path] == 0 {
				lines[path] = i + 1
			}
			tables[path] = i + 1
			table = path + "."
			continue
		}
		key, _, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if key = table + plainKey(key); lines[key] == 0 {
			lines[key] = i + 1
		}
	}
	return lines, tables
}

// plainKey removes blanks and quotes around the parts of a dotted key.
func plainKey(key string) string {
	parts := strings.Split(strings.TrimSpace(key), ".")
	for i, p := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(p), `"'`)
	}
	return strings.Join(parts, ".")
}
