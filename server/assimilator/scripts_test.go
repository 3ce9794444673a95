package assimilator_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/store"
)

// The script of a BOINC project's script_assimilator gets the same arguments as from BOINC.
func TestScriptsOfBOINC(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed; the adapter of BOINC's scripts is NOT tested")
	}
	adapter, err := filepath.Abs("../../examples/boinc-scripts/assimilate.py")
	must(t, err)
	dir := t.TempDir()
	files := openFiles(t, dir)
	for _, name := range []string{"r1_0", "r1_1"} {
		if _, err := files.Put(t.Context(), name, strings.NewReader("answer")); err != nil {
			t.Fatal(err)
		}
	}
	must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	script := "#!/bin/sh\n[ -x ../bin/store ] && echo \"$*\" >../told && [ ! -e ../full ]\n"
	must(t, os.WriteFile(filepath.Join(dir, "bin", "store"), []byte(script), 0o700))
	wu := store.Workunit{ID: 7, Name: "wu", Batch: 3}
	canonical := &store.Result{ID: 9, Name: "wu_0", ElapsedTime: 1.5, XMLDocIn: protocol.Result{
		Name: "wu_0", FileRefs: []protocol.FileRef{{FileName: "r1_0", OpenName: "out"}, {FileName: "r1_1", OpenName: "log"}},
	}.XML()}
	paths := make([]any, 0, 2)
	for _, name := range []string{"r1_0", "r1_1"} {
		path, err := files.Locate(t.Context(), name)
		must(t, err)
		paths = append(paths, path)
	}
	failed := wu
	failed.ErrorMask = 3
	for _, tt := range []struct {
		options   string
		wu        store.Workunit
		canonical *store.Result
		want      string
	}{
		{`--script store`, wu, canonical, fmt.Sprintf("7 %s %s\n", paths...)},
		{`--script "store wu_name files2 result_id runtime batch_id"`, wu, canonical, fmt.Sprintf("wu %s out %s log 9 1.500000 3\n", paths...)},
		{`--script "store files"`, failed, nil, "--error 3 wu 7 3\n"},
	} {
		a, err := assimilator.New("exec:python3 "+adapter+" "+tt.options, assimilator.Env{Dir: dir, App: "upper", Files: files})
		must(t, err)
		err = a.Assimilate(t.Context(), tt.wu, nil, tt.canonical)
		told, _ := os.ReadFile(filepath.Join(dir, "told"))
		if err != nil || string(told) != tt.want {
			t.Errorf("%s: told %q, want %q; %v", tt.options, told, tt.want, err)
		}
		must(t, os.WriteFile(filepath.Join(dir, "full"), nil, 0o600))
		if a.Assimilate(t.Context(), tt.wu, nil, tt.canonical) == nil {
			t.Errorf("%s: a script that failed has taken an outcome", tt.options)
		}
		must(t, os.Remove(filepath.Join(dir, "full")))
	}
}
