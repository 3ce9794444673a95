package contact_test

import (
	"slices"
	"testing"

	"github.com/starling-grid/starling/contact"
)

func TestReasons(t *testing.T) {
	for _, c := range []struct{ messages, want []string }{
		{nil, nil},
		{[]string{"No tasks sent"}, []string{"No tasks sent"}},
		{[]string{"No tasks sent", "Project has no tasks available"}, []string{"Project has no tasks available"}},
		{[]string{"No work sent", "a", "b"}, []string{"a", "b"}},
		{[]string{"Welcome", "No tasks sent"}, []string{"Welcome", "No tasks sent"}},
	} {
		if got := contact.Reasons(c.messages); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.messages, got, c.want)
		}
	}
}
