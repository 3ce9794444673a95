package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A batch whose last workunit was refused is sent again with other command lines. Either all its workunits have these, or
// it is refused.
func TestABatchIsNotAMixtureOfTwoSubmissions(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", []string{"upper"}, 0)
	body := func(command, last string) string {
		var list []map[string]any
		for i := range 501 {
			in := map[string]any{"name": "in", "text": "x"}
			if i == 500 {
				in = map[string]any{"name": "in", "staged": last}
				if last == "" {
					in = map[string]any{"name": "in", "text": "x"}
				}
			}
			list = append(list, map[string]any{"name": fmt.Sprint("w", i), "command_line": command, "inputs": []any{in}})
		}
		b, err := json.Marshal(map[string]any{"name": "run", "app": "upper", "workunits": list})
		must(t, err)
		return string(b)
	}
	if code, text := p.ask("POST", "batches", body("--seed 1", "missing"), nil); code != 422 {
		t.Fatalf("HTTP %d, %s", code, text)
	}
	code, text := p.ask("POST", "batches", body("--seed 2", ""), nil)
	if code == 409 {
		return
	}
	first := storetest.Get(t, w.p.Store, (*store.View).WorkunitByName, "api1_w0")
	last := storetest.Get(t, w.p.Store, (*store.View).WorkunitByName, "api1_w500")
	if !strings.Contains(last.XMLDoc, "--seed 2") || !strings.Contains(first.XMLDoc, "--seed 2") {
		t.Errorf("HTTP %d, %.60s: w0 computes with --seed 2: %v; w500: %v", code, text, strings.Contains(first.XMLDoc, "--seed 2"), strings.Contains(last.XMLDoc, "--seed 2"))
	}
}
