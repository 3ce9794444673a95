package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestAChainLeavesAHostWithItsFiles makes a task create a file that stays on its agent, which then
// wants no more work. The agent uploads the file when it is ordered to, and another agent computes
// the next workunit with it.
func TestAChainLeavesAHostWithItsFiles(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := emptyProject(t, ctx, "chain")
	set(t, p, map[string]string{"daily_result_quota": "0", "min_sendwork_interval": "0", "affinity_silence_minutes": "0.05", "affinity_hours": "0.001"})
	program, in := written(t, "shout", "#!/bin/sh\ncat in in >made\ntr a-z A-Z <in >out\n"), written(t, "text", "hello\n")
	publish(t, ctx, p, "shout", "--main", program, "--plain")
	const output = `<file_info><name><OUTFILE_0/></name><max_nbytes>1000</max_nbytes><url><UPLOAD_URL/></url></file_info>
<file_info><name><OUTFILE_1/></name><max_nbytes>1000</max_nbytes><sticky/></file_info>
<result>
<file_ref><file_name><OUTFILE_0/></file_name><open_name>out</open_name></file_ref>
<file_ref><file_name><OUTFILE_1/></file_name><open_name>made</open_name><no_validate/></file_ref>
</result>
`
	must(t, os.WriteFile(filepath.Join(p.Dir, "templates", "shout_out"), []byte(output), 0o600))
	create := func(args ...string) {
		t.Helper()
		run(t, ctx, p, append([]string{"work", "create", p.Dir, "shout", "--rsc-fpops-est", "1e9", "--rsc-fpops-bound", "1e15", "--delay-bound", "86400"}, args...)...)
	}
	create("--name", "link_0", "--input", in+"=in")
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	var by []int64
	until := func(links int, agents ...*testhost.Agent) {
		t.Helper()
		testwait.Try(t, ctx, "links", func() error {
			for _, a := range agents {
				_, _ = a.Run(ctx, "update", p.URL)
			}
			if by = chainHosts(t, ctx, p, by, links); len(by) < links {
				return fmt.Errorf("only %d links are done, by %v", len(by), by)
			}
			return nil
		})
	}
	until(1, a)
	if _, err := a.Run(ctx, "nomorework", p.URL); err != nil {
		t.Fatal(err)
	}
	var r struct{ Outputs []struct{ Name string } }
	if err := json.Unmarshal([]byte(run(t, ctx, p, "result", "show", p.Dir, "link_0_0", "--json")), &r); err != nil || len(r.Outputs) != 2 {
		t.Fatalf("outputs %+v, %v", r.Outputs, err)
	}
	create("--name", "link_1", "--generated", r.Outputs[1].Name+"=in", "--predecessor", "link_0")
	b := newAgent(t, "b")
	startAgent(t, ctx, b, p)
	until(2, a, b)
	if by[0] == by[1] {
		t.Errorf("both links were computed by host %d", by[0])
	}
	if _, err := p.AwaitDone(ctx); err != nil {
		t.Fatal(err)
	}
	text, err := p.Outcome(ctx, "link_1", "out")
	if err != nil || string(text) != strings.Repeat("HELLO\n", 2) {
		t.Errorf("outcome %q, %v", text, err)
	}
}
