package tomlfile_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/tomlfile"
)

// Mistakes of people who are not familiar with TOML, and the resulting errors.
func TestCures(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"max = 50%", "max: 50% is not a number; write max = 50"},
		{"max = 0,5", "max: 0,5 is not a number; write max = 0.5"},
		{`max = "10 GB"`, `max: "10 GB" is not a number; write max = 10`},
		{"max = 1,000", "max: 1,000 is not a number"},
		{"max = 10 GB", "max: 10 GB is not a number; write max = 10"},
		{"max = 80 °C # hot", "max: 80 °C is not a number; write max = 80"},
		{"max = .5", "max: .5 is not a number; write max = 0.5"},
		{"max = 5.", "max: 5. is not a number; write max = 5"},
		{"max = '50'", `max: "50" is not a number; write max = 50`},
		{"max = 22:30", "max: 22:30 is not a number; write max = 22.5"},
		{"max = \"22:30\"", `max: "22:30" is not a number; write max = 22.5`},
		{"max = lots", "max: lots is not a number"},
		{"max = 1.2.3", "max: 1.2.3 is not a number"},
		{"max = ", "max: no value; write a number after ="},
		{"max 5", "max: there is no = between key and value; write max = VALUE"},
		{"max: 5", "max: there is no = between key and value; write max = VALUE"},
		{"max = 1\nmax = 2", "2: max: set twice; delete one of the lines"},
		{"on = yes", "on: yes is not true or false; write on = true"},
		{"on = Off", "on: Off is not true or false; write on = false"},
		{`on = "no"`, `on: "no" is not true or false; write on = false`},
		{"on = 0", "on: 0 is not true or false; write on = false"},
		{"on = perhaps", "on: perhaps is not true or false"},
		{`apps = "doom"`, `apps: "doom" is not a list; write apps = ["doom"]`},
		{"apps = doom", `apps: doom is not a list; write apps = ["doom"]`},
		{"[item]", "item: a table is not a list of tables: [[item]]"},
		{"port = 1.5", "port: 1.5 is not a whole number"},
		{"port = 80a", "port: 80a is not a whole number; write port = 80"},
		{"name = me", `name: me is not a string in quotes; write name = "me"`},
		{"name = https://a.example/", `name: https://a.example/ is not a string in quotes; write name = "https://a.example/"`},
		{"name = 5", `name: 5 is not a string in quotes; write name = "5"`},
		{"[log", "log: a section's name must be closed by ]"},
		{"[log]\nlevel = high", `2: log.level: high is not a string in quotes; write level = "high"`},
		{"[[item]]\nname = 'a'\n[[item]]\nsize = 3 kB", "4: item[1].size: 3 kB is not a number; write size = 3"},
		{"[of.mine]\nsize = 5,5", "2: of.mine.size: 5,5 is not a number; write size = 5.5"},
		{"unknown = 5%", "expected"}, // the parser's own message
		{"max = \x00", "not a text file in UTF-8; save it as UTF-8"},
	} {
		var s struct {
			Max  float64  `toml:"max"`
			On   bool     `toml:"on"`
			Port int      `toml:"port"`
			Name string   `toml:"name"`
			Apps []string `toml:"apps"`
			Log  struct {
				Level string `toml:"level"`
			} `toml:"log"`
			Item []struct {
				Name string  `toml:"name"`
				Size float64 `toml:"size"`
			} `toml:"item"`
			Of map[string]struct {
				Size float64 `toml:"size"`
			} `toml:"of"`
		}
		_, err := tomlfile.Decode("a.toml", []byte(tt.src+"\n"), &s)
		if err == nil || !strings.HasPrefix(err.Error(), "a.toml:") || !strings.HasSuffix(err.Error(), tt.want) && tt.want != "expected" {
			t.Errorf("%q: got %v, want %s", tt.src, err, tt.want)
		}
	}
}
