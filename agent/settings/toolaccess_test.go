package settings_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
)

func TestPasswordFile(t *testing.T) {
	dir := t.TempDir()
	first, err := settings.Password(dir)
	if err != nil || len(first) != 32 {
		t.Fatal(first, err)
	}
	if st, err := os.Stat(filepath.Join(dir, settings.PasswordFile)); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", st, err)
	}
	if again, err := settings.Password(dir); err != nil || again != first {
		t.Errorf("got %q, %v", again, err)
	}
}

// FuzzRemoteHosts has anything stand in remote_hosts.cfg: an address is let in exactly
// if a line names it.
func FuzzRemoteHosts(f *testing.F) {
	f.Add("192.0.2.1\n# 192.0.2.7\n; x\n\n 192.0.2.9 \r\n")
	f.Add("::ffff:192.0.2.7\n")
	f.Fuzz(func(t *testing.T, list string) {
		peer := net.IPv4(192, 0, 2, 7)
		named := false
		for line := range strings.SplitSeq(list, "\n") {
			line = strings.TrimSpace(line)
			ip := net.ParseIP(line)
			if ip == nil && line != "" && line[0] != '#' && line[0] != ';' {
				return // a name would be looked up
			}
			named = named || peer.Equal(ip)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "remote_hosts.cfg"), []byte(list), 0o600); err != nil {
			t.Fatal(err)
		}
		allowed, some := settings.RemoteHosts(dir)
		if got := allowed(peer); got != named || got && !some {
			t.Errorf("%q: let in %v, want %v; anybody: %v", list, got, named, some)
		}
	})
}
