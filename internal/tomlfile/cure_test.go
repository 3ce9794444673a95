package tomlfile_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/tomlfile"
)

// Mistakes of people who are not familiar with TOML, and the resulting errors.
func TestCures(t *testing.T) {
	for _, tt := range []struct{ src, want string }{
		{"max_pct = 50%", "max_pct: 50% is not a number; write max_pct = 50"},
		{"max = 50%", `max: 50% is not a number; write it without "%", in the unit of max`},
		{"max = 0,5", "max: 0,5 is not a number; write max = 0.5"},
		{`max_gb = "10 GB"`, `max_gb: "10 GB" is not a number; write max_gb = 10`},
		{`max_gb = "10 MB"`, `max_gb: "10 MB" is not a number; write it without "mb", in the unit of max_gb`},
		{`keep_days = "48h"`, `keep_days: "48h" is not a whole number; write keep_days = 2`},
		{`keep_days = "40h"`, `keep_days: "40h" is not a whole number; write it without "h", in the unit of keep_days`},
		{`delay_hours = 7d`, `delay_hours: 7d is not a number; write delay_hours = 168`},
		{"max = 1,000", "max: 1,000 is not a number"},
		{"max_gb = 10 GB", "max_gb: 10 GB is not a number; write max_gb = 10"},
		{"temperature = 80 °C # hot", "temperature: 80 °C is not a number; write temperature = 80"},
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
		{"port = 80a", "port: 80a is not a whole number; write it without \"a\", in the unit of port"},
		{"name = me", `name: me is not a string in quotes; write name = "me"`},
		{"name = https://a.example/", `name: https://a.example/ is not a string in quotes; write name = "https://a.example/"`},
		{"name = 5", `name: 5 is not a string in quotes; write name = "5"`},
		{"[log", "log: a section's name must be closed by ]"},
		{"[log]\nlevel = high", `2: log.level: high is not a string in quotes; write level = "high"`},
		{"[[item]]\nname = 'a'\n[[item]]\nsize = 3 kB", "4: item[1].size: 3 kB is not a number; write it without \"kb\", in the unit of size"},
		{"[of.mine]\nsize = 5,5", "2: of.mine.size: 5,5 is not a number; write size = 5.5"},
		{"unknown = 5%", "expected"}, // the parser's own message
		{"max = \x00", "not a text file in UTF-8; save it as UTF-8"},
	} {
		var s struct {
			Max  float64 `toml:"max"`
			On   bool    `toml:"on"`
			Port int     `toml:"port"`

			MaxPct      float64 `toml:"max_pct"`
			MaxGB       float64 `toml:"max_gb"`
			Temperature float64 `toml:"temperature"`
			KeepDays    int     `toml:"keep_days"`
			DelayHours  float64 `toml:"delay_hours"`

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
