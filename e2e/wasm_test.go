package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testprogram"
)

// TestWebAssembly makes two agents compute with a WebAssembly application. Their results agree bit
// by bit, and an agent that is killed resumes from its checkpoint.
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
	startAgent(t, ctx, newAgent(t, "a2"), p)
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
