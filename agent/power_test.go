package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/reason"
)

// Computing stops while a number from outside is beyond its limit, with a reason in the volunteer's
// words, and resumes when the number is back within it. A source that is gone causes a complaint
// and stops nothing.
func TestPowerLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), nil)
	source := filepath.Join(w.dir, "grid")
	put := func(text string) {
		t.Helper()
		must(t, os.WriteFile(source, []byte(text), 0o600))
	}
	put("412")
	text := "[[power]]\nname = \"Grid\"\nfile = '" + source + "'\nunit = \"g/kWh\"\nlimit = 300\nhysteresis = 20\nevery = 60\n"
	w.configure(t, text)
	w.run(func(t *testing.T) {
		s := w.after(t, 5*time.Second)
		if s.ComputeCode != reason.PowerLimit || s.Compute != "Grid is at 412 g/kWh, above the limit of 300 g/kWh ([[power]] in starling.toml)." || !strings.HasPrefix(s.ComputeCure, "Wait until it is at 280 g/kWh") {
			t.Errorf("got %s: %s %s", s.ComputeCode, s.Compute, s.ComputeCure)
		}
		put("290")
		if s := w.after(t, 70*time.Second); s.ComputeCode != reason.PowerLimit {
			t.Errorf("within the hysteresis: %q", s.Compute)
		}
		put("280")
		if s := w.after(t, 70*time.Second); s.Compute != "" || len(s.Powers) != 1 || s.Powers[0].Wrong || s.Powers[0].Text != "Grid is at 280 g/kWh, and the limit is 300 g/kWh." {
			t.Errorf("back: %q, %+v", s.Compute, s.Powers)
		}
		put("NaN")
		if s := w.after(t, 70*time.Second); s.Compute != "" || !s.Powers[0].Wrong || !s.Powers[0].Known {
			t.Errorf("not a number: %q, %+v", s.Compute, s.Powers)
		}
		if s := w.after(t, 5*time.Minute); s.Compute != "" || s.Powers[0].Known || s.Powers[0].Text != "Grid is not known. Its file has no number at its start." {
			t.Errorf("unknown: %q, %+v", s.Compute, s.Powers)
		}
	})
}

// The hours of a forecast are part of each decision, and of the reason for a pause.
func TestPowerForecast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), nil)
	source := filepath.Join(w.dir, "grid")
	text := "[[power]]\nname = \"Grid\"\nfile = '" + source + "'\nlimit = 300\nforecast = \"hours\"\nforecast_time = \"0\"\nforecast_value = \"1\"\n"
	hours := `{"hours": [["2000-01-01T00:00Z", 412], ["2000-01-01T01:00Z", 290], ["2000-01-01T02:00Z", 301], ["2000-01-01T03:00Z", 300]]}`
	w.configure(t, text)
	must(t, os.WriteFile(source, []byte(hours), 0o600))
	w.run(func(t *testing.T) {
		s := w.after(t, 5*time.Second)
		if s.ComputeCode != reason.PowerLimit || !strings.HasPrefix(s.ComputeCure, "Wait until it is at 300, by its forecast at 01:00") {
			t.Errorf("got %s: %s", s.ComputeCode, s.ComputeCure)
		}
		d, err := w.a.Decision(t.Context())
		if c := d.Snapshot.Forecast.Closed; err != nil || len(c) != 2 || c[0].End.UTC().Hour() != 1 || c[1].End.Sub(c[1].Start) != time.Hour || !d.Snapshot.Compute.Until.Equal(c[0].End) || d.Snapshot.Forecast.Until.UTC().Hour() != 4 {
			t.Errorf("got %+v, %v", c, err)
		}
		if s := w.after(t, time.Hour+6*time.Minute); s.Compute != "" {
			t.Errorf("after an hour: %s", s.Compute)
		}
	})
}
