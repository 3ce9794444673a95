package settings

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
)

// Names below the data directory, which BOINC's tools use.
const (
	PasswordFile = "gui_rpc_auth.cfg" //nolint:gosec // a name
	hostsFile    = "remote_hosts.cfg"
)

// maxHostsFile is the number of bytes that are read of the list, since it is read for each
// stranger.
const maxHostsFile = 64 << 10

// Password returns the password of a data directory: the first line of its file,
// which is made with a random one if it is not there. An empty file means that
// none is needed.
func Password(dataDir string) (string, error) {
	path := filepath.Join(dataDir, PasswordFile)
	b, err := foreigndir.ReadFile(path, MaxFile)
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

// RemoteHosts returns a function that reports whether another computer may connect, by the hosts
// and addresses in the data directory's file, and whether the file has any. It reads the file again
// for each peer.
func RemoteHosts(dataDir string) (allowed func(net.IP) bool, any bool) {
	allowed = func(ip net.IP) bool {
		for _, host := range remoteHosts(dataDir) {
			if known := net.ParseIP(host); known != nil {
				if known.Equal(ip) {
					return true
				}
				continue
			}
			ips, _ := net.LookupIP(host) // an unknown name does not allow any address
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
	b, _ := readHosts(dataDir) // CheckRemoteHosts reports its faults
	for _, host := range hostLines(b) {
		hosts = append(hosts, host)
	}
	return hosts
}

func readHosts(dataDir string) ([]byte, error) {
	return foreigndir.ReadHead(filepath.Join(dataDir, hostsFile), maxHostsFile)
}

// hostLines yields the lines that name somebody, with their numbers.
func hostLines(text []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			line = strings.TrimSpace(line)
			if line != "" && !strings.ContainsAny(line[:1], "#;") && !yield(n, line) {
				return
			}
		}
	}
}

// hostName is the form of a computer's name, which has at most longestHost characters. A count of them in the
// pattern would take 4 ms to compile, at each start.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?$`)

const longestHost = 254

// CheckRemoteHosts returns the faults of the list of computers that may connect, each with its
// line. A faulty line does not allow any computer. It does not look up names.
func CheckRemoteHosts(dataDir string) error {
	text, err := readHosts(dataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	if len(text) == maxHostsFile {
		errs = append(errs, fmt.Errorf("%s: only its first %d KB are read", hostsFile, maxHostsFile>>10))
	}
	for n, host := range hostLines(text) {
		if net.ParseIP(host) == nil && (len(host) > longestHost || !hostName.MatchString(host)) {
			errs = append(errs, fmt.Errorf("%s:%d: %.60q is neither a host name nor an IP address; put one on each line", hostsFile, n, host))
		}
	}
	return errors.Join(errs...)
}
