package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/allowance"
	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
)

// limit changes the limits of a token.
func (w *world) limit(name string, change func(*operate.TokenLimits)) {
	w.t.Helper()
	w.must(operate.SetToken(w.t.Context(), w.p, name, change))
}

// restart starts the project's web server anew.
func (w *world) restart() {
	w.t.Helper()
	var err error
	w.web, w.admin, err = server.New(w.p, server.Part{}).Handlers(func() {})
	w.must(err)
}

// limits returns the limits of a token with the used amounts.
func (p program) limits() (t wire.Token) {
	p.t.Helper()
	if code, text := p.ask("GET", "token", "", &t); code != 200 {
		p.t.Fatalf("HTTP %d, %s", code, text)
	}
	return t
}

// refused checks that a request is refused because of a limit, with its figures and a cure.
func (p program) refused(method, path, body string, says ...string) {
	p.t.Helper()
	var f wire.Fault
	code, text := p.ask(method, path, body, &f)
	for _, want := range append(says, "ask the project's operator for more") {
		if code != 429 || !strings.Contains(f.Error(), want) {
			p.t.Errorf("%s %s: HTTP %d, %s; want %q", method, path, code, text, want)
		}
	}
}

// inline returns a batch of one job with an input of n bytes.
func inline(name string, n int) string {
	return fmt.Sprintf(`{"name": %q, "app": "upper", "quorum": 1, "workunits": [{"inputs": [{"name": "in", "text": %q}]}]}`, name, strings.Repeat(name[:1], n))
}

// A token may store so many bytes. Files count until they are deleted, and output until its batch is retired.
func TestTokenStoresSoMuch(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", nil, 0)
	stores := func(when string, want float64) {
		t.Helper()
		if got := p.limits().Bytes; got.Used != want {
			t.Errorf("%s: %v bytes, want %v", when, got.Used, want)
		}
	}
	ok := func(method, path, body string, into any) {
		t.Helper()
		if code, text := p.ask(method, path, body, into); code != 200 && code != 201 {
			t.Errorf("%s %s: HTTP %d, %s", method, path, code, text)
		}
	}
	if got := p.limits(); got.Name != "lab" || got.Weight != 1 || got.Bytes.Allowed != nil || got.CPUHours.Allowed != nil || got.Unfinished.Allowed != nil {
		t.Errorf("without limits: %+v", got)
	}
	before := w.files(w.p.Download)
	leftNothing := func() {
		t.Helper()
		if now := w.files(w.p.Download); now != before {
			t.Errorf("a refused batch left %d files", now-before)
		}
	}
	wrong := `{"name": "w", "app": "upper", "workunits": [{"inputs": [{"name": "in", "text": "left"}]}, {"fpops_est": 1e31}]}`
	if code, text := p.ask("POST", "batches", wrong, nil); code != 422 {
		t.Errorf("a job that is not possible: HTTP %d, %s", code, text)
	}
	leftNothing()
	w.limit("lab", func(l *operate.TokenLimits) { l.MaxGB = 100.0 / (1 << 30) })
	p.refused("PUT", "files/big", strings.Repeat("x", 101), "stores 0 bytes for this token and would store 101 bytes more, and it may have 100 bytes", "send a smaller file")
	ok("PUT", "files/small", strings.Repeat("x", 60), nil)
	ok("PUT", "files/small", strings.Repeat("x", 60), nil)
	stores("a file was uploaded twice", 60)
	p.refused("PUT", "files/second", strings.Repeat("x", 41), "would store 41 bytes more", "retire batches")
	if code, text := p.ask("PUT", "files/small", strings.Repeat("y", 60), nil); code != 409 {
		t.Errorf("another content: HTTP %d, %s", code, text)
	}
	stores("another content was refused", 60)
	before = w.files(w.p.Download)
	p.refused("POST", "batches", inline("a", 50), "stores 110 bytes", "may have 100 bytes")
	leftNothing()
	s := newSubmitter(w, "other")
	w.limit("other", func(l *operate.TokenLimits) { l.MaxGB = 1.0 / (1 << 30) })
	if got := s.play("03_upload_files"); !strings.Contains(got, "<error_msg>the project stores 0 bytes for this token and would store ") {
		t.Errorf("by BOINC's interface: %s", got)
	}

	var b, staged batchAnswer
	ok("POST", "batches", `{"name": "s", "app": "upper", "quorum": 1, "workunits": [{"inputs": [{"name": "in", "staged": "small"}]}]}`, &staged)
	if code, text := p.ask("DELETE", "files/small", "", nil); code != 409 || !strings.Contains(text, "unfinished jobs need the file") {
		t.Errorf("a file that is needed: HTTP %d, %s", code, text)
	}
	ok("PUT", "files/spare", "xx", nil)
	stores("two files", 62)
	ok("DELETE", "files/spare", "", nil)
	if code, text := p.ask("DELETE", "files/spare", "", nil); code != 404 {
		t.Errorf("a file that is deleted: HTTP %d, %s", code, text)
	}
	ok("PUT", "files/lost", "xx", nil)
	w.must(w.p.Download.Remove(t.Context(), fmt.Sprintf("token%d_lost", 1)))
	if code, text := p.ask("DELETE", "files/lost", "", nil); code != 404 {
		t.Errorf("a file that the operator has deleted: HTTP %d, %s", code, text)
	}
	ok("POST", "batches", inline("b", 40), &b)
	stores("a batch of 40 bytes", 100)
	p.refused("POST", "batches", inline("c", 1), "stores 100 bytes", "may have 100 bytes")

	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	w.step()
	for range 9 { // until all daemons have done their part
		c.compute(c.rpc(2))
		w.step()
	}
	output := p.limits().Bytes.Used
	if output < 100 { // and a description of each
		t.Errorf("the output has %v bytes", output)
	}
	ok("POST", fmt.Sprintf("batches/%d/retire", staged.ID), "", nil)
	if left := p.limits().Bytes.Used; left <= 40 || left >= output {
		t.Errorf("%v bytes are left of %v", left, output)
	}
	ok("POST", fmt.Sprintf("batches/%d/retire", b.ID), "", nil)
	stores("the output is retired", 0)
	w.status() // which calls the doctor
}

