package sharedlib_test

import (
	"testing"

	"github.com/starling-grid/starling/internal/sharedlib"
)

func TestErrorsAreInWords(t *testing.T) {
	texts := map[int32]string{-1001: "no driver is installed"}
	if err := sharedlib.Check("clX", 0, texts); err != nil {
		t.Errorf("a success is %v", err)
	}
	for code, want := range map[int32]string{-1001: "clX: no driver is installed (-1001)", -77: "clX: error -77"} {
		if err := sharedlib.Check("clX", code, texts); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
