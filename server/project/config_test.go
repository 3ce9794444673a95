package project_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

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
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("got\n%s", got)
	}
	back, err := project.ParseConfig("server.toml", want)
	if err != nil {
		t.Fatal(err)
	}
	c.TrustedProxies = c.Proxies() // the file contains the defaults
	if !reflect.DeepEqual(back, c) {
		t.Errorf("what was written is read as\n%+v, want\n%+v", back, c)
	}
}

// Each field of Config is a setting, and one that is a number takes some.
func TestEverySettingIsListed(t *testing.T) {
	c := project.DefaultConfig()
	c.LongName, c.MasterURL = "Demo", "http://127.0.0.1/"
	text := c.Text()
	for f := range reflect.TypeFor[project.Config]().Fields() {
		key := f.Tag.Get("toml")
		if key == "plan_class" {
			continue
		}
		line := regexp.MustCompile(`(?m)^` + key + ` = .*$`)
		if n := len(line.FindAllString(text, -1)); n != 1 {
			t.Errorf("%s stands %d times in the file, want once", key, n)
		}
		if k := f.Type.Kind(); k != reflect.Int && k != reflect.Float64 {
			continue
		}
		if _, err := project.ParseConfig("server.toml", []byte(line.ReplaceAllString(text, key+" = 1"))); err != nil {
			t.Errorf("1 is refused: %v", err)
		}
		if _, err := project.ParseConfig("server.toml", []byte(line.ReplaceAllString(text, key+" = 10000000"))); err == nil {
			t.Errorf("%s takes ten millions", key)
		}
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
