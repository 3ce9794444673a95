package agent_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/prefs"
)

// The agent asks once a day for newer versions, reports one, and asks again sooner if it got no
// answer. With the network off it does not ask.
func TestNewerVersions(t *testing.T) {
	t.Parallel()
	describes := func(version string) answer {
		return answer{code: http.StatusOK, body: []byte(`{"tag_name": "v` + version + `", "html_url": "https://e.example/` + version + `"}`)}
	}
	answers := withMaster(t, demoURL)
	answers["latest"] = []answer{{code: http.StatusNotFound}, describes("1.0.0"), describes("1.0.1")}
	w := newWorld(t, demoURL, answers, nil)
	w.configure(t, `release_url = "http://e.example/download/latest"`)
	w.run(func(t *testing.T) {
		for _, step := range []struct {
			after time.Duration
			want  string
			asked int
		}{
			{time.Minute, "", 1},
			{58 * time.Minute, "", 1},
			{2 * time.Minute, "1.0.0", 2},
			{23 * time.Hour, "1.0.0", 2},
			{2 * time.Hour, "1.0.1", 3},
		} {
			s := w.after(t, step.after)
			got := ""
			if s.Newer != nil {
				got = s.Newer.Version
			}
			if n := w.count("latest"); got != step.want || n != step.asked {
				t.Errorf("after %v more: %q after %d questions, want %q after %d", step.after, got, n, step.want, step.asked)
			}
		}
		must(t, w.a.SetMode(t.Context(), control.Network, prefs.Never, 0))
		if w.after(t, 25*time.Hour); w.count("latest") != 3 {
			t.Errorf("asked %d times with the network off", w.count("latest")-3)
		}
	})
}
