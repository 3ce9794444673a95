package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAChangedProgramIsFetchedAgain changes bytes of a program without changing its size and times.
func TestAChangedProgramIsFetchedAgain(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	work(t, ctx, p, 1, 2203)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	startAgent(t, ctx, a, p)
	if _, err := p.AwaitDone(ctx); err != nil {
		t.Fatal(err)
	}
	must(t, a.Stop())
	programs, err := filepath.Glob(filepath.Join(a.Dir, "projects", "*", "mersenne_*"))
	if err != nil || len(programs) != 1 {
		t.Fatalf("programs %q, %v", programs, err)
	}
	info, err := os.Stat(programs[0])
	must(t, err)
	good, err := os.ReadFile(programs[0])
	must(t, err)
	bad := append([]byte(nil), good...)
	bad[len(bad)/2] ^= 1
	must(t, os.WriteFile(programs[0], bad, info.Mode()))
	must(t, os.Chtimes(programs[0], info.ModTime(), info.ModTime()))
	work(t, ctx, p, 1, 4423)
	must(t, a.Start())
	c, err := p.AwaitDone(ctx)
	must(t, err)
	if c.Workunits.Canonical != 2 {
		t.Errorf("%+v", c)
	}
	log, err := os.ReadFile(a.Log())
	if err != nil || !strings.Contains(string(log), "files of a result are missing or have changed") || !strings.Contains(string(log), filepath.Base(programs[0])) {
		t.Errorf("the log does not say so, %v", err)
	}
	now, err := os.ReadFile(programs[0])
	if err != nil || string(now) != string(good) {
		t.Errorf("the program is not what it was, %v", err)
	}
}
