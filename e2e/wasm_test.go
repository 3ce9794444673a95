package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testprogram"
)

// TestWebAssembly makes two agents compute with a WebAssembly application. Their results agree bit
// by bit, an agent that is killed resumes from its checkpoint, and the code that the first task has
// compiled is used by later ones.
func TestWebAssembly(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := emptyProject(t, ctx, "wasm")
	module := buildModule(t, ctx)
	run(t, ctx, p, "app", "add", p.Dir, "mersenne")
	run(t, ctx, p, "version", "add", p.Dir, "mersenne", "--platform", "wasm32-wasip1", "--version", "1.00", "--main", module)
	exponents := []int{4423, 9689}
	work(t, ctx, p, 2, exponents...)
	serve(t, ctx, p)
	killed := newAgent(t, "a1")
	startAgent(t, ctx, killed, p)
	other := newAgent(t, "a2")
	startAgent(t, ctx, other, p)
	await(t, ctx, killed, "a result under way", func(s control.Status) bool {
		for _, k := range s.Tasks {
			if k.Running && k.Fraction > 0.1 {
				return true
			}
		}
		return false
	})
	killed.Process().Kill()
	must(t, killed.Start())
	creditedOnce(t, ctx, p, 2, exponents...)
	before := compiledCode(t, other)
	work(t, ctx, p, 2, 2203)
	creditedOnce(t, ctx, p, 2, append(exponents, 2203)...)
	if after := compiledCode(t, other); after != before {
		t.Errorf("compiled again at %v, after %v", after, before)
	}
}

// compiledCode returns when an agent has put the code of its only module aside.
func compiledCode(t *testing.T, a *testhost.Agent) time.Time {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(a.Dir, "projects", "*", "*..compiled"))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("compiled code: %q", found)
	}
	info, err := os.Stat(found[0])
	must(t, err)
	return info.ModTime()
}

// buildModule builds the example application for WebAssembly.
func buildModule(t *testing.T, ctx context.Context) string {
	t.Helper()
	dir := t.TempDir()
	must(t, testprogram.Build(ctx, dir, []string{"GOOS=wasip1", "GOARCH=wasm"}, "examples/mersenne"))
	path := filepath.Join(dir, "mersenne.wasm")
	must(t, os.Rename(filepath.Join(dir, "mersenne"), path))
	return path
}