// The computing time of a job counts once it is valid or has failed, not a day later, when its files may
// be deleted.
func TestComputingTimeCountsAtOnce(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t, keepFiles, keepFiles)
	w.setUp()
	p := w.token("lab", nil, 0)
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	last := 0.0
	for name, end := range map[string]func(*protocol.SchedulerReply){
		"valid": func(work *protocol.SchedulerReply) { c.compute(work) },
		"failed": func(work *protocol.SchedulerReply) {
			c.rpc(0, protocol.ReportedResult{
				Name: work.Results[0].Name, State: protocol.ClientComputeError, ExitStatus: 1, FinalCPUTime: time.Second, FinalElapsedTime: time.Second,
			})
		},
	} {
		if code, text := p.ask("POST", "batches", inline(name, 3), nil); code != 201 {
			t.Fatalf("HTTP %d, %s", code, text)
		}
		w.step()
		work := c.rpc(1e-3)
		if len(work.Results) != 1 {
			t.Fatalf("got %d results, %v", len(work.Results), work.Messages)
		}
		end(work)
		used := p.limits().CPUHours.Used
		if used <= last {
			t.Errorf("after a job that is %s, %v CPU hours are used, %v before", name, used, last)
		}
		last = used
	}
	w.status() // which calls the doctor
}

