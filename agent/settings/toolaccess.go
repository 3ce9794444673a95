package settings

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
)

// Names below the data directory, as BOINC's tools know them.
const (
	PasswordFile = "gui_rpc_auth.cfg" //nolint:gosec // a name
	hostsFile    = "remote_hosts.cfg"
)

// maxHostsFile is how much of the list is read: it is read for each stranger.
const maxHostsFile = 64 << 10

// Password returns the password of a data directory: the first line of its file,
// which is made with a random one if it is not there. An empty file means that
// none is needed.
func Password(dataDir string) (string, error) {
	path := filepath.Join(dataDir, PasswordFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		var random [16]byte
		_, _ = rand.Read(random[:])
		password := hex.EncodeToString(random[:])
		return password, atomicfile.Write(path, []byte(password+"\n"), 0o600)
	} else if err != nil {
		return "", fmt.Errorf("%s: %w; without the password, BOINC's tools cannot connect", path, err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line), nil
}

// RemoteHosts returns what tells whether another computer may connect, by the
// hosts and addresses in the data directory's file, and whether there are any.
// The file is read again for each peer.
func RemoteHosts(dataDir string) (allowed func(net.IP) bool, any bool) {
	allowed = func(ip net.IP) bool {
		for _, host := range remoteHosts(dataDir) {
			if known := net.ParseIP(host); known != nil {
				if known.Equal(ip) {
					return true
				}
				continue
			}
			ips, _ := net.LookupIP(host) // one that is not known allows nobody
			for _, known := range ips {
				if known.Equal(ip) {
					return true
				}
			}
		}
		return false
	}
	return allowed, len(remoteHosts(dataDir)) > 0
}

func remoteHosts(dataDir string) (hosts []string) {
	f, err := os.Open(filepath.Join(dataDir, hostsFile))
	if err != nil {
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxHostsFile))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.ContainsAny(line[:1], "#;") {
			hosts = append(hosts, line)
		}
	}
	return hosts
}
