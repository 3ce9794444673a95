package project_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/server/project"
)

// A new project's file has all settings with their meaning. UPDATE=1 writes the one that the test
// expects.
func TestText(t *testing.T) {
	const golden = "testdata/server.toml"
	c := project.DefaultConfig()
	c.LongName, c.MasterURL = "Demo", "https://demo.example/"
	got := c.Text()
	if os.Getenv("UPDATE") != "" {
		must(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("got\n%s", got)
	}
	back, err := project.ParseConfig("server.toml", want)
	must(t, err)
	c.TrustedProxies = c.Proxies() // the file contains the defaults
	if !reflect.DeepEqual(back, c) {
		t.Errorf("what was written is read as\n%+v, want\n%+v", back, c)
	}
}

// Each field of Config is in the file and in the schema, with its meaning, and numbers have a range.
func TestEverySettingIsDescribed(t *testing.T) {
	c := project.DefaultConfig()
	c.LongName, c.MasterURL = "Demo", "http://127.0.0.1/"
	text := c.Text()
	var schema struct {
		Properties map[string]struct{ Description string }
	}
	must(t, json.Unmarshal([]byte(project.Schema()), &schema))
	fields := fieldsOf(reflect.TypeFor[project.Config]())
	if n := len(regexp.MustCompile(`(?m)^[^#\n]* = `).FindAllString(text, -1)); n != len(fields) {
		t.Errorf("the file has %d keys, want one for each of %d fields", n, len(fields))
	}
	for key, kind := range fields {
		line := regexp.MustCompile(`(?m)^` + key + ` = .*$`)
		if n := len(line.FindAllString(text, -1)); n != 1 {
			t.Errorf("%s is %d times in the file, want once", key, n)
		}
		if about := schema.Properties[key].Description; !strings.HasSuffix(about, ".") {
			t.Errorf("the meaning of %s is not a sentence: %q", key, about)
		}
		if kind != reflect.Int && kind != reflect.Int64 && kind != reflect.Float64 {
			continue
		}
		if _, err := project.ParseConfig("server.toml", []byte(line.ReplaceAllString(text, key+" = 1"))); err != nil {
			t.Errorf("1 is refused: %v", err)
		}
		for _, n := range []string{"-1", "2000000000"} {
			if _, err := project.ParseConfig("server.toml", []byte(line.ReplaceAllString(text, key+" = "+n))); err == nil {
				t.Errorf("%s takes %s", key, n)
			}
		}
	}
}

// fieldsOf returns the kinds of a struct's fields by their keys, except plan classes.
func fieldsOf(t reflect.Type) map[string]reflect.Kind {
	kinds := make(map[string]reflect.Kind)
	for f := range t.Fields() {
		switch key := f.Tag.Get("toml"); {
		case f.Anonymous:
			maps.Copy(kinds, fieldsOf(f.Type))
		case key != "-" && key != "plan_class":
			kinds[key] = f.Type.Kind()
		}
	}
	return kinds
}

// A file of an older version may have keys that no longer have an effect.
func TestRetiredKeys(t *testing.T) {
	c, err := project.ParseConfig("server.toml", []byte(`long_name = "Demo"
master_url = "http://127.0.0.1/"
min_transfer_rate = 500
max_request_mb = "much"
`))
	if err != nil || len(c.Retired) != 2 || !strings.HasPrefix(c.Retired[0], "max_request_mb: ") || !strings.HasPrefix(c.Retired[1], "min_transfer_rate: ") {
		t.Errorf("got %+v, %v", c.Retired, err)
	}
}

// Characters that TOML writes differently from Go are read as they were written.
func TestTextIsTOML(t *testing.T) {
	c := project.DefaultConfig()
	c.LongName, c.MasterURL = "a\x01\a\v\x7f\n\"\\é\u200b", "http://127.0.0.1/"
	back, err := project.ParseConfig("server.toml", []byte(c.Text()))
	if err != nil || back.LongName != c.LongName {
		t.Errorf("got %q, %v; want %q", back.LongName, err, c.LongName)
	}
}

var must = testerr.Must
