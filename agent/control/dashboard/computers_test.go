package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/protocol"
)

// farm is some other computers.
type farm struct {
	mu    sync.Mutex
	there map[string]control.Status // by address
	asked []string
}

func (f *farm) Paired() (all []control.Paired, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for a := range f.there {
		all = append(all, control.Paired{Name: a})
	}
	slices.SortFunc(all, func(a, b control.Paired) int { return strings.Compare(a.Name, b.Name) })
	return append(all, control.Paired{Name: "gone:1"}), nil
}

// A wire carries requests to one of them.
type wire struct {
	f       *farm
	address string
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	s, ok := w.f.there[w.address]
	if !ok {
		return nil, errors.New("cannot reach " + w.address)
	}
	rec := httptest.NewRecorder()
	switch err := r.ParseForm(); {
	case err != nil:
		return nil, err
	case r.URL.Path == "/v1/status":
		_ = json.NewEncoder(rec).Encode(s)
	case r.URL.Path == "/v1/history":
		h := control.History{Tasks: []control.HistoryTask{{Name: "w_7_0", Project: lhc, ProjectName: "LHC <b>", Outcome: "failed", Exit: "The application crashed.", Finished: started, CPUTime: 7200}}}
		_ = json.NewEncoder(rec).Encode(h)
	case r.URL.Path == "/v1/timeline":
		_ = json.NewEncoder(rec).Encode(control.Timeline{Spans: []control.Span{{State: "suspended", Code: "on_battery", Start: started, End: started.Add(time.Minute)}}})
	case r.URL.Path == "/v1/mode":
		s.RunMode = r.PostForm.Get("mode")
		w.f.there[w.address] = s
		_, _ = rec.WriteString("{}")
	default:
		w.f.asked = append(w.f.asked, fmt.Sprint(w.address, " ", r.URL.Path, " ", r.PostForm.Get("project"), " ", r.PostForm.Get("key")))
		_, _ = rec.WriteString("{}")
	}
	return rec.Result(), nil
}

func (f *farm) Client(address string) (*control.Client, error) {
	return control.NewClientOver(wire{f, address}), nil
}

func (f *farm) Pair(_ context.Context, address, code string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if code != "GOOD" {
		return errors.New("the pairing code is wrong")
	}
	f.there[address] = control.Status{Host: "newcomer", RunMode: "auto", CPUs: 2}
	return nil
}

func (f *farm) Forget(address string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.there, address)
	return nil
}

func (f *farm) was() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.asked)
	return strings.Join(f.asked, "|")
}

// owner is a fake whose accounts exist.
type owner struct{ *fake }

func (owner) LookupAccount(context.Context, string, string, string) (protocol.Authenticator, error) {
	return "k3y", nil
}

