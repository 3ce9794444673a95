package api

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/state"
)

// Undoing is proposed while it is possible, and not afterwards.
func TestWhatIsProposedWhileAProjectLeaves(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, tt := range []struct {
		name   string
		ending state.Ending
		want   string
	}{
		{"it stays", state.Ending{}, ""},
		{"a reset that can be undone", state.Ending{Kind: state.Resetting, At: now.Add(time.Minute)}, "being reset; undo that first"},
		{"a detach that can be undone", state.Ending{Kind: state.Detaching, At: now.Add(time.Minute)}, "being detached; undo that first"},
		{"a reset at once", state.Ending{Kind: state.Resetting, At: now}, "being reset, which can no longer be undone; try again"},
	} {
		err := leaving(state.Project{MasterURL: "http://p.example/", Ending: tt.ending}, now)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}
