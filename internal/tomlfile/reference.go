package tomlfile

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Reference returns a file with every key of v, a struct with the defaults, and with its meaning,
// unit and default, from the field's tags
//
//	about    what it means, in one line
//	unit     of a number
//	example  a value in place of the default; the key is not commented out then
//
// All other keys are commented out, so that the file changes nothing. header is text for its top.
func Reference(header string, v any) string {
	var b strings.Builder
	for line := range strings.Lines(header) {
		b.WriteString("# " + line)
	}
	reference(&b, reflect.ValueOf(v))
	return b.String()
}

func reference(b *strings.Builder, v reflect.Value) {
	var tables []reflect.StructField
	for f := range v.Type().Fields() {
		if key(f) == "-" {
			continue // not in the file
		}
		t := f.Type
		if t.Kind() == reflect.Struct || t.Kind() == reflect.Map || t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
			tables = append(tables, f) // keys after a table's header belong to that table
			continue
		}
		describe(b, f)
		value, comment := literal(v.FieldByIndex(f.Index)), "#"
		if example, ok := f.Tag.Lookup("example"); ok {
			value, comment = strconv.Quote(example), ""
		}
		fmt.Fprintf(b, "%s%s = %s\n", comment, key(f), value)
	}
	for _, f := range tables {
		describe(b, f)
		switch f.Type.Kind() {
		case reflect.Struct:
			fmt.Fprintf(b, "#[%s]\n", key(f))
			reference(b, v.FieldByIndex(f.Index))
		case reflect.Map:
			fmt.Fprintf(b, "#[%s]\n", key(f))
			entries(b, v.FieldByIndex(f.Index))
		default:
			fmt.Fprintf(b, "#[[%s]]\n", key(f))
			reference(b, reflect.Zero(f.Type.Elem()))
		}
	}
}

// entries writes the entries of a table whose names the user chooses.
func entries(b *strings.Builder, v reflect.Value) {
	names := v.MapKeys()
	slices.SortFunc(names, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
	for _, name := range names {
		fmt.Fprintf(b, "#%s = %s\n", name, literal(v.MapIndex(name)))
	}
}

func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	return name
}

func describe(b *strings.Builder, f reflect.StructField) {
	fmt.Fprintf(b, "\n# %s", f.Tag.Get("about"))
	if unit := f.Tag.Get("unit"); unit != "" {
		fmt.Fprintf(b, " (%s)", unit)
	}
	b.WriteString("\n")
}

// literal returns a value in TOML's syntax.
func literal(v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case reflect.Slice:
		words := make([]string, v.Len())
		for i := range words {
			words[i] = literal(v.Index(i))
		}
		return "[" + strings.Join(words, ", ") + "]"
	default:
		return fmt.Sprint(v.Interface())
	}
}
