package power

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/settings"
)

// The forms of lists that public sources have.
func TestForecast(t *testing.T) {
	noon := now.Unix()
	for _, tt := range []struct {
		name, text  string
		list        string
		time, value string
		now         string // place of the number now
		want        string // the number now, and the forecast by minutes from noon
	}{
		{
			"objects with times without seconds", `{"data": [{"from": "2026-03-01T12:30Z", "intensity": {"forecast": 266}}, {"from": "2026-03-01T12:00Z", "intensity": {"forecast": 263.5}}]}`,
			"data", "from", "intensity.forecast", "", "263.5: 0=263.5 30=266",
		},
		{
			"another zone, numbers in quotes, and one that is not known", `{"now": 7, "h": [{"t": "2026-03-01T14:00:00+01:00", "v": "3"}, {"t": "2026-03-01T15:00:00+01:00", "v": null}, {"t": "2026-03-01T16:00:00.000Z", "v": -1}]}`,
			"h", "t", "v", "now", "7: 60=3 240=-1",
		},
		{"milliseconds", fmt.Sprintf(`{"l": [[%d, 5], [%d, 6]]}`, noon*1000, (noon+900)*1000), "l", "0", "1", "", "5: 0=5 15=6"},
		{"seconds", fmt.Sprintf(`{"l": [{"s": %d, "p": 5}]}`, noon-600), "l", "s", "p", "", "5: -10=5"},
		{"over", fmt.Sprintf(`{"l": [{"s": %d, "p": 5}]}`, noon-3600), "l", "s", "p", "", "Its forecast has no number for now."},
		{"not yet", fmt.Sprintf(`{"l": [{"s": %d, "p": 5}]}`, noon+1), "l", "s", "p", "", "Its forecast has no number for now."},
		{"no list", `{"l": 3}`, "l", "s", "p", "", "Its source has no list at l."},
		{"no time", `{"l": [{"p": 5}]}`, "l", "s", "p", "", "Its forecast has an entry without a time at s."},
		{"a time of another age", `{"l": [{"s": 1e30, "p": 5}]}`, "l", "s", "p", "", "Its forecast has an entry without a time at s."},
		{"no numbers", `{"l": [{"s": 1}]}`, "l", "s", "p", "", "Its forecast has no numbers at p."},
		{"an empty list", `{"l": []}`, "l", "s", "p", "", "Its forecast has no numbers at p."},
		{"no JSON", `5`, "l", "s", "p", "", "Its source has no list at l."},
	} {
		r, err := read([]byte(tt.text), settings.Power{Value: tt.now, Forecast: tt.list, Time: tt.time, Number: tt.value}, now)
		got := fmt.Sprint(r.Number, ":")
		for _, h := range r.Hours {
			got += fmt.Sprintf(" %v=%v", h.Start.Sub(now).Minutes(), h.Number)
		}
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	many := `{"l": [` + strings.Repeat(`{"s": 1, "p": 1}, `, 10*maxHours) + `{"s": 1, "p": 1}]}`
	if r, err := read([]byte(many), settings.Power{Value: "l.0.p", Forecast: "l", Time: "s", Number: "p"}, now); err != nil || len(r.Hours) != maxHours {
		t.Errorf("a long list: %d, %v", len(r.Hours), err)
	}
}

// The limit and the hysteresis apply to the numbers of the forecast in their order, after the number
// that was read.
func TestClosed(t *testing.T) {
	grid := settings.Power{Name: "Grid", Limit: 300, Hysteresis: 20}
	gpus := settings.Power{Name: "Battery", Limit: 50, Above: true, OnlyGPUs: true}
	signal := func(p settings.Power, number float64, start int, hours ...float64) Signal {
		r := Reading{Number: number}
		for i, n := range hours {
			r.Hours = append(r.Hours, Hour{now.Add(time.Duration(start+i) * time.Hour), n})
		}
		s := Signal{Power: p}
		s.Take(r, nil, now)
		return s
	}
	for _, tt := range []struct {
		name string
		list []Signal
		gpus bool
		want string // hours from now
		ends string // of the denial of the first number
	}{
		{"none", []Signal{signal(grid, 400, 0)}, false, "", ""},
		{"all within the limit", []Signal{signal(grid, 200, 0, 200, 300)}, false, "", ""},
		{"the number that was read counts now", []Signal{signal(grid, 400, 0, 200, 200)}, false, "0-1", "13:00"},
		{"and before the first entry", []Signal{signal(grid, 400, 2, 200, 200)}, false, "0-2", "14:00"},
		{"and not what was forecast for now", []Signal{signal(grid, 200, 0, 400, 200)}, false, "", ""},
		{"hysteresis", []Signal{signal(grid, 200, 0, 200, 301, 290, 280, 290, 301)}, false, "1-3 5-6", ""},
		{"to the end", []Signal{signal(grid, 400, 0, 400, 400)}, false, "0-2", ""},
		{"several", []Signal{signal(grid, 200, 0, 200, 400, 200, 400, 200), signal(grid, 200, 0, 200, 200, 400, 200, 200)}, false, "1-4", ""},
		{"of GPUs, for CPUs", []Signal{signal(gpus, 60, 0, 60, 40, 60)}, false, "", ""},
		{"of GPUs and all, for GPUs", []Signal{signal(gpus, 60, 0, 60, 60, 40), signal(grid, 200, 0, 200, 400, 200)}, true, "1-3", ""},
	} {
		got := ""
		for _, c := range Forecast(tt.list, now, tt.gpus).Closed {
			got += fmt.Sprintf(" %v-%v", c.Start.Sub(now).Hours(), c.End.Sub(now).Hours())
		}
		if got = strings.TrimSpace(got); got != tt.want {
			t.Errorf("%s: closed %s, want %s", tt.name, got, tt.want)
		}
		d, _ := tt.list[0].Denies(now)
		if ends := strings.TrimSuffix(d.Until.Format("15:04"), "00:00"); ends != tt.ends {
			t.Errorf("%s: it ends at %s, want %s", tt.name, ends, tt.ends)
		}
		if tt.ends != "" && !strings.HasPrefix(d.Cure.String(), "Wait until it is at 280, by its forecast at "+tt.ends) {
			t.Errorf("%s: %s", tt.name, d.Cure)
		}
	}
	stale := []Signal{signal(grid, 400, 0, 400, 400)}
	if f := Forecast(stale, now.Add(time.Hour), false); f.Closed != nil || !f.Until.IsZero() {
		t.Errorf("a forecast of a source that is gone counts: %+v", f)
	}
	two := []Signal{signal(grid, 200, 0, 200, 200, 400), signal(grid, 200, 0, 200, 200), signal(gpus, 60, 0, 60), signal(grid, 200, 0)}
	if f := Forecast(two, now, false); !f.Until.Equal(now.Add(2 * time.Hour)) {
		t.Errorf("two forecasts are complete until %v", f.Until)
	}
}
