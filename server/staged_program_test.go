package server_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
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

// The files of a version that is removed stay as long as jobs need them as inputs.
func TestARemovedVersionTakesNoInput(t *testing.T) {
	t.Parallel()
	w, _ := newSite(t)
	w.setUp()
	p := w.token("lab", nil, 0)
	params := w.file("params.dat", "1 2 3")
	name, _, err := workgen.PhysicalName(params)
	w.must(err)
	w.must(operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "upper", Number: "7.00", Platform: "x86_64-pc-linux-gnu", Files: []workgen.Given{{Path: params}}, Main: w.file("main", "#!/bin/sh\n"),
	}, w.now()))
	code, text := p.ask("POST", "batches", fmt.Sprintf(`{"name":"x","app":"upper","workunits":[{"inputs":[{"name":"in","staged":%q}]}]}`, name), nil)
	if code != 201 {
		t.Fatalf("HTTP %d %s", code, text)
	}
	spec := operate.VersionSpec{App: "upper", Number: "7.00"}
	_, err = operate.Deprecate(t.Context(), w.p, spec, false, w.now())
	w.must(err)
	gone, err := operate.RemoveVersion(t.Context(), w.p, spec)
	w.must(err)
	if _, err := w.p.Download.Size(t.Context(), name); err != nil {
		t.Errorf("a job that waits has lost its input: %v; removed were %v", err, gone[0].Files)
	}
}
