package workgen_test

import (
	"testing"

	"github.com/starling-grid/starling/server/workgen"
)

func TestNamesThatTheAssimilatorNeeds(t *testing.T) {
	text := workgen.OutputText([]workgen.OutputFile{{Logical: "out", MaxNBytes: 9}, {Logical: "result.json", MaxNBytes: 9}})
	for assimilator, refused := range map[string]bool{"copy": true, "exec:take": false} {
		if err := workgen.CheckNames("x_out", text, assimilator); (err != nil) != refused {
			t.Errorf("%s: %v", assimilator, err)
		}
	}
}
