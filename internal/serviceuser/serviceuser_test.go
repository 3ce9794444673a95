package serviceuser_test

import (
	"testing"

	"github.com/starling-grid/starling/internal/serviceuser"
)

// The SIDs belong to services that every Windows has. Microsoft publishes them.
func TestSID(t *testing.T) {
	for service, want := range map[string]string{
		"TrustedInstaller": "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
		"trustedinstaller": "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
	} {
		if got := serviceuser.SID(service); got != want {
			t.Errorf("%s: got %s, want %s", service, got, want)
		}
	}
	if got := serviceuser.Account("x"); got != `NT SERVICE\x` {
		t.Errorf("got %q", got)
	}
}
