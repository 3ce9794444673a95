package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// after submits a chain: b reads the output of a, and c waits for both.
func (p program) after(name string) (b batchAnswer) {
	p.t.Helper()
	code, text := p.ask("POST", "batches", `{"name": "`+name+`", "app": "upper", "quorum": 1, "workunits": [
		{"name": "a", "inputs": [{"name": "in", "text": "hello"}]},
		{"name": "b", "inputs": [{"name": "in", "output_of": "a"}]},
		{"name": "c", "after": ["a", "b"], "inputs": [{"name": "in", "output_of": "a", "file": "out"}]}]}`, &b)
	if code != 201 {
		p.t.Fatalf("HTTP %d, %s", code, text)
	}
	return b
}

// states returns the states of a batch's workunits, with the reasons of failures.
func (p program) states(b batchAnswer) string {
	p.t.Helper()
	var all struct {
		Workunits []struct {
			Name, State string
			Errors      []string
		}
	}
	if code, text := p.ask("GET", fmt.Sprintf("batches/%d/workunits", b.ID), "", &all); code != 200 {
		p.t.Fatalf("HTTP %d, %s", code, text)
	}
	var out []string
	for _, wu := range all.Workunits {
		out = append(out, strings.TrimSpace(wu.Name+" "+wu.State+" "+strings.Join(wu.Errors, ", ")))
	}
	return strings.Join(out, "; ")
}

// A workunit gets the output of another one as its input, when that has succeeded. The file stays
// until all have it that need it.
func TestAPIAfter(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", nil, 0)
	before := w.files(w.p.Download)
	b := p.after("run")
	w.step()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	for i, want := range []string{"a", "b", "c"} {
		reply := c.fetch()
		if len(reply.Results) != 1 || reply.Results[0].WorkunitName != fmt.Sprintf("api%d_%s", b.ID, want) {
			t.Fatalf("%d: got %+v, %+v, want %s", i, reply.Results, reply.Messages, want)
		}
		c.compute(reply)
		w.step()
		w.step() // the one assimilates, and the next passes the output on
	}
	w.step()
	if got := p.states(b); got != "a canonical; b canonical; c canonical" {
		t.Errorf("got %s", got)
	}
	for _, name := range []string{"b", "c"} {
		if code, text := p.ask("GET", fmt.Sprintf("batches/%d/workunits/%s/files/out", b.ID, name), "", nil); code != 200 || text != "HELLO" {
			t.Errorf("%s: HTTP %d, %q", name, code, text)
		}
	}
	if left := w.files(w.p.Download); left != before {
		t.Errorf("%d files are left in download/, %d were there before", left, before)
	}
	w.status()
}

// If a workunit fails, those after it do, too. They can be revived after it.
func TestAPIAfterAFailure(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t, keepFiles, keepFiles)
	w.setUp()
	p := w.token("lab", nil, 0)
	b := p.after("run")
	w.step()
	name := func(wu string) string { return fmt.Sprintf("api%d_%s", b.ID, wu) }
	id := func(wu string) int64 {
		return storetest.Get(t, w.p.Store, (*store.View).WorkunitByName, name(wu)).ID
	}
	cancel := func(undo bool) {
		_, err := operate.CancelWork(t.Context(), w.p, operate.CancelSpec{IDs: []int64{id("a")}, Undo: undo}, w.now())
		w.must(err)
	}
	cancel(false)
	for range 4 {
		w.step()
	}
	if got := p.states(b); got != "a error cancelled; b error predecessor failed; c error predecessor failed" {
		t.Fatalf("got %s", got)
	}
	if history := storetest.Get(t, w.p.Store, (*store.View).WorkunitHistory, id("b")); !strings.Contains(fmt.Sprint(history), "workunit "+name("a")+", after which it comes, was given up") {
		t.Errorf("history %v", history)
	}
	w.status()
	revive := func() {
		for _, wu := range []string{"b", "c"} {
			w.retry(operate.RetrySpec{IDs: []int64{id(wu)}, Again: true})
			w.step()
		}
	}
	revive()
	if got := p.states(b); got != "a error cancelled; b error predecessor failed; c error predecessor failed" {
		t.Errorf("revived before the one that they need: %s", got)
	}
	cancel(true)
	revive()
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	for range 3 {
		c.compute(c.fetch())
		w.step()
		w.step()
	}
	if got := p.states(b); got != "a canonical; b canonical; c canonical" {
		t.Errorf("revived after it: %s", got)
	}
	w.status()
}

// A workunit comes only after others that are listed before it, so that circles are impossible.
func TestAPIAfterIsRefused(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", nil, 0)
	n := 0
	for workunits, want := range map[string]string{
		`{"name": "a", "after": ["a"]}`:                                                     `comes after "a", which is not listed before it`,
		`{"name": "a", "after": ["b"]}, {"name": "b", "after": ["a"]}`:                      `"a" comes after "b", which is not listed before it`,
		`{"name": "a", "inputs": [{"name": "in", "output_of": "x"}]}`:                       `comes after "x"`,
		`{"name": "a", "inputs": [{"name": "in", "file": "out"}]}`:                          `names a file, and no workunit`,
		`{"name": "a"}, {"inputs": [{"name": "in", "output_of": "a", "text": "x"}]}`:        `and has other content`,
		`{"name": "a"}, {"inputs": [{"name": "in", "output_of": "a", "file": "nonesuch"}]}`: `has no output "nonesuch": the outputs of upper are out`,
	} {
		code, text := p.ask("POST", "batches", fmt.Sprintf(`{"name": "run-%d", "app": "upper", "workunits": [%s]}`, n, workunits), nil)
		n++
		if code != 422 || !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), want) {
			t.Errorf("%s: HTTP %d, %s", workunits, code, text)
		}
	}
}
