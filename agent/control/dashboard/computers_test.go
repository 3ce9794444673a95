package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
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
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/internal/words"
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
		return nil, fmt.Errorf("cannot reach %s: %w", w.address, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route to host")})
	}
	if s.Host == "stranger" {
		return nil, errors.New("this computer is not paired with it")
	}
	rec := httptest.NewRecorder()
	switch err := r.ParseForm(); {
	case err != nil:
		return nil, err
	case r.URL.Path == "/v1/status":
		s.Problems = view.Problems(s, started, true, words.English)
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
			Host: "attic", RunMode: "auto", CPUs: 4, Tasks: []control.Task{{Name: "a", Project: lhc, Running: true}, {Name: "b"}},
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
	b.See("what needs attention first, then this one", cards("h3")+` === 'cellar|workbench|attic|gone:1'`)
	b.See("what they do", cards(".sentence")+` === [
		"The projects' files use too much. You can: free some disk space, or allow more. And 1 more.",
		'Computing for Einstein@Home, LHC@home and `+wcgName+`', 'Computing for LHC <b>', 'It does not answer. It may be switched off.'].join('|')`)
	b.See("only what needs attention is amber", `document.querySelectorAll('#computers-list .wants').length === 1`)
	b.See("why one does not answer", `document.querySelector('.away .sentence > [title]').title.startsWith('cannot reach gone:1')`)
	b.See("what they are", cards("header .small")+` === '4 CPUs|This computer, 8 CPUs|4 CPUs|'`)
	b.See("their numbers", cards("dl")+` === 'Running0 tasksCompleted in 7 days0|Running8 tasksCompleted in 7 days212|Running1 taskCompleted in 7 days3|Running– Completed in 7 days–'`)
	b.See("cards of one height", `new Set([...document.querySelectorAll('.pc')].slice(0, 3).map(e => e.offsetHeight)).size === 1`)
	b.Accessible("all computers")
	b.Picture("computers")
	b.Do("in the dark", testbrowser.Media("dark"))
	b.Accessible("all computers in the dark")

	b.Do("pause all", testbrowser.Press("#pause-all"))
	b.See("who did not", `document.getElementById('fault').textContent.startsWith('gone:1: cannot reach gone:1')`)
	b.See("they are paused", `[...document.querySelectorAll('.pc [aria-label^="Resume "]')].filter(e => !e.hidden).length === 3 && document.getElementById('pause-all').hidden`)
	if got := a.last(); got != `mode "" never 0s` {
		t.Errorf("this computer was asked for %q", got)
	}
	b.Do("resume one", chromedp.Click(`button[aria-label="Resume attic"]`))
	b.See("it computes", `[...document.querySelectorAll('.pc [aria-label^="Resume "]')].filter(e => !e.hidden).length === 2 && !document.getElementById('pause-all').hidden`)

	b.Do("see what was there", chromedp.Click(`button[aria-label="History of attic"]`))
	b.See("its history", `document.getElementById('drawer-title').textContent === 'History of attic' &&
		document.getElementById('elsewhere-tasks').textContent.startsWith('Failed w_7_0 LHC <b>. ') &&
		document.getElementById('elsewhere-tasks').textContent.endsWith('2 h of CPU time. The application crashed.') &&
		document.getElementById('elsewhere-spans').textContent.includes('On battery')`)
	b.Accessible("the history of another computer")
	b.Do("of one that does not answer", chromedp.Evaluate[chromedp.Void](`history.replaceState(null, '', '/computers?computer=gone:1'); dispatchEvent(new PopStateEvent('popstate'))`))
	b.See("that it does not", `document.querySelector('#drawer-body .bad').textContent.startsWith('cannot reach gone:1')`)
	b.Do("close it", testbrowser.Press("#drawer-close"))
	b.See("it is closed", `document.getElementById('drawer').hidden && location.search === ''`)

	b.Do("add one with a wrong code", testbrowser.Press("#add-computer"), chromedp.SendKeys("#pair-address", "shed:31419"), chromedp.SendKeys("#pair-code", "BAD"+kb.Enter))
	b.See("the refusal", `document.getElementById('pair-fault').textContent === 'the pairing code is wrong'`)
	b.Accessible("the dialog that adds a computer")
	b.Do("with the right one", testbrowser.Empty("pair-code"), chromedp.SendKeys("#pair-code", "GOOD"+kb.Enter))
	b.See("it is there", cards("h3")+`.includes('newcomer')`)
	b.See("it has the focus", `!document.getElementById('pair-dialog').open && document.activeElement.closest('li')?.textContent.includes('newcomer')`)
	b.Do("attach a project", testbrowser.Press("#attach-many"), chromedp.SendKeys("#attach-url", "https://p.example/"+kb.Enter))
	b.See("on which computers", `[...document.querySelectorAll('#attach-on label')].map(e => e.textContent.trim()).join('|') === 'workbench|attic|cellar|newcomer|gone:1'`)
	b.Do("leave some out", chromedp.Evaluate[chromedp.Void](`document.querySelectorAll('#attach-on input').forEach(b => { b.checked = b.value !== 'cellar:31419'; })`),
		chromedp.SendKeys("#attach-email", "kim@example.org"), chromedp.SendKeys("#attach-password", "secret"+kb.Enter))
	b.See("where it failed", `document.getElementById('attach-fault').textContent.startsWith('gone:1: cannot reach gone:1')`)
	if got, want := f.was()+"|"+a.last(), "attic:31419 /v1/attach https://p.example/ k3y|shed:31419 /v1/attach https://p.example/ k3y|attach https://p.example/ k3y"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	b.Do("leave that out, too", chromedp.Click(`#attach-on [value="gone:1"]`), chromedp.SendKeys("#attach-password", kb.Enter))
	b.See("it is said", `document.getElementById('said').textContent === '3 computers attached.' && !document.getElementById('attach').open`)
	b.Do("remove one", chromedp.Click(`summary[aria-label="More for newcomer"]`), chromedp.Click(`button[aria-label="Remove newcomer"]`), testbrowser.Press("#sure-yes"))
	b.See("it is gone", `!`+cards("h3")+`.includes('newcomer')`)
	b.Do("be a phone", chromedp.EmulateViewport(320, 640))
	b.See("not wider than the phone", `document.documentElement.scrollWidth <= 320`)
	b.Accessible("all computers on a phone")
}

