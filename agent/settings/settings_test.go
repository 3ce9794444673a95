package settings_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

const key = "0123456789abcdef0123456789abcdef"

// dir makes a data directory with the given files. In expected errors, DIR is its path.
func dir(t *testing.T, files map[string]string) string {
	t.Helper()
	d := filepath.Join(t.TempDir(), "data [1]") // no pattern
	for name, text := range files {
		path := filepath.Join(d, filepath.FromSlash(name))
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
	}
	return d
}

// told checks an error's text, in which DIR is the path of the data directory.
func told(t *testing.T, d string, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = filepath.ToSlash(strings.ReplaceAll(err.Error(), d+string(filepath.Separator), "DIR/"))
	}
	if got != want {
		t.Errorf("got error\n%s\nwant\n%s", got, want)
	}
}

func TestLoad(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"all keys", `
log_level = "debug"
ncpus = 3
allow_multiple_clients = true
report_results_immediately = true
max_file_xfers = 4
max_file_xfers_per_project = 1
device_name = "d"
pass_environment = ["A"]
max_processes = 4`, ""},
		{"unknown keys", "ncpu = 3\n\n[log_level]\nx = 1\n", "DIR/starling.toml:1: ncpu: unknown key, did you mean ncpus?\n" +
			"DIR/starling.toml:3: log_level: a table is not a string in quotes"},
		{"wrong kinds", "ncpus = \"all\"\nallow_multiple_clients = 1", "DIR/starling.toml:1: ncpus: \"all\" is not a whole number\n" +
			"DIR/starling.toml:2: allow_multiple_clients: 1 is not true or false; write allow_multiple_clients = true"},
		{"log flags", "[log_flags]\ncpu_sched = true\ncpu_schd = true", "DIR/starling.toml:3: log_flags.cpu_schd: unknown key, did you mean cpu_sched?"},
		{"log flag of the wrong kind", "[log_flags]\ntask = 1", "DIR/starling.toml:2: log_flags.task: 1 is not true or false; write task = true"},
		{"bad processes", "max_processes = 1", "DIR/starling.toml:1: max_processes: 1 is too few, because wrappers need some themselves; use 4 or more"},
		{"bad values", "max_file_xfers_per_project = 0\nmax_file_xfers = 101\nncpus = -1\nlog_level = \"loud\"", "DIR/starling.toml:4: log_level: \"loud\" is not one of debug, info, warn, error\n" +
			"DIR/starling.toml:3: ncpus: -1 is negative; use 0 for the actual number\n" +
			"DIR/starling.toml:2: max_file_xfers: 101 is not between 1 and 100\n" +
			"DIR/starling.toml:1: max_file_xfers_per_project: 0 is not between 1 and 100"},
		{"empty names", "exclusive_apps = [\"\"]\nexclusive_gpu_apps = [\"doom\", \"\"]", "DIR/starling.toml:1: exclusive_apps: a name is empty; for no programs use []\n" +
			"DIR/starling.toml:2: exclusive_gpu_apps: a name is empty; for no programs use []"},
		{"no TOML", "log_level = \"info\"\nncpus 3\n", "DIR/starling.toml:2: ncpus: there is no = between key and value; write ncpus = VALUE"},
		{"twice", "ncpus = 1\nncpus = 2\n", "DIR/starling.toml:2: ncpus: set twice; delete one of the lines"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := dir(t, map[string]string{settings.File: tt.text})
			_, err := settings.Load(d)
			told(t, d, err, tt.want)
		})
	}
	s, err := settings.Load(t.TempDir())
	if err != nil || !reflect.DeepEqual(s, settings.Default()) {
		t.Errorf("no file: got %+v, %v", s, err)
	}
	if _, err := settings.Load(dir(t, map[string]string{settings.File + "/x": ""})); err == nil {
		t.Error("a folder in place of the file was no error")
	}
}

func account(more ...string) string {
	return strings.Join(append([]string{`master_url = "http://a.example"`, `authenticator = "` + key + `"`}, more...), "\n")
}

