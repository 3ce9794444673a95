package agent_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/workfetch"
)

// slow is a project whose scheduler drips beside one that answers.
type slow struct {
	http.RoundTripper
	asked []time.Time
}

const slowURL = "http://127.0.0.1:18070/slow/"

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.String(), slowURL) {
		return s.RoundTripper.RoundTrip(r)
	}
	content := io.Reader(strings.NewReader("<!-- <scheduler>" + slowURL + "cgi</scheduler> -->"))
	if kindOf(r) == sched {
		s.asked = append(s.asked, time.Now())
		content = drip{r}
	}
	return &http.Response{StatusCode: 200, Header: make(http.Header), Body: io.NopCloser(content), ContentLength: -1, Request: r}, nil
}

type drip struct{ r *http.Request }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-d.r.Context().Done():
		return 0, d.r.Context().Err()
	case <-time.After(5 * time.Second):
		return copy(p, strings.Repeat(" ", 1500)), nil // not too slow to be an answer
	}
}

// TestASlowServerIsWaitedForAlone attaches a project whose scheduler takes for ever
// to answer beside one that answers: the other is asked all the same, and meanwhile
// the reason is told.
func TestASlowServerIsWaitedForAlone(t *testing.T) {
	w := newWorld(t, demoURL, withMaster(t, demoURL, answer{code: 200, body: []byte("<scheduler_reply><hostid>1</hostid></scheduler_reply>")}), nil)
	other := &slow{RoundTripper: w.peer}
	w.transport = other
	if err := settings.WriteAccount(w.dir, settings.Account{MasterURL: slowURL, Authenticator: "1", ResourceShare: 100}); err != nil {
		t.Fatal(err)
	}
	w.run(func(t *testing.T) {
		s := w.after(t, 29*time.Second)
		p, _ := find(s, slowURL)
		if !strings.HasPrefix(p.Work, "In contact with the project since 00:00:00: ") {
			t.Errorf("of the slow one: %s", p.Work)
		}
		s = w.after(t, 3*time.Minute)
		if n := w.count(sched); n < 2 {
			t.Errorf("the other was asked %d times", n)
		}
		if p, _ := find(s, slowURL); p.WorkCode != string(workfetch.Conversing) || !strings.Contains(p.Work, "In contact") {
			t.Errorf("of the slow one: %s %s", p.WorkCode, p.Work)
		}
		// A person who leaves the project does not wait for it either.
		if err := w.a.Detach(t.Context(), slowURL); err != nil {
			t.Fatal(err)
		}
		if _, there := find(w.after(t, time.Second), slowURL); there {
			t.Error("it is still there")
		}
		if len(other.asked) != 1 {
			t.Errorf("the slow one was asked %d times", len(other.asked))
		}
	})
}
