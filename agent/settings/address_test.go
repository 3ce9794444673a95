package settings_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol"
)

// Every fault of an address has a text in German, and the English one is the protocol's.
func TestMasterURL(t *testing.T) {
	for _, address := range []string{"ftp://p.example/", "http://localhost/", "http://p.example:x/", "http://p.example/<b>", "http://p.example/?q"} {
		_, err := settings.MasterURL(address)
		_, want := protocol.CanonicalMasterURL(address)
		if err == nil || err.Error() != want.Error() {
			t.Errorf("%s: got %v, want %v", address, err, want)
		} else if got := sysfault.Text(err).In("de"); !strings.HasPrefix(got, "URL des Projekts \""+address+"\": ") {
			t.Errorf("%s: in German %q", address, got)
		}
	}
	if got, err := settings.MasterURL("https://P.example"); got != "https://p.example/" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