func TestBadAccountsDoNotStopTheOthers(t *testing.T) {
	d := dir(t, map[string]string{
		"accounts/a.toml":           account("resource_share = 0", "no_more_work = true"),
		"accounts/again.toml":       strings.Replace(account(), "http://a.example", "HTTPS://A.example//", 1),
		"accounts/b.toml":           strings.Replace(account(), "a.example", "b.example", 1),
		"accounts/bad_key.toml":     strings.Replace(account(), key, "two words", 1),
		"accounts/bad_share.toml":   account("", "resource_share = -1"),
		"accounts/bad_url.toml":     strings.Replace(account(), "a.example", "localhost:8080", 1),
		"accounts/empty.toml":       "",
		"accounts/misspelt.toml":    account("resource_shar = 1"),
		"accounts/nan.toml":         account("resource_share = nan"),
		"accounts/quotes.toml":      strings.Replace(account(), `"`+key+`"`, key, 1),
		"accounts/.hidden.toml":     "x",
		"accounts/b.toml.bak":       "x",
		"accounts/folder.d/c.toml":  "x",
		"projects/p_example/c.toml": "x",
	})
	good, bad, err := settings.LoadAccounts(d)
	want := []settings.Account{
		{MasterURL: "http://a.example/", Authenticator: key, NoMoreWork: true},
		{MasterURL: "http://b.example/", Authenticator: key, ResourceShare: 100},
	}
	if !reflect.DeepEqual(good, want) {
		t.Errorf("got %+v, want %+v", good, want)
	}
	if len(bad) != 8 || filepath.Base(bad[0]) != "again.toml" {
		t.Errorf("bad files %q", bad)
	}
	const site = "not an account key; copy the one from the project's web site"
	const noDot = "the host needs a dot for BOINC's clients (127.0.0.1 rather than localhost)"
	told(t, d, err, strings.Join([]string{
		"DIR/accounts/again.toml: https://a.example/ already has the account file DIR/accounts/a.toml",
		"DIR/accounts/bad_key.toml:2: authenticator: " + site,
		"DIR/accounts/bad_share.toml:4: resource_share: -1 is not between 0 and 1000000",
		`DIR/accounts/bad_url.toml:1: master_url: master URL "http://localhost:8080": ` + noDot,
		`DIR/accounts/empty.toml: master_url: missing; add the project's URL: master_url = "https://…"`,
		"DIR/accounts/empty.toml: authenticator: missing; copy the account key from the project's web site, or delete this file and run starling attach",
		"DIR/accounts/misspelt.toml:3: resource_shar: unknown key, did you mean resource_share?",
		"DIR/accounts/nan.toml:3: resource_share: NaN is not between 0 and 1000000",
		"DIR/accounts/quotes.toml:2: authenticator: must be a string in quotes",
	}, "\n"))
	if strings.Contains(err.Error(), key) {
		t.Error("the account key is in the error")
	}
}

func TestFolderThatCannotBeRead(t *testing.T) {
	good, bad, err := settings.LoadAccounts(dir(t, nil))
	if len(good)+len(bad) > 0 || err != nil {
		t.Errorf("no folder: got %v, %v, %v", good, bad, err)
	}
	_, bad, err = settings.LoadAccounts(dir(t, map[string]string{"accounts": "a file"}))
	if len(bad) != 1 || err == nil {
		t.Errorf("unreadable: got %v, %v; it must not look like no account", bad, err)
	}
}

func TestWriteAndRemoveAccount(t *testing.T) {
	d := dir(t, nil)
	a := settings.Account{MasterURL: "http://a.example/p/", Authenticator: key, ResourceShare: 1e6, NoMoreWork: true}
	must(t, settings.WriteAccount(d, a))
	path := settings.AccountPath(d, a.MasterURL)
	st, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 { // there its folder protects it
		t.Errorf("got %v, %v; want mode 0600", st, err)
	}
	good, _, err := settings.LoadAccounts(d)
	if err != nil || !reflect.DeepEqual(good, []settings.Account{a}) {
		t.Errorf("got %+v, %v; want %+v", good, err, a)
	}
	for _, u := range []string{a.MasterURL, "https://a.example/p/"} { // they share a folder
		b := a
		b.MasterURL = u
		if err := settings.WriteAccount(d, b); !errors.Is(err, settings.ErrAttached) {
			t.Errorf("%s again: got %v, want ErrAttached", u, err)
		}
	}
	must(t, os.Rename(path, filepath.Join(filepath.Dir(path), "mine.toml")))
	if err := settings.WriteAccount(d, a); !errors.Is(err, settings.ErrAttached) || !strings.Contains(err.Error(), "mine.toml") {
		t.Errorf("file with another name: got %v, want ErrAttached", err)
	}
	if err := settings.RemoveAccount(d, "http://b.example/"); err == nil || err.Error() != "http://b.example/: not attached" {
		t.Errorf("got %v", err)
	}
	if err := settings.RemoveAccount(d, a.MasterURL); err != nil {
		t.Error(err)
	}
	if good, _, err := settings.LoadAccounts(d); len(good) > 0 || err != nil {
		t.Errorf("after removal: %v, %v", good, err)
	}
	if err := settings.RemoveAccount(d, a.MasterURL); err == nil {
		t.Error("removed twice")
	}
}

func TestKeysThatAreNone(t *testing.T) {
	for _, bad := range []protocol.Authenticator{"", "two words", "a\nb", "<x>", `"`, "tab\t", "schlüssel", "\x01"} {
		d := dir(t, nil)
		err := settings.WriteAccount(d, settings.Account{MasterURL: "http://a.example/", Authenticator: bad, ResourceShare: 100})
		if err == nil || bad != "" && strings.Contains(err.Error(), string(bad)) {
			t.Errorf("%q: got %v", string(bad), err)
		}
		if _, err := os.Stat(d); err == nil {
			t.Errorf("%q: something was written", string(bad))
		}
	}
}

