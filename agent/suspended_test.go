package agent_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
)

// Pauses of the agent, their reasons and durations are in the log at its default level, once, no
// matter how often they are decided.
func TestSuspensionsAreLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 404}), nil)
	// The bubble's clock starts at midnight, UTC. Preferences use local time.
	_, east := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Local().Zone()
	at := func(hour float64) float64 { return math.Mod(hour+float64(east)/3600+24, 24) }
	hours := fmt.Sprintf("start_hour = %v\nend_hour = %v\n", at(2), at(5))
	must(t, os.WriteFile(filepath.Join(w.dir, settings.PrefsFile), []byte(hours), 0o600))
	w.run(func(t *testing.T) {
		w.after(t, 6*time.Hour) // from 0 to 6: suspended, resumed, suspended
		set := func(what control.Activity, kind prefs.ModeKind) {
			must(t, w.a.SetMode(t.Context(), what, kind, 0))
			w.after(t, time.Minute)
		}
		set(control.Computing, prefs.Never)
		set(control.Computing, prefs.Always)
		set(control.Network, prefs.Never)
		set(control.Network, prefs.Always)
		log, err := w.a.Log(t.Context(), 0)
		must(t, err)
		var got []string
		for _, m := range log.Messages {
			if strings.Contains(m.Text, "suspended") || strings.Contains(m.Text, "resumed") {
				got = append(got, m.Text)
			}
		}
		want := []string{
			"computing suspended flag=task code=time_of_day why=", "computing resumed flag=task after=2 h", "computing suspended flag=task code=time_of_day why=",
			"computing suspended flag=task code=user_request why=", "computing resumed flag=task after=1 h 1 min",
			"network activity suspended flag=task code=user_request", "network activity resumed flag=task after=1 min",
		}
		if len(got) != len(want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("got %q, want %q", got[i], want[i])
			}
		}
		if !strings.Contains(got[0], "start_hour") || !strings.Contains(got[0], "until=") {
			t.Errorf("neither cause nor end: %q", got[0])
		}
	})
}
