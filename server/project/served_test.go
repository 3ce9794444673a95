package project_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/project"
)

// A server that did not end in order is noticed by the first that starts after it, until the
// database has been found whole.
func TestMark(t *testing.T) {
	p := &project.Project{Dir: t.TempDir()}
	mark := func(want bool) *project.Mark {
		t.Helper()
		m, err := p.Mark()
		if err != nil || m.Unclean != want {
			t.Fatalf("%+v, %v, want unclean %v", m, err, want)
		}
		return m
	}
	do := func(step func() error) {
		t.Helper()
		must(t, step())
	}
	first := mark(false)
	second := mark(false) // in addition to the first
	if first.Others || !second.Others {
		t.Errorf("others: %v and %v", first.Others, second.Others)
	}
	do(first.End)
	do(second.End)
	if err := os.WriteFile(filepath.Join(p.Dir, "serving"), nil, 0o600); err != nil { // as after a kill
		t.Fatal(err)
	}
	do(mark(true).End) // it ended before its check did
	for _, firstEndsLast := range []bool{true, false} {
		checking, beside := mark(true), mark(false)
		if firstEndsLast {
			checking, beside = beside, checking
		}
		do(checking.End)
		do(beside.End)
	}
	third := mark(true)
	fourth := mark(false)
	do(third.Checked)
	do(third.End)
	do(fourth.End)
	do(mark(false).End)
}

func TestCheckIsPublished(t *testing.T) {
	p := &project.Project{Dir: t.TempDir()}
	none := func(when string) {
		t.Helper()
		if c, err := p.Check(); c != nil || err != nil {
			t.Errorf("%s: %+v, %v", when, c, err)
		}
	}
	none("at first")
	want := project.Check{Since: time.Unix(1e9, 0).UTC(), Table: "result", Done: 3, All: 40}
	for range 2 {
		report, done, err := p.StartCheck()
		must(t, err)
		must(t, report(want))
		if c, err := p.Check(); err != nil || c == nil || *c != want {
			t.Errorf("%+v, %v", c, err)
		}
		must(t, done())
		none("after the check")
	}
	must(t, os.WriteFile(filepath.Join(p.Dir, "check.json"), []byte("{}"), 0o600))
	none("after a server was killed during its check")
}
