package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/agent/settings"
)

// uncommented has every key of a reference set.
func uncommented(text string) string {
	return regexp.MustCompile(`(?m)^#(\w+ = |\[)`).ReplaceAllString(text, "$1")
}

// documented checks that a reference describes every key of a struct.
func documented(t *testing.T, text string, typ reflect.Type) {
	t.Helper()
	for f := range typ.Fields() {
		key, about := f.Tag.Get("toml"), f.Tag.Get("about")
		if key == "-" {
			continue
		}
		if about == "" {
			t.Errorf("%s: nothing says what it means", key)
		}
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^# %s( \(.*\))?\n#?(%s = |\[+%s\]+$)`, regexp.QuoteMeta(about), key, key)).MatchString(text) {
			t.Errorf("%s is not in the reference", key)
		}
		switch {
		case f.Type.Kind() == reflect.Struct:
			documented(t, text, f.Type)
		case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
			documented(t, text, f.Type.Elem())
		}
	}
}

func TestReference(t *testing.T) {
	text := settings.Reference()
	documented(t, text, reflect.TypeFor[settings.Settings]())
	want := settings.Default()
	// A coprocessor and a number have keys that have to be filled in.
	named := strings.NewReplacer(`type = ""`, `type = "x"`, "count = 0", "count = 1", "\nname = \"\"", "\nname = \"x\"", `file = ""`, `file = "x"`, "command = []\n", "").Replace(uncommented(text))
	for src, coprocs := range map[string][]settings.Coproc{text: nil, named: {{Type: "x", Count: 1, Devices: []int{}}}} {
		if want.Coprocs, want.IgnoreGPUs, want.Powers = coprocs, nil, nil; coprocs != nil {
			want.Powers = []settings.Power{{Name: "x", File: "x"}}
			want.IgnoreGPUs = []settings.IgnoreGPU{{Type: "x", Devices: []int{}}} // the replacer's x
		}
		s, err := settings.Load(dir(t, map[string]string{settings.File: src}))
		if fmt.Sprintf("%+v", s) != fmt.Sprintf("%+v", want) || err != nil {
			t.Errorf("got %+v, %v\nwant %+v from\n%s", s, err, want, src)
		}
	}
}

func TestAccountReference(t *testing.T) {
	text := settings.AccountReference()
	documented(t, text, reflect.TypeFor[settings.Account]())
	want := settings.DefaultAccount()
	want.MasterURL, want.Authenticator = "https://project.example/", key
	named := strings.Replace(uncommented(text), `name = ""`, `name = "a"`, 1) // the one key that has to be filled in
	for src, apps := range map[string][]settings.App{text: nil, named: {{Name: "a"}}} {
		if want.Apps, want.ExcludeGPUs = apps, nil; apps != nil {
			want.ExcludeGPUs = []settings.ExcludeGPU{{Devices: []int{}}}
		}
		d := dir(t, map[string]string{"accounts/p.toml": src})
		good, _, err := settings.LoadAccounts(d)
		if err != nil || len(good) != 1 || !reflect.DeepEqual(good[0], want) {
			t.Errorf("got %+v, %v\nwant %+v from\n%s", good, err, want, src)
		}
		if b, err := os.ReadFile(filepath.Join(d, "accounts/p.toml")); err != nil || string(b) != src {
			t.Errorf("%v", err)
		}
	}
}

// A reference holds nothing that its file cannot.
func TestReferencesAreTOML(t *testing.T) {
	for name, text := range map[string]string{"starling.toml": settings.Reference(), "account.toml": settings.AccountReference()} {
		uncommented := regexp.MustCompile(`(?m)^#(\[|[a-z_]+ = )`).ReplaceAllString(text, "$1")
		var v map[string]any
		if _, err := toml.Decode(uncommented, &v); err != nil || strings.Contains(text, "nil") {
			t.Errorf("%s: %v:\n%s", name, err, uncommented)
		}
	}
}
