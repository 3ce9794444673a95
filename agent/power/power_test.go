package power

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/settings"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A number that crosses its limit keeps tasks from running until it has come back far enough.
func TestHysteresis(t *testing.T) {
	grid := settings.Power{Name: "Grid", Unit: "g/kWh", Limit: 300, Hysteresis: 20}
	battery := settings.Power{Name: "Battery", Unit: "%", Limit: 50, Hysteresis: 5, Above: true, OnlyGPUs: true}
	for _, tt := range []struct {
		power   settings.Power
		numbers []float64
		denied  string // y or n after each
		why     string // of the last that denies
		cure    string
	}{
		{grid, []float64{250, 300, 301, 290, 281, 280, 299, 412}, "nnyyynny", "Grid is at 412 g/kWh, above the limit of 300 g/kWh ([[power]] in starling.toml).", "Wait until it is at 280 g/kWh, or set the limit higher."},
		{battery, []float64{80, 50, 49.5, 52, 55, 54, 12}, "nnyynny", "GPUs are not used: Battery is at 12%, below the limit of 50% ([[power]] in starling.toml).", "Wait until it is at 55%, or set the limit lower."},
		{settings.Power{Name: "Price", Limit: 0}, []float64{-1, 0, 1e-9, -1}, "nnyn", "Price is at 0.000000001, above the limit of 0 ([[power]] in starling.toml).", "Wait until it is at 0, or set the limit higher."},
	} {
		s, got, why, cure := Signal{Power: tt.power}, "", "", ""
		for _, n := range tt.numbers {
			s.Take(Reading{Number: n}, nil, now)
			d, denies := s.Denies(now)
			if got += map[bool]string{true: "y", false: "n"}[denies]; denies {
				why, cure = d.Why.String(), d.Cure.String()
			}
			if d.OnlyGPUs != tt.power.OnlyGPUs {
				t.Errorf("%s: %+v", tt.power.Name, d)
			}
		}
		if got != tt.denied || why != tt.why || cure != tt.cure {
			t.Errorf("%s: got %s, %q, %q", tt.power.Name, got, why, cure)
		}
	}
}

// The carbon intensity is the first number that is possible for one.
func TestCarbon(t *testing.T) {
	t.Parallel()
	grid := func(n float64) *Signal {
		s := &Signal{Power: settings.Power{Unit: "gCO2/kWh"}}
		s.Take(Reading{Number: n}, nil, now)
		return s
	}
	p := Powers{list: []*Signal{{}, grid(-1), grid(1.7e308)}}
	if g, ok := p.Carbon(now); ok {
		t.Errorf("got %v", g)
	}
	p.list = append(p.list, grid(412), grid(500))
	if g, ok := p.Carbon(now); !ok || g != 412 {
		t.Errorf("got %v, %v, want 412", g, ok)
	}
}

// A number that cannot be read any more counts for a while, and then as the volunteer wants.
func TestAStaleNumber(t *testing.T) {
	for _, strict := range []bool{false, true} {
		s := Signal{Power: settings.Power{Name: "Grid", Limit: 300, Every: 60, Strict: strict}}
		if _, denies := s.Denies(now); denies != strict {
			t.Errorf("never read: %v", denies)
		}
		s.Take(Reading{Number: 400}, nil, now)
		s.Take(Reading{}, sentence("Its source is gone."), now.Add(time.Minute))
		if d, denies := s.Denies(now.Add(2 * time.Minute)); !denies || !strings.HasPrefix(d.Why.String(), "Grid is at 400, ") {
			t.Errorf("after two minutes: %+v", d)
		}
		if text, wrong := s.State(now.Add(2 * time.Minute)); !wrong || text.String() != "Grid is at 400, and the limit is 300. It was read at 12:00:00. Its source is gone." {
			t.Errorf("after two minutes: %q", text)
		}
		d, denies := s.Denies(now.Add(3 * time.Minute))
		if denies != strict || strict && d.Why.String() != "Grid is not known ([[power]] in starling.toml, strict = true). Its source is gone." {
			t.Errorf("after three minutes: %v, %+v", denies, d)
		}
	}
}

