package server_test

import (
	"fmt"
	"testing"

	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
)

// A file that a computer is to fetch stays when a job that names it is over.
func TestAnOrderedFileStays(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", nil, 0)
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.rpc(1)
	name, err := operate.StageFile(t.Context(), w.p, w.file("table.dat", "1 2 3"), "")
	w.must(err)
	w.must(operate.OrderFile(t.Context(), w.p, c.host, store.FilePut, name, 0, w.now()))
	var b batchAnswer
	code, text := p.ask("POST", "batches", fmt.Sprintf(`{"name":"x","app":"upper","workunits":[{"inputs":[{"name":"in","staged":%q}]}]}`, name), &b)
	if code != 201 {
		t.Fatalf("HTTP %d %s", code, text)
	}
	p.ask("DELETE", fmt.Sprintf("batches/%d", b.ID), "", nil)
	for range 5 {
		w.step()
	}
	if _, err := w.p.Download.Size(t.Context(), name); err != nil {
		t.Errorf("the computer cannot fetch it: %v", err)
	}
}
