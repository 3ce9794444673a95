package scheduler

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// Each reason has its own text.
func TestSentences(t *testing.T) {
	said := make(map[string]protocol.RefusalCode)
	for _, code := range protocol.RefusalCodes {
		s := sentence(protocol.Refusal{Code: code, App: "app", Need: 2e9, Have: 1e9, Detail: "detail of " + string(code)})
		if strings.Contains(s, string(code)) && strings.HasPrefix(s, "No tasks were sent") {
			t.Errorf("%s has no words", code)
		}
		if other, twice := said[s]; twice {
			t.Errorf("%s and %s are both %q", code, other, s)
		}
		said[s] = code
	}
	if s := sentence(protocol.Refusal{Code: "new"}); !strings.Contains(s, "new") {
		t.Errorf("a code without words is %q", s)
	}
}
