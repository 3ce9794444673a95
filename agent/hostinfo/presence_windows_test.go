package hostinfo_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
)

// TestSessions lists the sessions of people. Wine does not have the times of their input, but
// Windows does.
func TestSessions(t *testing.T) {
	all, err := hostinfo.Sessions()
	if err != nil {
		t.Skipf("the input of other sessions is NOT tested: %v", err)
	}
	t.Logf("%+v", all)
	for _, s := range all {
		if s.Now.IsZero() || time.Since(s.Now).Abs() > time.Minute || s.Input.After(s.Now) {
			t.Errorf("got %+v", s)
		}
	}
}