// Alone, this computer has a second card to add another. Many computers are rows.
func TestOneAndManyComputers(t *testing.T) {
	t.Parallel()
	a := owner{&fake{page: busy(1)}}
	b, base := open(t, a.fake)
	tab(b, "Computers", "/computers")
	b.See("one card, and one to add another", `document.querySelectorAll('.pc').length === 1 && !document.getElementById('add-first').hidden`)
	b.Accessible("one computer")
	b.Do("add one", testbrowser.Press("#add-first"))
	b.See("the dialog", `document.getElementById('pair-dialog').open && document.activeElement.id === 'pair-address'`)

	f := &farm{there: map[string]control.Status{"stranger:1": {Host: "stranger"}}}
	for i := range 14 {
		f.there[fmt.Sprintf("node%02d:31419", i)] = control.Status{Host: fmt.Sprintf("node%02d", i), RunMode: "auto", CPUs: 4}
	}
	s, login := serve(t, a)
	s.Computers = f
	b.Do("another agent", chromedp.Navigate(login.String()))
	b.See("it is live", `document.getElementById('link')?.textContent === 'live' && location.origin !== '`+base+`'`)
	tab(b, "Computers", "/computers")
	b.See("rows", `document.querySelectorAll('.many > .pc').length === 17 && [...document.querySelectorAll('.pc')].every(e => e.offsetHeight < 80)`)
	b.See("one that refuses needs attention", `document.querySelector('.pc .wants')?.textContent === 'This computer is not paired with it' && document.querySelector('.pc').textContent.startsWith('stranger:1')`)
	b.Accessible("many computers")
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