// A token gets so much computing time. Then its jobs wait, but not the jobs of others.
func TestTokenComputesSoMuch(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p, other := w.token("lab", nil, 0), w.token("other", nil, 0)
	w.limit("lab", func(l *operate.TokenLimits) { l.MaxCPUHours = 2 })
	submit := func(p program, name string) (b wire.Batch) {
		t.Helper()
		if code, text := p.ask("POST", "batches", strings.Replace(inline(name, 3), `[{"inputs"`, `[{"command_line": "x"}, {"inputs"`, 1), &b); code != 201 {
			t.Fatalf("HTTP %d, %s", code, text)
		}
		return b
	}
	b := submit(p, "a")
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	sent := c.rpc(1e-3).Results
	if len(sent) != 1 {
		t.Fatalf("%d results are sent", len(sent))
	}
	w.must(w.p.Store.Update(t.Context(), func(tx *store.Tx) error {
		old, err := tx.ResultByName(sent[0].Name)
		if err != nil {
			return err
		}
		over := old
		over.ServerState, over.Outcome, over.CPUTime, over.ElapsedTime, over.ReceivedTime = store.Over, store.ClientError, 7200, 7200, w.now()
		ready := over
		ready.FileDeleteState = store.DeleteReady
		if err := tx.SaveResult(old, over); err != nil {
			return err
		}
		return tx.SaveResult(over, ready)
	}))
	p.refused("POST", "batches", inline("z", 1), "have used 2 CPU hours in the last 30 days, and it may use 2", "submit again on 20")
	if got := p.limits(); got.CPUHours.Used != 2 || *got.CPUHours.Allowed != 2 || got.Until.IsZero() || !strings.Contains(got.Held, "its waiting jobs are sent again on 20") {
		t.Errorf("limits %+v", got)
	}
	w.must(w.p.Store.View(t.Context(), func(tx *store.View) error {
		holds, err := allowance.Holds(tx, w.now())
		if len(holds) != 1 || !strings.HasPrefix(holds[0].Text, "token lab has used 2 CPU hours in the last 30 days, and may use 2: its waiting jobs") {
			t.Errorf("for the operator: %+v", holds)
		}
		return err
	}))
	path := fmt.Sprint("batches/", b.ID)
	if p.ask("GET", path, "", &b); !strings.Contains(b.Held, "has used 2 CPU hours") {
		t.Errorf("batch %+v", b)
	}
	for page, wants := range map[string][]string{
		"batches": {"Waiting: the token has used 2 CPU hours", "CPU hours of finished jobs, last 30 days</td><td class=\"number\">2</td><td class=\"number\">2</td>", "no limit"},
		path:      {"Waiting: the token has used 2 CPU hours"},
	} {
		_, german := w.get(page, "Cookie", "starling_token="+p.secret, "Accept-Language", "de")
		if want := "Wartend: das Token hat in den letzten 30 Tagen 2 CPU-Stunden verbraucht"; !strings.Contains(german, want) {
			t.Errorf("the page %s: want %q in %s", page, want, german)
		}
		code, text := w.get(page, "Cookie", "starling_token="+p.secret)
		for _, want := range wants {
			if code != 200 || !strings.Contains(text, want) {
				t.Errorf("the page %s: HTTP %d, want %q in %s", page, code, want, text)
			}
		}
	}
	d := &client{w: w, key: w.user("d@example.org"), name: "d"}
	w.restart() // a scheduler remembers for seconds what tokens have used
	if got := d.rpc(1e6).Results; len(got) != 0 {
		t.Errorf("%d results are sent though the time is used up", len(got))
	}
	submit(other, "o")
	w.step()
	if got := d.rpc(1e6).Results; len(got) != 2 {
		t.Errorf("%d results of another token are sent, want 2", len(got))
	}
	w.limit("lab", func(l *operate.TokenLimits) { l.MaxCPUHours = 3 })
	w.restart()
	b = wire.Batch{}
	if p.ask("GET", path, "", &b); b.Held != "" {
		t.Errorf("batch %+v", b)
	}
	e := &client{w: w, key: w.user("e@example.org"), name: "e"}
	if got := e.rpc(1e6).Results; len(got) != 1 {
		t.Errorf("%d results are sent, want 1", len(got))
	}
}
