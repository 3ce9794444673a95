package e2e_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// host is the name of the handbook's server.
const host = "project.example.org"

// atHome is the home directory of its operator.
const atHome = "/home/operator"

// asAnother replaces sudo, used by root, where it is not installed.
const asAnother = `#!/bin/sh
[ "$1" = -u ] || exec "$@"
user=$2
shift 2
[ "$1" != -H ] || shift
exec runuser -u "$user" -- env HOME="$(getent passwd "$user" | cut -d: -f6)" "$@"
`

// strangersMachine returns a copy of this system with a separate network, in which host is the
// machine itself. Its home directory contains the files that the handbook requires: the packages
// and a certificate, whose authority the machine trusts.
func strangersMachine(t *testing.T, ctx context.Context) *scratch {
	t.Helper()
	dir := t.TempDir()
	handbookPackages(t, dir)
	s := bootAlone(t, ctx, dir)
	s.run("ip", "link", "set", "lo", "up")
	s.run("sh", "-c", "dpkg --purge starling starling-server; mkdir \"$1\" && cp \"$2\"/*.deb \"$1\"", "sh", atHome, dir)
	authority, chain, key := certificates(t)
	for name, text := range map[string]string{
		"/etc/hosts":          "127.0.0.1 localhost " + host + "\n",
		"/usr/local/bin/sudo": asAnother,
		// Nothing can be downloaded, so all installed packages count as the newest.
		"/etc/apt/apt.conf.d/99-offline":                "APT::Get::Assume-Yes \"true\";\nDir::Etc::sourcelist \"/dev/null\";\nDir::Etc::sourceparts \"/dev/null\";\n",
		"/usr/local/share/ca-certificates/handbook.crt": authority,
		atHome + "/fullchain.pem":                       chain,
		atHome + "/privkey.pem":                         key,
		"/etc/boinc-client/cc_config.xml":               boincSettings,
		"/etc/boinc-client/global_prefs_override.xml":   boincPreferences,
	} {
		path := s.root + name
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o755))
	}
	s.run("update-ca-certificates")
	return s
}

// startPostgres starts the cluster of the system's package, as its installation does.
func startPostgres(s *scratch) {
	s.t.Helper()
	s.run("bash", "-c", `set -e
pg_lsclusters -h | grep -q . || pg_createcluster "$(ls /usr/lib/postgresql | tail -n 1)" main
systemctl start "postgresql@$(pg_lsclusters -h | awk 'NR == 1 { print $1 "-" $2 }')"`)
}

// certificates makes an authority and a certificate of it for host with its key, as PEM.
func certificates(t *testing.T) (authority, chain, key string) {
	t.Helper()
	issue := func(template, by *x509.Certificate, k, signer *ecdsa.PrivateKey) string {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, by, k.Public(), signer)
		must(t, err)
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	}
	var keys [2]*ecdsa.PrivateKey
	for i := range keys {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(t, err)
		keys[i] = k
	}
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "The handbook's authority"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{host}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.MarshalPKCS8PrivateKey(keys[1])
	must(t, err)
	return issue(root, root, keys[0], keys[0]), issue(leaf, root, keys[1], keys[0]), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}
