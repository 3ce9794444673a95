package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/sim"
)

// printed is the output of each command with --json.
var printed = map[string]any{
	"doctor":         doctorJSON{},
	"export":         exportJSON{},
	"history":        historyJSON{},
	"import":         importJSON{},
	"log":            control.Message{}, // one on each line
	"manager status": managerJSON{},
	"notices":        noticesJSON{},
	"prefs show":     prefsJSON{},
	"projects":       statusJSON{},
	"remote list":    pairedJSON{},
	"remote pair":    invitationJSON{},
	"simulate":       sim.Figures{}, // one for each scenario
	"status":         statusJSON{},
	"tasks":          statusJSON{},
	"transfers":      statusJSON{},
	"why":            explanation{},
}

// TestJSONOfAllCommands checks that it has every command with --json, and that their output has
// times as RFC 3339, durations in seconds by the names of their keys, and a version.
func TestJSONOfAllCommands(t *testing.T) {
	var all []string
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Flags().Lookup("json") != nil {
			all = append(all, strings.TrimPrefix(c.CommandPath(), "starling "))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(commands(&options{}))
	for _, name := range all {
		v, known := printed[name]
		if !known {
			t.Errorf("starling %s --json is not known here", name)
			continue
		}
		form := reflect.TypeOf(v)
		checkForm(t, name, form, nil)
		_, version := form.FieldByName("Version")
		_, format := form.FieldByName("Format")
		if !version && !format && name != "log" && name != "simulate" {
			t.Errorf("starling %s --json has no version", name)
		}
	}
	if len(all) != len(printed) {
		t.Errorf("%d commands have --json: %s; known here are %d", len(all), strings.Join(all, ", "), len(printed))
	}
	checkForm(t, "history --timeline", reflect.TypeFor[timelineJSON](), nil)
}

var jsonKey = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkForm looks at all that a value of a type can contain.
func checkForm(t *testing.T, at string, form reflect.Type, above []reflect.Type) {
	t.Helper()
	if slices.Contains(above, form) {
		return
	}
	above = append(above, form)
	switch {
	case form == reflect.TypeFor[time.Time](), form == reflect.TypeFor[words.Text]():
		return
	case form == reflect.TypeFor[time.Duration]():
		t.Errorf("%s is a number of nanoseconds", at)
		return
	case form.Implements(reflect.TypeFor[json.Marshaler]()) && !form.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		t.Errorf("%s, a %s, has a form of its own, which is not seen here", at, form)
		return
	}
	switch form.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		checkForm(t, at, form.Elem(), above)
	case reflect.Interface:
		if form := at; !strings.HasSuffix(form, ".value") && !strings.HasSuffix(form, ".default") { // of a preference: in its unit
			t.Errorf("%s can be anything", at)
		}
	case reflect.Struct:
		for f := range form.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				checkForm(t, at, f.Type, above)
			case !f.IsExported() || name == "-":
			case !jsonKey.MatchString(name):
				t.Errorf("%s: the key of %s is %q", at, f.Name, name)
			default:
				checkForm(t, at+"."+name, f.Type, above)
			}
		}
	}
}

// TestJSONAsPrinted checks that the output of commands matches the data.
func TestJSONAsPrinted(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "accounts"), 0o700))
	account := "master_url = \"http://127.0.0.1:9/\"\nauthenticator = \"0123456789abcdef0123456789abcdef\"\n"
	must(t, os.WriteFile(filepath.Join(dir, "accounts", "p.toml"), []byte(account), 0o600))
	for name, form := range printed {
		switch name {
		case "import", "export", "log", "remote pair", "remote list", "simulate": // they want more than a folder
			continue
		}
		var out bytes.Buffer
		cmd := commands(&options{})
		cmd.SetArgs(append(strings.Fields(name), "--json", "--data", dir))
		cmd.SetOut(&out)
		cmd.SetErr(&out)
		if err := cmd.ExecuteContext(t.Context()); err != nil && name != "doctor" { // which finds that no agent runs
			t.Errorf("starling %s --json: %v", name, err)
			continue
		}
		_, text, _ := strings.Cut(out.String(), "{") // a note may stand before
		d := json.NewDecoder(strings.NewReader("{" + text))
		d.DisallowUnknownFields()
		if err := d.Decode(reflect.New(reflect.TypeOf(form)).Interface()); err != nil {
			t.Errorf("starling %s --json: %v in\n%s", name, err, out.String())
		}
	}
}
