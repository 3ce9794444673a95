package validator

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/hook"
)

// A long-running program decides about one workunit after the other. It may also answer that it
// cannot decide now. One whose answer does not fit the question is replaced.
func TestLines(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	dir := t.TempDir()
	const script = `#!/bin/sh
echo started >>starts
while read -r line; do
	case $line in
	*'"name":"wu_2"'*) echo '{"canonical": "", "results": {"another_0": "valid"}}' ;;
	*'"name":"wu_1"'*) echo '{"error": "the disk is away"}' ;;
	*) echo '{"canonical": "wu_0", "results": {"wu_0": "valid"}}' ;;
	esac
done
`
	if err := os.WriteFile(filepath.Join(dir, "judge"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	pool := new(hook.Pool)
	defer pool.Close()
	for i, tt := range []struct {
		outputs []string
		want    string
	}{{[]string{"a"}, "V"}, {[]string{"a", "b"}, "??"}, {[]string{"b"}, "V"}, {[]string{"a", "b", "c"}, "???"}, {[]string{"b"}, "V"}} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			w := newWorld(t, 1, tt.outputs...)
			w.v.Checker = func(context.Context, int64) (Checker, error) {
				return New("lines:./judge", Env{Dir: dir, App: "upper", Files: w.files, Pool: pool})
			}
			if got := w.pass(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if starts, err := os.ReadFile(filepath.Join(dir, "starts")); err != nil || strings.Count(string(starts), "\n") != 2 {
		t.Errorf("started: %q, %v", starts, err)
	}
}
