// Package tests3 runs an S3 service for a test: a Versity gateway over a temporary
// folder, which ends with the test.
package tests3

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	access = "starling"
	secret = "loopback-only"
)

// A Service is a running S3 service.
type Service struct {
	addr, dir, program string
	buckets            int
	stop               func() // nil: it does not run
}

// Start starts a service that ends with the test, and puts its keys into the test's
// environment. The service is built first if it has not been yet, which takes a
// minute or two; -short skips the test.
func Start(t *testing.T) *Service {
	t.Helper()
	if testing.Short() {
		t.Skip("an S3 service takes long to build; buckets are NOT tested")
	}
	_, here, _, _ := runtime.Caller(0)
	mod := filepath.Join(filepath.Dir(here), "..", "..", "tools", "s3.mod")
	out, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "-modfile="+mod, "versitygw").CombinedOutput()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("build the S3 service: %v\n%s", err, out)
		}
		t.Skipf("no S3 service: %v; buckets are NOT tested\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	s := &Service{dir: t.TempDir(), addr: freePort(t), program: lines[len(lines)-1]}
	t.Setenv("AWS_ACCESS_KEY_ID", access)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secret)
	t.Cleanup(func() { s.Stop() })
	s.Restart(t)
	return s
}

// Stop kills the service, as a power cut would. What it holds stays.
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
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	s.stop = func() {
		_ = cmd.Process.Kill()
		<-ended
	}
	for {
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("the S3 service ended: %v\n%s", cmd.ProcessState, said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Bucket makes a bucket and returns the place of files in it.
func (s *Service) Bucket(t testing.TB) string {
	t.Helper()
	s.buckets++
	name := fmt.Sprintf("bucket-%d", s.buckets)
	if err := os.Mkdir(filepath.Join(s.dir, name), 0o750); err != nil { // what the gateway takes for a bucket
		t.Fatal(err)
	}
	return s.Place(name + "/project")
}

// Place returns the place of files at a path, BUCKET/PREFIX.
func (s *Service) Place(path string) string {
	return fmt.Sprintf("s3://%s?endpoint=%s&region=us-east-1&tls=false", path, s.addr)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
