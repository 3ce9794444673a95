package view_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/server/operate/view"
)

func TestFileFailure(t *testing.T) {
	for status, want := range map[int64]string{1: "", 0: "", -131: "volunteer allows", -119: "checksum", -224: "denied", -107: "could not have the file (-107)"} {
		if got := view.FileFailure(status); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}
