package httpclient_test

import (
	"crypto/x509"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/starling-grid/starling/internal/httpclient"
)

// TestSystemWithoutCertificates runs itself in a new process, because a process reads the system's
// certificates once.
func TestSystemWithoutCertificates(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system itself verifies certificates")
	}
	if os.Getenv("SSL_CERT_FILE") != os.DevNull {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSystemWithoutCertificates$")
		cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+os.DevNull, "SSL_CERT_DIR="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if _, err := httpclient.Transport("", nil); err != nil {
		t.Fatal(err)
	}
	for r := range bundle.Roots() {
		c, err := x509.ParseCertificate(r.Certificate)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Verify(x509.VerifyOptions{}); r.Constraint == nil && err != nil {
			t.Errorf("%s is not trusted: %v", c.Subject, err)
		}
	}
}
