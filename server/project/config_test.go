package project_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/project"
)

// A new project's file says all that can be set, with what it means. UPDATE=1 writes
// the one that the test expects.
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
	c.TrustedProxies = c.Proxies() // the file says what holds by default
	if !reflect.DeepEqual(back, c) {
		t.Errorf("what was written is read as\n%+v, want\n%+v", back, c)
	}
}
