package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/tomlfile"
)

// Check returns the faults of the values, or nil.
func (s Settings) Check() error { return s.check(tomlfile.Lines{}, tomlfile.Lines{}) }

// TOML returns the lines of a starling.toml for the values of s that differ from each of than, or
// "".
func (s Settings) TOML(than ...Settings) string {
	var b strings.Builder
	e := toml.NewEncoder(&b)
	e.Indent = ""
	_ = e.Encode(s.other(than...)) // into memory, of types that TOML has
	return b.String()
}

func (s Settings) other(than ...Settings) map[string]any {
	var others []reflect.Value
	for _, o := range than {
		others = append(others, reflect.ValueOf(o))
	}
	return other(reflect.ValueOf(s), others)
}

// other returns the fields of a struct that differ from each of several others, by their TOML keys.
func other(v reflect.Value, than []reflect.Value) map[string]any {
	all := make(map[string]any)
	for i := range v.NumField() {
		var fields []reflect.Value
		for _, t := range than {
			fields = append(fields, t.Field(i))
		}
		if x := differing(v.Field(i), fields); x != nil {
			all[v.Type().Field(i).Tag.Get("toml")] = x
		}
	}
	return all
}

// differing returns a value, or of a map its differing entries alone. It returns nil if the value
// equals one of than.
func differing(v reflect.Value, than []reflect.Value) any {
	if v.Kind() == reflect.Map {
		entries := make(map[string]any)
		for _, key := range v.MapKeys() {
			var same bool
			for _, t := range than {
				o := t.MapIndex(key)
				same = same || o.IsValid() && reflect.DeepEqual(v.MapIndex(key).Interface(), o.Interface())
			}
			if !same {
				entries[key.String()] = v.MapIndex(key).Interface()
			}
		}
		if len(entries) == 0 {
			return nil
		}
		return entries
	}
	for _, t := range than {
		if v.Kind() == reflect.Slice && v.Len() == 0 && t.Len() == 0 || reflect.DeepEqual(v.Interface(), t.Interface()) {
			return nil
		}
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct {
		var tables []map[string]any
		for i := range v.Len() {
			tables = append(tables, other(v.Index(i), []reflect.Value{reflect.Zero(v.Type().Elem())}))
		}
		return tables
	}
	return v.Interface()
}

// WriteNew makes a starling.toml with the settings of s that differ from the defaults, below a
// comment of one line. It returns an error that is fs.ErrExist if the file exists, and does not
// write a file that would not be read as s.
func WriteNew(dataDir, comment string, s Settings) error {
	path := filepath.Join(dataDir, File)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := tomlfile.SchemaLine(File) + "# " + comment + "\n" + s.TOML(Default())
	read, err := decodeSettings(Default(), path, []byte(text))
	if err := sameAgain(File, s.other(Default()), read.other(Default()), err); err != nil {
		return err
	}
	return atomicfile.Write(path, []byte(text), 0o600)
}
