package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/settings"
)

// In a file with errors the good keys take effect, and the others keep their last values, whatever
// the error is.
func TestInForce(t *testing.T) {
	for name, tt := range map[string]struct {
		before, now string
		ncpus       int
		flag        bool // log flag task
		network     bool
		wrong       string
		down        string
	}{
		"in order":                   {"ncpus = 1", "ncpus = 2", 2, true, true, "", ""},
		"an unknown key":             {"ncpus = 1\nsandbox_network = false", "ncpus = 2\nsandbox_netwrk = false", 2, true, false, "sandbox_netwrk", ""},
		"a value of the wrong kind":  {"ncpus = 1", "ncpus = \"all\"\nsandbox_network = false", 1, true, false, "ncpus", ""},
		"a value out of bounds":      {"ncpus = 1", "ncpus = -1", 1, true, true, "negative", ""},
		"a log flag":                 {"", "ncpus = 2\n[log_flags]\ntask = false\ntsk = true", 2, false, true, "log_flags.tsk", ""},
		"no TOML":                    {"ncpus = 1\nsandbox_network = false", "ncpus 3", 1, true, false, "there is no = between key and value", ""},
		"no TOML, nothing known":     {"-", "ncpus 3", 0, true, true, "there is no = between key and value", ""},
		"a typo, nothing known":      {"-", "ncpu = 3\nlog_keep = 5", 0, true, true, "did you mean ncpus", ""},
		"sandbox, nothing known":     {"-", "sandbox_netwrk = false", 0, true, true, "", "may affect sandbox"},
		"proxy, nothing known":       {"-", "proxy = \"socks5://127.0.0.1:9050\"\nncpus 3", 0, true, true, "", "may affect proxy"},
		"sandbox among other good":   {"-", "sandbox_network = false\nncpu = 3", 0, true, false, "did you mean ncpus", ""},
		"missing":                    {"ncpus = 1", "-", 1, true, true, "has been missing since", ""},
		"not readable, but a folder": {"ncpus = 1", "/", 1, true, true, "stay in effect", ""},
		"never there":                {"-", "-", 0, true, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := t.TempDir()
			path := filepath.Join(d, settings.File)
			write := func(text string) {
				t.Helper()
				err := os.RemoveAll(path)
				switch {
				case err != nil || text == "-":
				case text == "/":
					err = os.Mkdir(path, 0o700)
				default:
					err = os.WriteFile(path, []byte(text), 0o600)
				}
				must(t, err)
			}
			write(tt.before)
			must(t, settings.KeepSettings(d, time.Now()))
			write(tt.now)
			for range 2 { // and again after a restart
				s, wrong, err := settings.InForce(d, time.Now())
				if tt.down != "" {
					if err == nil || !strings.Contains(err.Error(), tt.down) {
						t.Errorf("got %v, want %q", err, tt.down)
					}
					return
				}
				if err != nil || s.NCPUs != tt.ncpus || s.LogFlags["task"] != tt.flag || s.SandboxNetwork != tt.network {
					t.Errorf("got %d CPUs, task %v, network %v, %v", s.NCPUs, s.LogFlags["task"], s.SandboxNetwork, err)
				}
				if (wrong == nil) != (tt.wrong == "") || wrong != nil && !strings.Contains(wrong.Error(), tt.wrong) {
					t.Errorf("told %v, want %q", wrong, tt.wrong)
				}
				must(t, settings.KeepSettings(d, time.Now()))
			}
			if tt.now == "-" && tt.before != "-" { // for a day
				later := time.Now().Add(25 * time.Hour)
				must(t, settings.KeepSettings(d, later))
				if s, wrong, err := settings.InForce(d, later); err != nil || wrong != nil || s.NCPUs != 0 {
					t.Errorf("after a day: %d CPUs, %v, %v", s.NCPUs, wrong, err)
				}
			}
		})
	}
}
