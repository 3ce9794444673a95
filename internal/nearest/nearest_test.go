package nearest_test

import (
	"testing"

	"github.com/starling-grid/starling/internal/nearest"
)

func TestWord(t *testing.T) {
	known := []string{"open_name", "min_quorum", "max_nbytes", "max_ncpus", "max_ncpu_temperature", "url"}
	for word, want := range map[string]string{
		"open_nam": "open_name", "Open_Name": "open_name", "min_qourum": "min_quorum", "max": "max_nbytes",
		"uri": "url", "max_ncpu": "max_ncpus", "colour": "", "": "",
	} {
		if got := nearest.Word(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