// Changes by tools are stored next to the account file. They override it and do not change it.
func TestOverride(t *testing.T) {
	d := dir(t, map[string]string{"accounts/a.toml": account()})
	if err := settings.ChangeAccount(d, "http://p.example/", func(o *settings.Override) {}); err == nil {
		t.Error("an account that is not there was changed")
	}
	good, _, err := settings.LoadAccounts(d)
	if err != nil || len(good) != 1 {
		t.Fatal(good, err)
	}
	u, before := good[0].MasterURL, read(t, filepath.Join(d, "accounts/a.toml"))
	yes, share := true, 7.5
	for _, change := range []func(*settings.Override){
		func(o *settings.Override) { o.Suspended = &yes },
		func(o *settings.Override) { o.ResourceShare = &share },
	} {
		must(t, settings.ChangeAccount(d, u, change))
	}
	good, bad, err := settings.LoadAccounts(d)
	if err != nil || len(good) != 1 || len(bad) != 0 || !good[0].Suspended || good[0].ResourceShare != 7.5 || good[0].NoMoreWork {
		t.Errorf("got %+v, %v, %v", good, bad, err)
	}
	if read(t, filepath.Join(d, "accounts/a.toml")) != before {
		t.Error("the volunteer's file was rewritten")
	}
	must(t, settings.RemoveAccount(d, u))
	if left, err := os.ReadDir(filepath.Join(d, "accounts")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestPrefsOverride(t *testing.T) {
	d := t.TempDir()
	l := prefs.Layer{Values: map[string]float64{"max_ncpus_pct": 50, "run_on_batteries": 1}, Days: map[time.Weekday]prefs.Day{time.Monday: {StartHour: 8, EndHour: 17.5}}}
	must(t, settings.WritePrefsOverride(d, l))
	got, err := prefs.Parse("x", []byte(read(t, filepath.Join(d, settings.PrefsOverrideFile))), "")
	if err != nil || !reflect.DeepEqual(got.Values, l.Values) || !reflect.DeepEqual(got.Days, l.Days) {
		t.Errorf("got %+v, %v", got, err)
	}
	for range 2 {
		must(t, settings.WritePrefsOverride(d, prefs.Layer{}))
	}
	if _, err := os.Stat(filepath.Join(d, settings.PrefsOverrideFile)); err == nil {
		t.Error("an empty override leaves a file")
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

// A key that another file has is recognized.
func TestKeysInTheWrongFile(t *testing.T) {
	_, err := prefs.Parse("prefs.toml", []byte("exclusive_apps = [\"game\"]\nresource_share = 50\n"), "")
	for _, want := range []string{"exclusive_apps: unknown key, it belongs in starling.toml", "resource_share: unknown key, it belongs in a project's account file"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := settings.Load(dir(t, map[string]string{"starling.toml": "run_on_batteries = true\n"})); err == nil || !strings.Contains(err.Error(), "it belongs in prefs.toml") {
		t.Errorf("got %v", err)
	}
}

var must = testerr.Must

// TestChangedScheme changes the address of an attached project from http to https. Both would have one folder, so
// the old address stays in effect until the project is detached. Then the new one counts.
func TestChangedScheme(t *testing.T) {
	const old, next = "http://a.example/p/", "https://a.example/p/"
	d := dir(t, nil)
	a := settings.Account{MasterURL: old, Authenticator: key, ResourceShare: 100}
	must(t, settings.WriteAccount(d, a))
	inForce := func() (string, error) {
		accounts, err := settings.ReadAccounts(d)
		must(t, accounts.Keep(d))
		return strings.Join(slices.Sorted(maps.Keys(accounts.InForce)), " "), err
	}
	if got, err := inForce(); got != old || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	path := settings.AccountPath(d, old)
	must(t, os.WriteFile(path, []byte(strings.ReplaceAll(read(t, path), old, next)), 0o600))
	for range 2 {
		if got, err := inForce(); got != old || err == nil || !strings.Contains(err.Error(), "starling detach "+old) {
			t.Errorf("with the new address: %q, %v", got, err)
		}
	}
	must(t, settings.RemoveAccount(d, old))
	if got, err := inForce(); got != next || err != nil {
		t.Errorf("after the detach: %q, %v", got, err)
	}

	must(t, settings.RemoveAccount(d, next))
	a.MasterURL = old // which is not restored from the other's copy
	must(t, settings.WriteAccount(d, a))
	if got, err := inForce(); got != old || err != nil {
		t.Errorf("attached again: %q, %v", got, err)
	}
}
