package workgen

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// Files are assigned to the places where the template has their name, and the rest in order.
func TestInOrder(t *testing.T) {
	slot := func(names ...string) (in Input) {
		for _, n := range names {
			in.Files = append(in.Files, InputFile{Ref: protocol.FileRef{OpenName: n}})
		}
		return in
	}
	for _, tt := range []struct {
		name, slots, given, want string
	}{
		{"by name", "a b", "y=b x=a", "x y"},
		{"by place", "a b", "x y", "x y"},
		{"both", "a b c", "x z=b y", "x z y"},
		{"a place without a name", "a ?", "y=any x=a", "x y"},
		{"a name that is not there", "a b", "x=a y=c", "no file called c; its files are called a, b"},
		{"a name twice", "a b", "x=a y=a", "two input files have the logical name a"},
		{"too few", "a b", "x=q", "x"}, // which is refused later
	} {
		in := slot(strings.Fields(strings.ReplaceAll(tt.slots, "?", ""))...)
		if strings.Contains(tt.slots, "?") {
			in.Files = append(in.Files, InputFile{})
		}
		var given []Given
		for g := range strings.FieldsSeq(tt.given) {
			path, logical, _ := strings.Cut(g, "=")
			given = append(given, Given{Path: path, Logical: logical})
		}
		out, err := in.inOrder(given)
		var got []string
		for _, g := range out {
			got = append(got, g.Path)
		}
		if text := strings.Join(got, " "); err == nil && text != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.name, text, err, tt.want)
		}
	}
}
