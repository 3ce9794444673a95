package server_test

import (
	"fmt"
	"testing"

	"github.com/starling-grid/starling/server/api/wire"
)

// A sender can get an estimate of a batch's cost and end before the batch is created. The request
// creates nothing.
func TestAPIEstimate(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", []string{"upper"}, 0)
	body := `{"name": "run-1", "app": "upper", "quorum": 2, "fpops_est": 1e12, "workunits": [
		{"inputs": [{"name": "in", "text": "hello"}]}, {"inputs": [{"name": "in", "url": "https://data.example/x", "nbytes": 100, "md5": "0123456789abcdef0123456789abcdef"}]}]}`
	var e wire.Estimate
	code, text := p.ask("POST", "estimate", body, &e)
	if code != 200 || e.Workunits != 2 || e.Results != 4 || e.Flops != 4e12 || e.InputBytes != 105 || e.OutputBytes == 0 || e.Basis != "none" || e.Seconds != nil {
		t.Errorf("HTTP %d, %s", code, text)
	}
	if n := w.status().Workunits.Total; n != 0 {
		t.Errorf("%d workunits were made", n)
	}
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.rpc(1)
	if code, text := p.ask("POST", "estimate", body, &e); code != 200 || e.Basis != "few" || e.Computers != 1 || e.Seconds != nil {
		t.Errorf("with a computer for a quorum of 2: HTTP %d, %s", code, text)
	}
	other := &client{w: w, key: w.user("b@example.org"), name: "b"}
	other.rpc(1)
	if code, text := p.ask("POST", "estimate", body, &e); code != 200 || e.Basis != "computers" || e.Computers != 2 || e.Seconds == nil || *e.Seconds <= 0 || e.End.IsZero() {
		t.Errorf("with two computers: HTTP %d, %s", code, text)
	}
	chain := `{"name": "run-1", "app": "upper", "fpops_est": 1e12, "workunits": [
		{"name": "a", "inputs": [{"name": "in", "text": "hello"}]}, {"name": "b", "inputs": [{"name": "in", "output_of": "a"}]}, {"after": ["b"], "inputs": [{"name": "in", "text": "hello"}]}]}`
	if code, text := p.ask("POST", "estimate", chain, &e); code != 200 || e.Seconds == nil || *e.Seconds != 3000 {
		t.Errorf("three steps of 1,000 s: HTTP %d, %s", code, text)
	}
	for _, tt := range []struct {
		body string
		code int
	}{
		{`{"name": "run-1", "app": "other", "workunits": [{}]}`, 403},
		{`{"name": "run-1", "app": "upper", "workunits": []}`, 422},
		{`{"name": "run-1", "app": "upper", "quorum": -1, "workunits": [{}]}`, 422},
	} {
		if code, text := p.ask("POST", "estimate", tt.body, nil); code != tt.code {
			t.Errorf("%s: HTTP %d, %s", tt.body, code, text)
		}
	}
	var b batchAnswer
	if code, text := p.ask("POST", "batches", `{"name": "run-2", "app": "upper", "workunits": [{"inputs": [{"name": "in", "text": "hello"}]}]}`, &b); code != 201 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	path := fmt.Sprintf("batches/%d/estimate", b.ID)
	e = wire.Estimate{}
	if code, text := p.ask("GET", path, "", &e); code != 200 || e.Workunits != 1 || e.Basis != "computers" || e.Seconds == nil {
		t.Errorf("of a batch: HTTP %d, %s", code, text)
	}
	p.ask("DELETE", fmt.Sprintf("batches/%d", b.ID), "", nil)
	e = wire.Estimate{}
	if code, text := p.ask("GET", path, "", &e); code != 200 || e.Workunits != 0 || e.Text != "done" || *e.Seconds != 0 {
		t.Errorf("of one that is done: HTTP %d, %s", code, text)
	}
	if code, text := p.ask("POST", "batches", chain, &b); code != 201 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	if code, text := p.ask("GET", fmt.Sprintf("batches/%d/estimate", b.ID), "", &e); code != 200 || e.Seconds == nil || *e.Seconds != 3000 {
		t.Errorf("of a chain: HTTP %d, %s", code, text)
	}
	if code, _ := w.token("other", nil, 0).ask("GET", path, "", nil); code != 404 {
		t.Errorf("another token: HTTP %d", code)
	}
}