func TestComputersTab(t *testing.T) {
	t.Parallel()
	a := owner{&fake{page: busy(10)}}
	a.page.Status.Host = "workbench"
	f := &farm{there: map[string]control.Status{
		"attic:31419": {
			Host: "attic", RunMode: "auto", CPUs: 4, Tasks: []control.Task{{Name: "a", Running: true}, {Name: "b"}},
			Projects: []control.Project{{MasterURL: lhc, Name: "LHC <b>"}}, Achieved: &control.Achieved{Days: 7, Finished: 3, CPUTime: 7200},
		},
		"cellar:31419": {
			Host: "cellar", RunMode: "auto", CPUs: 4, Compute: "The projects' files use too much.", ComputeCode: "disk_full", ComputeCure: "free some disk space, or allow more.",
			Projects: []control.Project{{MasterURL: lhc, Name: "LHC", Trouble: "The server is down.", TroubleCure: "wait."}},
		},
	}}
	served, end := context.WithCancel(t.Context())
	defer end()
	s, login := serveUntil(t, served, a)
	s.Computers = f
	b := testbrowser.New(t, "/api/computers")
	b.Do("open the page", testbrowser.Media("light"), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(login.String()))
	b.See("the page is live", `document.getElementById('link')?.textContent === 'live'`)
	tab(b, "Computers", "/computers")
	cards := func(what string) string {
		return `[...document.querySelectorAll('#computers-list > li')].map(e => e.querySelector('` + what + `').textContent).join('|')`
	}
	b.See("what needs attention first", cards("h3")+` === 'cellar|gone:1|workbench|attic'`)
	b.See("what they do", cards(".state")+` === 'suspended|no answer|8 tasks running|1 task running'`)
	b.See("what is wrong", `[...document.querySelectorAll('#computers-list .need')].map(e => e.textContent).join('|') ===
		'The projects\' files use too much. You can: free some disk space, or allow more.|LHC: The server is down. You can: wait.|It cannot be reached: cannot reach gone:1'`)
	b.See("the rest, as text", `document.querySelector('#computers-list > li:last-child').textContent.includes('LHC <b>; 2 tasks on 4 CPUs; 3 tasks finished in 7 days, 2 h of CPU time')`)
	b.Accessible("all computers")
	b.Picture("computers")
	b.Do("in the dark", testbrowser.Media("dark"))
	b.Accessible("all computers in the dark")

	b.Do("pause all", testbrowser.Press("#pause-all"))
	b.See("who did not", `document.getElementById('fault').textContent === 'gone:1: cannot reach gone:1'`)
	b.See("they are paused", cards(".state")+`.split('|').filter(t => t === 'paused').length === 3`)
	if got := a.last(); got != `mode "" never 0s` {
		t.Errorf("this computer was asked for %q", got)
	}
	b.Do("resume one", chromedp.Click(`button[aria-label="Resume attic"]`))
	b.See("it computes", cards(".state")+`.split('|').filter(t => t === 'paused').length === 2`)

	b.Do("see what was there", chromedp.Click(`button[aria-label="History of attic"]`))
	b.See("its history", `document.getElementById('drawer-title').textContent === 'History of attic' &&
		document.getElementById('elsewhere-tasks').textContent.startsWith('Failed w_7_0 LHC <b>. ') &&
		document.getElementById('elsewhere-tasks').textContent.endsWith('2 h of CPU time. The application crashed.') &&
		document.getElementById('elsewhere-spans').textContent.includes('On battery')`)
	b.Accessible("the history of another computer")
	b.Do("of one that does not answer", chromedp.Click(`button[aria-label="History of gone:1"]`))
	b.See("that it does not", `document.querySelector('#drawer-body .bad').textContent === 'cannot reach gone:1'`)
	b.Do("close it", testbrowser.Press("#drawer-close"))
	b.See("it is closed", `document.getElementById('drawer').hidden && location.search === ''`)

	b.Do("add one with a wrong code", chromedp.SendKeys("#pair-address", "shed:31419"), chromedp.SendKeys("#pair-code", "BAD"+kb.Enter))
	b.See("the refusal", `document.getElementById('fault').textContent === 'the pairing code is wrong'`)
	b.Do("with the right one", testbrowser.Empty("pair-code"), chromedp.SendKeys("#pair-code", "GOOD"+kb.Enter))
	b.See("it is there", cards("h3")+`.includes('newcomer')`)
	b.Do("leave some out", chromedp.Evaluate[chromedp.Void](`document.querySelectorAll('#attach-on input').forEach(b => { b.checked = !['gone:1', 'cellar:31419'].includes(b.value); })`),
		chromedp.SendKeys("#attach-many-url", wcg), chromedp.SendKeys("#attach-many-email", "kim@example.org"), chromedp.SendKeys("#attach-many-password", "secret"+kb.Enter))
	b.See("it is said", `document.getElementById('said').textContent === '3 computers attached.'`)
	if got, want := f.was()+"|"+a.last(), "attic:31419 /v1/attach "+wcg+" k3y|shed:31419 /v1/attach "+wcg+" k3y|attach "+wcg+" k3y"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	b.Do("remove one", chromedp.Click(`button[aria-label="Remove newcomer"]`), testbrowser.Press("#sure-yes"))
	b.See("it is gone", `!`+cards("h3")+`.includes('newcomer')`)
	b.Do("be a phone", chromedp.EmulateViewport(320, 640))
	b.See("not wider than the phone", `document.documentElement.scrollWidth <= 320`)
	b.Accessible("all computers on a phone")
}

// Invalid requests are refused with a reason, and no computer is asked.
func TestComputersRefused(t *testing.T) {
	s, login := serve(t, &fake{page: busy(1)})
	base := "http://127.0.0.1:" + s.Port
	cookie := enter(t, login)
	for _, tt := range []struct{ path, body, want string }{
		{"/api/computers/mode", `{"addresses":[],"mode":"never"}`, "0 computers"},
		{"/api/computers/mode", `{"addresses":[""],"mode":"often"}`, "unknown mode"},
		{"/api/computers/mode", `{"addresses":["x"],"mode":"never"}`, "this computer only"},
		{"/api/computers/pair", `{"address":"x","code":"y"}`, "this computer only"},
		{"/api/computers/forget", `{"address":"x"}`, "this computer only"},
		{"/api/computers/attach", `{"addresses":[""],"url":"https://p.example/"}`, "enter the e-mail address"},
	} {
		if _, body := ask(t, "POST", base+tt.path, tt.body, "Cookie", cookie, "Origin", base, "Content-Type", "application/json"); !strings.Contains(body, tt.want) {
			t.Errorf("%s %s: got %s, want %q", tt.path, tt.body, body, tt.want)
		}
	}
	if _, body := ask(t, "GET", base+"/api/history?address=x", "", "Cookie", cookie); !strings.Contains(body, "this computer only") {
		t.Errorf("history of another computer: got %s", body)
	}
}
