package project_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/project"
)

// A server that did not end in order is noticed by the first that starts after it, until the
// database is known to be whole.
func TestMark(t *testing.T) {
	p := &project.Project{Dir: t.TempDir()}
	mark := func(want bool) func(bool) error {
		t.Helper()
		unclean, unmark, err := p.Mark()
		if err != nil || unclean != want {
			t.Fatalf("unclean %v, %v, want %v", unclean, err, want)
		}
		return unmark
	}
	end := func(unmark func(bool) error, whole bool) {
		t.Helper()
		if err := unmark(whole); err != nil {
			t.Fatal(err)
		}
	}
	first := mark(false)
	second := mark(false) // beside the first
	end(first, true)
	end(second, true)
	end(mark(false), false) // as after a kill
	end(mark(true), false)  // it ended before the check did
	third := mark(true)
	end(mark(false), true) // beside it, whose end is not the last
	end(third, true)
	end(mark(false), true)
}

func TestCheckIsNoted(t *testing.T) {
	p := &project.Project{Dir: t.TempDir()}
	if c, err := p.Check(); c != nil || err != nil {
		t.Errorf("at first: %+v, %v", c, err)
	}
	want := project.Check{Since: time.Unix(1e9, 0).UTC(), Table: "result", Done: 3, All: 40}
	if err := p.SetCheck(&want); err != nil {
		t.Fatal(err)
	}
	if c, err := p.Check(); err != nil || *c != want {
		t.Errorf("%+v, %v", c, err)
	}
	for range 2 {
		if err := p.SetCheck(nil); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.Dir, "*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}