// All kinds of sources are read, and their errors are sentences.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	big := strings.Repeat("1", 8<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/now.json":
			_, _ = w.Write([]byte(`{"data": [{"intensity": 412.5, "text": "55", "none": null}]}`))
		case "/big":
			_, _ = w.Write([]byte(big))
		case "/nan":
			_, _ = w.Write([]byte("NaN\n"))
		case "/redirect":
			http.Redirect(w, r, "file:///secret", http.StatusFound)
		case "/moved":
			http.Redirect(w, r, "/referer", http.StatusFound)
		case "/referer":
			_, _ = w.Write([]byte("7 " + r.Referer()))
		case "/words", "/noise":
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			begin := map[string]string{"/words": "HTTP/1.1 503 ", "/noise": ""}[r.URL.Path]
			_, _ = c.Write([]byte(begin + strings.Repeat("\x1b[31msecret", 1<<15) + "\r\n\r\n"))
			_ = c.Close()
		case "/half":
			w.Header().Set("Content-Length", "2")
			_, _ = w.Write([]byte("5"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	page := func(path, value string) settings.Power { return settings.Power{URL: server.URL + path, Value: value} }
	host := strings.TrimPrefix(server.URL, "http://")
	tests := []struct {
		name   string
		power  settings.Power
		number float64
		fault  string
	}{
		{"a file", settings.Power{File: file("a", " 17.5 W\n3\n")}, 17.5, ""},
		{"a negative number", settings.Power{File: file("b", "-3e2")}, -300, ""},
		{"no file", settings.Power{File: filepath.Join(dir, "none")}, 0, "Its file cannot be read: "},
		{"an empty file", settings.Power{File: file("c", "")}, 0, `Its file has no number at its start.`},
		{"another file", settings.Power{File: file("d", "root:secret:1::")}, 0, `Its file has no number at its start.`},
		{"another file with JSON", settings.Power{File: file("e", `{"a": "secret"}`), Value: "a"}, 0, `Its file has no number at a.`},
		{"a folder", settings.Power{File: dir}, 0, "Its file cannot be read: "},
		{"a page", page("/now.json", "data.0.intensity"), 412.5, ""},
		{"a number in quotes", page("/now.json", "data.0.text"), 55, ""},
		{"nothing there", page("/now.json", "data.1.intensity"), 0, "Its source has no number at data.1.intensity."},
		{"null", page("/now.json", "data.0.none"), 0, "Its source has no number at data.0.none."},
		{"too deep", page("/now.json", "data.0.intensity.x"), 0, "Its source has no number at data.0.intensity.x."},
		{"no JSON", page("/nan", "x"), 0, "Its source does not give JSON: "},
		{"not a number", page("/nan", ""), 0, `Its source gives "NaN", which is not a number.`},
		{"8 MB", page("/big", ""), 0, "Its source gives more than 1048576 bytes."},
		{"no page", page("/lost", ""), 0, "Its server " + host + " answers HTTP 404 Not Found."},
		{"a status with words of its own", page("/words", ""), 0, "Its server " + host + " answers HTTP 503 Service Unavailable."},
		{"nobody there", settings.Power{URL: "http://127.0.0.1:1/?token=secret"}, 0, "Its page cannot be fetched: "},
		{"a redirect to a file", page("/redirect?token=secret", ""), 0, `Its page cannot be fetched: unsupported protocol scheme "file".`},
		{"a redirect, which must not pass the address on", page("/moved?token=secret", ""), 7, ""},
		{"half a page", page("/half?token=secret", ""), 0, "Its page cannot be fetched: "},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, []struct {
			name   string
			power  settings.Power
			number float64
			fault  string
		}{
			{"a program", settings.Power{Command: []string{"sh", "-c", `echo '{"p": 3}'`}, Value: "p"}, 3, ""},
			{"a program that fails", settings.Power{Command: []string{"false"}}, 0, "Its program false failed: "},
			{"no program", settings.Power{Command: []string{"/nowhere"}}, 0, "Its program /nowhere failed: "},
			{"a program without end", settings.Power{Command: []string{"yes"}}, 0, "Its source gives more than 1048576 bytes."},
			{"a program that leaves a child", settings.Power{Command: []string{"sh", "-c", "echo 5; sleep 1000 & "}}, 0, "Its program sh has ended, but not all that it has started."},
		}...)
	}
	r := Reader{HTTP: server.Client()}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.Read(t.Context(), tt.power)
			switch {
			case tt.fault == "" && (err != nil || got.Number != tt.number):
				t.Errorf("got %v, %v", got, err)
			case tt.fault != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.fault) || !strings.HasSuffix(err.Error(), ".") || strings.Contains(err.Error(), "secret")):
				t.Errorf("got %v, %v; want %s", got, err, tt.fault)
			}
		})
	}
	_, err := r.Read(t.Context(), page("/noise", ""))
	var s Signal
	if s.Take(Reading{}, err, now); s.Fault == "" || len(s.Fault) > 1000 {
		t.Errorf("an answer of 300 KB that is not HTTP is a fault of %d bytes", len(s.Fault))
	}
	r.Root = true
	if _, err := r.Read(t.Context(), settings.Power{Command: []string{"echo", "5"}}); err == nil || err.Error() != "Its program is not run, because the agent runs as root." {
		t.Errorf("as root: %v", err)
	}
}
