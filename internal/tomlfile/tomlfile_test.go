package tomlfile_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/tomlfile"
)

type settings struct {
	Name  string   `toml:"name"`
	Port  int      `toml:"gui_rpc_port"`
	Share *float64 `toml:"resource_share"`
	On    bool     `toml:"on"`
	Tags  []string `toml:"tags"`
	Log   struct {
		Level string `toml:"level"`
	} `toml:"log"`
}

func TestGoodFile(t *testing.T) {
	var s settings
	lines, err := tomlfile.Decode("a.toml", []byte("# comment\nname = \"x\"\nresource_share = 50\n\n[log]\nlevel = \"debug\"\n"), &s)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "x" || s.Share == nil || *s.Share != 50 || s.Log.Level != "debug" {
		t.Errorf("got %+v", s)
	}
	if got, want := lines.Errorf("log.level", "no such level %q", "debug").Error(), `a.toml:6: log.level: no such level "debug"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !lines.Has("name") || lines.Has("on") {
		t.Error("Has is wrong")
	}
}

func TestEveryFaultIsToldAtOnce(t *testing.T) {
	var s settings
	_, err := tomlfile.Decode("a.toml", []byte("nam = \"x\"\ngui_rpc_port = \"31416\"\nzzzzzzzzzzzz = 1\non = 1\n[log]\nlvel = \"x\"\n"), &s)
	if err == nil {
		t.Fatal("no error")
	}
	got := strings.Split(err.Error(), "\n")
	want := []string{
		`a.toml:1: nam: unknown key, did you mean name?`,
		`a.toml:2: gui_rpc_port: "31416" is not a whole number; write gui_rpc_port = 31416`,
		`a.toml:3: zzzzzzzzzzzz: unknown key`,
		`a.toml:4: on: 1 is not true or false; write on = true`,
		`a.toml:6: log.lvel: unknown key, did you mean log.level?`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestSyntaxErrorNamesTheLine(t *testing.T) {
	var s settings
	_, err := tomlfile.Decode("a.toml", []byte("name = \"x\"\non = \n"), &s)
	if err == nil || !strings.HasPrefix(err.Error(), "a.toml:2: ") {
		t.Errorf("got %v", err)
	}
}

func TestValuesBesideUnknownKeysAreSet(t *testing.T) {
	var s settings
	_, err := tomlfile.Decode("a.toml", []byte("gui = 1\ngui_rpc_port = 7\n[log]\nlevel = \"x\"\nzzzzzz = 1\n"), &s)
	want := "a.toml:1: gui: unknown key, did you mean gui_rpc_port?\na.toml:5: log.zzzzzz: unknown key"
	if err == nil || err.Error() != want || s.Port != 7 || s.Log.Level != "x" {
		t.Errorf("got %+v, %v; want %s", s, err, want)
	}
	s = settings{}
	if _, err := tomlfile.Decode("a.toml", []byte("gui_rpc_port = 7\n[log]\nlevel = 1\n"), &s); err == nil || s.Port != 0 {
		t.Errorf("got %+v, %v; want nothing set", s, err)
	}
}

type hidden string

func (hidden) LogValue() slog.Value { return slog.StringValue("(hidden)") }

func TestSecretsAreNotTold(t *testing.T) {
	for _, src := range []string{"key = 0123456789", "key = 123456789", "key = 12ab", "key = [\"123\"]", "key = \"12", "key = 12\n[x"} {
		var s struct {
			Key hidden `toml:"key"`
		}
		_, err := tomlfile.Decode("a.toml", []byte(src), &s)
		if err == nil || strings.Contains(err.Error(), "12") || !strings.HasPrefix(err.Error(), "a.toml:") {
			t.Errorf("%q: got %v", src, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("name = \"x\"\n[log]\nlevel = 1"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		var s settings
		_, _ = tomlfile.Decode("a.toml", b, &s)
	})
}

func TestListsOfTables(t *testing.T) {
	var s struct {
		Project []struct {
			Name string `toml:"name"`
			Jobs struct {
				Size float64 `toml:"size"`
			} `toml:"jobs"`
			Outage []struct {
				Start float64 `toml:"start"`
			} `toml:"outage"`
		} `toml:"project"`
	}
	_, err := tomlfile.Decode("a.toml", []byte(`[[project]]
name = "x"
[project.jobs]
size = 2
[[project]]
naem = "y"
[project.jobs]
size = "big"
[[project.outage]]
start = 1
[[project.outage]]
satrt = 2
`), &s)
	want := `a.toml:6: project[1].naem: unknown key, did you mean project[1].name?
a.toml:8: project[1].jobs.size: "big" is not a number
a.toml:12: project[1].outage[1].satrt: unknown key, did you mean project[1].outage[1].start?`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// A list of tables may be written as an empty list, which differs from a missing one.
func TestAnEmptyListOfTables(t *testing.T) {
	var v struct {
		Item  []struct{ Name string } `toml:"item"`
		Other []struct{ Name string } `toml:"other"`
	}
	if _, err := tomlfile.Decode("a.toml", []byte("item = []\n"), &v); err != nil || v.Item == nil || len(v.Item) > 0 || v.Other != nil {
		t.Errorf("got %+v, %v", v, err)
	}
	if _, err := tomlfile.Decode("a.toml", []byte("item = [1]\n"), &v); err == nil {
		t.Error("a list of numbers is taken")
	}
}
