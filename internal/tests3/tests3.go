// Package tests3 runs an S3 service for a test: a Versity gateway over a temporary
// folder, which ends with the test.
package tests3

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/starling-grid/starling/internal/testservice"
)

const (
	access = "starling"
	secret = "loopback-only"
)

// A Service is a running S3 service.
type Service struct {
	addr, dir, program string
	buckets            atomic.Int64
	stop               func() // nil: it does not run
}

// Start starts a service that ends with the test, and puts its keys into the process's environment.
// It builds the service if necessary, which takes a minute or two. With -short it skips the test.
func Start(t *testing.T) *Service {
	t.Helper()
	program := testservice.Program(t, "s3", "versitygw", "buckets are")
	s := &Service{dir: t.TempDir(), addr: testservice.FreeAddress(t), program: program}
	setKeys()
	s.Restart(t)
	return s
}

// setKeys puts the keys, which all services of this package have in common, into the
// environment. They stay there, so that tests which use buckets may run at the same time.
var setKeys = sync.OnceFunc(func() {
	os.Setenv("AWS_ACCESS_KEY_ID", access)
	os.Setenv("AWS_SECRET_ACCESS_KEY", secret)
})

// Stop kills the service, as a power cut would. Its files stay.
func (s *Service) Stop() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// Restart starts the service again after Stop, at the same address.
func (s *Service) Restart(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.program, "--quiet", "--port", s.addr, "--access", access, "--secret", secret, "posix", s.dir)
	s.stop = testservice.Run(t, cmd, func() error {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// Bucket makes a bucket and returns the place of files in it.
func (s *Service) Bucket(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("bucket-%d", s.buckets.Add(1))
	if err := os.Mkdir(filepath.Join(s.dir, name), 0o750); err != nil { // the gateway takes folders for buckets
		t.Fatal(err)
	}
	return s.Place(name + "/project")
}

// Place returns the place of files at a path, BUCKET/PREFIX.
func (s *Service) Place(path string) string {
	return fmt.Sprintf("s3://%s?endpoint=%s&region=us-east-1&tls=false", path, s.addr)
}
