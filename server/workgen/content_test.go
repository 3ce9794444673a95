package workgen_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
	"github.com/starling-grid/starling/server/workgen"
)

func inline(text string) workgen.Given {
	return workgen.Given{Path: "in0", Logical: "in", Content: func() io.Reader { return strings.NewReader(text) }}
}

// Files whose content is given are stored under names made from it, each once, and are put back if
// the file deleter removes them just before the workunits are made.
func TestInputsGivenAsContent(t *testing.T) {
	b := newBench(t, "")
	g := b.generator(t)
	var specs []workgen.Spec
	for i := range 100 {
		specs = append(specs, workgen.Spec{Params: workgen.Params{Name: fmt.Sprint("w", i)}, Inputs: []workgen.Given{inline(fmt.Sprint("text ", i/2))}})
	}
	const first = "in0_497e67dc6be0b9ba" // of "text 0"
	g.Guard = func(*store.Tx) error {
		if _, err := b.files.Size(t.Context(), first); err != nil {
			t.Error(err)
		}
		return b.files.Remove(t.Context(), first)
	}
	_, err := g.Create(t.Context(), specs, storetest.T0)
	must(t, err)
	names := make(map[string]bool)
	for i := range specs {
		_, e := b.workunit(t, fmt.Sprint("w", i))
		name := e.Files[0].Name
		names[name] = true
		f, err := b.files.Open(t.Context(), name)
		must(t, err)
		text, err := io.ReadAll(f)
		must(t, err)
		must(t, f.Close())
		if want := fmt.Sprint("text ", i/2); string(text) != want {
			t.Errorf("w%d has %q, want %q", i, text, want)
		}
	}
	if len(names) != 50 || !names[first] {
		t.Errorf("got %d files: %v", len(names), names)
	}
}

// The content of a file that is made on computers, or stored elsewhere, cannot be given.
func TestContentOfAFileThatIsElsewhere(t *testing.T) {
	for _, kind := range []string{"<generated_locally/>", "<url>http://192.0.2.9/a</url><nbytes>5</nbytes><md5_cksum>5d41402abc4b2a76b9719d911017c592</md5_cksum>"} {
		b := newBench(t, strings.ReplaceAll(packedInput, "<gzip/>", kind))
		_, err := b.generator(t).Create(t.Context(), []workgen.Spec{{Inputs: []workgen.Given{inline("hello")}}}, storetest.T0)
		if err == nil || !strings.Contains(err.Error(), "give its name") {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}
