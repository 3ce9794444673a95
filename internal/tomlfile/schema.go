package tomlfile

import (
	"encoding/json"
	"reflect"
	"strings"
)

// SchemaLine returns the first line of a file, with which editors find the schema of that kind of
// file.
func SchemaLine(kind string) string { return "#:schema " + schemaURL(kind) + "\n" }

// schemaURL returns the public address of the schema of a kind of file.
func schemaURL(kind string) string {
	return "https://raw.githubusercontent.com/starling-grid/starling/main/schema/" + kind + ".json"
}

// A Schema is a JSON Schema, draft 7, the version that TOML editors support.
type Schema map[string]any

// SchemaOf returns the schema of the files that Decode reads into a struct such as v, whose fields
// have the tags of Reference and
//
//	enum  the values that a string can have, divided by commas
//
// v has the defaults. A field with an example is required.
func SchemaOf(v any) Schema { return table(reflect.ValueOf(v)) }

// Text returns the schema as a file.
func (s Schema) Text(kind, title string) string {
	s["$schema"], s["$id"], s["title"] = "http://json-schema.org/draft-07/schema#", schemaURL(kind), title
	b, err := json.MarshalIndent(s, "", "\t")
	if err != nil {
		panic(err) // it is made of strings, numbers, lists and maps
	}
	return string(b) + "\n"
}

// Key returns the schema of a key, dotted in tables. The key must exist.
func (s Schema) Key(key string) Schema {
	for name := range strings.SplitSeq(key, ".") {
		s = s["properties"].(Schema)[name].(Schema)
	}
	return s
}

func table(v reflect.Value) Schema {
	properties := make(Schema)
	var required []string
	addKeys(v, properties, &required)
	s := Schema{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// addKeys adds the keys of a struct.
func addKeys(v reflect.Value, properties Schema, required *[]string) {
	for f := range v.Type().Fields() {
		name, field := key(f), v.FieldByIndex(f.Index)
		if name == "" && f.Anonymous {
			addKeys(field, properties, required)
		}
		if name == "" || name == "-" {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = reflect.Zero(field.Type().Elem())
		}
		s := schemaOf(field)
		about := f.Tag.Get("about")
		if unit := f.Tag.Get("unit"); unit != "" {
			about += " (" + unit + ")"
		}
		if about != "" {
			s["description"] = about
		}
		if enum, ok := f.Tag.Lookup("enum"); ok {
			s["enum"] = strings.Split(enum, ",")
		}
		if _, ok := f.Tag.Lookup("example"); ok {
			*required = append(*required, name)
			delete(s, "default")
		}
		properties[name] = s
	}
}

// schemaOf returns the schema of a value, which is the default.
func schemaOf(v reflect.Value) Schema {
	switch v.Kind() {
	case reflect.Struct:
		return table(v)
	case reflect.Map:
		s := Schema{"type": "object", "additionalProperties": schemaOf(reflect.Zero(v.Type().Elem()))}
		if v.Type().Elem().Kind() == reflect.Bool { // predefined names
			known := make(Schema)
			for name, value := range v.Seq2() {
				known[name.String()] = Schema{"type": "boolean", "default": value.Bool()}
			}
			s["properties"] = known
		}
		return s
	case reflect.Slice:
		item := schemaOf(reflect.Zero(v.Type().Elem()))
		delete(item, "default")
		s := Schema{"type": "array", "items": item}
		if v.Type().Elem().Kind() != reflect.Struct && v.Len() > 0 {
			s["default"] = v.Interface()
		}
		return s
	case reflect.Bool:
		return Schema{"type": "boolean", "default": v.Bool()}
	case reflect.String:
		return Schema{"type": "string", "default": v.String()}
	case reflect.Float64:
		return Schema{"type": "number", "default": v.Float()}
	default:
		return Schema{"type": "integer", "default": v.Int()}
	}
}
