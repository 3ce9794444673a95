package appipc

import (
	"strings"
	"testing"
)

func TestSplitCommandLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                        nil,
		"  a  b\tc\n":             {"a", "b", "c"},
		`--x='1 2' "3 4" '' d"e"`: {"--x=1 2", "3 4", "", "de"},
		`"it's" 'say "hi"'`:       {"it's", `say "hi"`},
		`a "open end`:             {"a", "open end"},
		`back\ slash`:             {`back\`, "slash"},
	} {
		if got := SplitCommandLine(line); strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
