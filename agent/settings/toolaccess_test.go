package settings_test

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
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
	if st, err := os.Stat(filepath.Join(dir, settings.PasswordFile)); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 { // there its folder protects it
		t.Errorf("got %v, %v", st, err)
	}
	if again, err := settings.Password(dir); err != nil || again != first {
		t.Errorf("got %q, %v", again, err)
	}
}

func TestCheckRemoteHosts(t *testing.T) {
	dir := t.TempDir()
	if err := settings.CheckRemoteHosts(dir); err != nil {
		t.Errorf("without a file: %v", err)
	}
	for text, want := range map[string]string{
		"# mine\n192.0.2.7\n2001:db8::7\nattic.example.org\n; x\nattic\n": "",
		"attic\n192.0.2.7, 192.0.2.8\n":                                   `remote_hosts.cfg:2: "192.0.2.7, 192.0.2.8" is neither`,
		"http://attic/\n":                                                 `remote_hosts.cfg:1: "http://attic/" is neither`,
		"192.0.2.0/24\n":                                                  "neither a host name nor an IP address",
		"-attic\n":                                                        "neither",
		"attic-\n":                                                        "neither",
		".\n":                                                             "neither",
		"a\n_dmarc.example\nattic.\n" + strings.Repeat("a", 254) + "\n": "",
		strings.Repeat("a", 255) + "\n":                                 "neither",
		strings.Repeat("attic.example\n", 10_000):                       "only its first 64 KB are read",
	} {
		must(t, os.WriteFile(filepath.Join(dir, "remote_hosts.cfg"), []byte(text), 0o600))
		if err := settings.CheckRemoteHosts(dir); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// FuzzRemoteHosts puts any text into remote_hosts.cfg. An address is admitted exactly if a line
// names it.
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
		must(t, os.WriteFile(filepath.Join(dir, "remote_hosts.cfg"), []byte(list), 0o600))
		allowed, some := settings.RemoteHosts(dir)
		if got := allowed(peer); got != named || got && !some {
			t.Errorf("%q: let in %v, want %v; anybody: %v", list, got, named, some)
		}
	})
}
