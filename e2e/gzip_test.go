package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
)

// TestCompressedInputs makes our agent and BOINC's client download an input file in compressed
// form, the only one left on the server. Both verify the unpacked content and compute with it.
func TestCompressedInputs(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"agent", "BOINC's client"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			ctx := patience(t)
			p := newProject(t, ctx)
			text := packedWork(t, ctx, p)
			plain, err := filepath.Glob(filepath.Join(p.Dir, "download", "*", "text_*"))
			if err != nil || len(plain) != 2 {
				t.Fatalf("in download: %v, %v", plain, err)
			}
			for _, name := range plain {
				if strings.HasSuffix(name, ".gz") {
					continue
				}
				must(t, os.Remove(name))
			}
			serve(t, ctx, p)
			if host == "agent" {
				startAgent(t, ctx, newAgent(t, "a"), p)
			} else {
				startBOINC(t, ctx).do(ctx, "--project_attach", p.URL, p.Key)
			}
			if _, err := p.AwaitDone(ctx); err != nil {
				t.Fatal(err)
			}
			b, err := p.Outcome(ctx, "shout_0", "out")
			if err != nil || string(b) != strings.ToUpper(text) {
				t.Errorf("outcome %.20q, %d bytes, %v", b, len(b), err)
			}
		})
	}
}

// packedWork makes a task whose input file is downloaded compressed, and returns the file's
// content.
func packedWork(t *testing.T, ctx context.Context, p *testhost.Project) (text string) {
	t.Helper()
	text = strings.Repeat("hello\n", 10000)
	program, in := written(t, "shout", "#!/bin/sh\ntr a-z A-Z <in >out\n"), written(t, "text", text)
	publish(t, ctx, p, "shout", "--main", program, "--plain")
	template := "<file_info><number>0</number><gzip/></file_info>\n" +
		"<workunit><file_ref><file_number>0</file_number><open_name>in</open_name></file_ref></workunit>\n"
	must(t, os.WriteFile(filepath.Join(p.Dir, "templates", "shout_in"), []byte(template), 0o600))
	job(t, ctx, p, "shout", "shout_0", "--input", in)
	return text
}
