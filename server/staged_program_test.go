package server_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A job that names a program of the project as its input does not have it deleted.
func TestAJobDeletesNoProgram(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", nil, 0)
	versions, err := store.Read(t.Context(), w.p.Store, (*store.View).AllAppVersions)
	w.must(err)
	var programs []string
	for _, v := range versions {
		e, err := protocol.ParseElements([]byte(v.XMLDoc))
		w.must(err)
		for _, f := range e.Files {
			programs = append(programs, f.Name)
		}
	}
	var list []string
	for _, name := range programs {
		list = append(list, fmt.Sprintf(`{"inputs":[{"name":"in","staged":%q}]}`, name))
	}
	var b batchAnswer
	code, text := p.ask("POST", "batches", `{"name":"x","app":"upper","workunits":[`+strings.Join(list, ",")+`]}`, &b)
	t.Logf("HTTP %d %s", code, text)
	if code < 300 {
		p.ask("DELETE", fmt.Sprintf("batches/%d", b.ID), "", nil)
	}
	for range 5 {
		w.step()
	}
	for _, name := range programs {
		if _, err := w.p.Download.Size(t.Context(), name); errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the project has lost its program %s", name)
		}
	}
}
