package remote_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/control/remote"
	"github.com/starling-grid/starling/internal/testerr"
)

// An agent shows its status. Calls that need more panic.
type agent struct{ control.Agent }

func (agent) Status(context.Context) (control.Status, error) {
	return control.Status{Running: true, Version: "from afar"}, nil
}

// serve starts an agent that answers on loopback.
func serve(t *testing.T) (s *remote.Server, address string) {
	t.Helper()
	s, err := remote.New(t.TempDir(), 1, control.Handler(agent{}), slog.New(slog.DiscardHandler))
	must(t, err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

func invite(t *testing.T, s *remote.Server) control.Invitation {
	t.Helper()
	i, err := s.Invite()
	must(t, err)
	return i
}

// status returns the error of requesting the status from a controller's folder.
func status(t *testing.T, dir, address string) error {
	t.Helper()
	c, err := remote.NewClient(dir, address)
	if err != nil {
		return err
	}
	s, err := c.Status(t.Context())
	if err == nil && s.Version != "from afar" {
		t.Errorf("got %+v", s)
	}
	return err
}

func wants(t *testing.T, what string, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: got %v, want an error with %q", what, err, part)
	}
}

func TestPairing(t *testing.T) {
	s, address := serve(t)
	dir := t.TempDir()
	wants(t, "before pairing", status(t, dir, address), "is not paired with this computer")
	i := invite(t, s)
	fp, err := remote.Pair(t.Context(), dir, address, " "+strings.ToLower(strings.ReplaceAll(i.Code, "-", " ")))
	if err != nil || fp != i.Fingerprint {
		t.Fatalf("got %s, %v; want %s", fp, err, i.Fingerprint)
	}
	if err := status(t, dir, address); err != nil {
		t.Error(err)
	}
	all, err := s.Paired()
	if err != nil || len(all) != 1 || len(all[0].Fingerprint) != 64 || all[0].Name == "" || time.Since(all[0].Since) > time.Hour {
		t.Fatalf("got %+v, %v", all, err)
	}
	for _, path := range []string{"identity.pem", "paired.toml"} {
		if st, err := os.Stat(filepath.Join(dir, path)); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}

	_, err = remote.Pair(t.Context(), t.TempDir(), address, i.Code)
	wants(t, "a code used twice", err, "no pairing code is valid")

	c, err := remote.NewClient(dir, address)
	must(t, err)
	if _, err := c.Invite(t.Context()); err == nil {
		t.Error("a paired computer could let in another")
	}

	wants(t, "revoke nobody", s.Revoke("nobody"), `no paired computer is called "nobody"`)
	must(t, s.Revoke(all[0].Name))
	err = status(t, dir, address)
	wants(t, "revoked", err, "no longer, paired")
	if !errors.Is(err, control.ErrForbidden) {
		t.Errorf("revoked: %v is not ErrForbidden", err)
	}
	if _, err := remote.Pair(t.Context(), dir, address, invite(t, s).Code); err != nil {
		t.Fatal(err)
	}
	if err := status(t, dir, address); err != nil {
		t.Error("paired again: ", err)
	}
}

func TestWrongCodes(t *testing.T) {
	s, address := serve(t)
	_, err := remote.Pair(t.Context(), t.TempDir(), address, "0000-0000-0000-0000")
	wants(t, "none was shown", err, "no pairing code is valid")
	_, err = remote.Pair(t.Context(), t.TempDir(), address, "1234")
	wants(t, "no code", err, "four groups of four")

	i := invite(t, s)
	tried := make(chan error)
	for range 5 {
		go func() {
			_, err := remote.Pair(context.WithoutCancel(t.Context()), t.TempDir(), address, "0000-0000-0000-0000")
			tried <- err
		}()
	}
	for range 5 {
		wants(t, "a wrong code", <-tried, "the pairing code is wrong")
	}
	_, err = remote.Pair(t.Context(), t.TempDir(), address, i.Code)
	wants(t, "the right one after five wrong ones", err, "no pairing code is valid")
	if all, err := s.Paired(); err != nil || len(all) != 0 {
		t.Errorf("paired: %+v, %v", all, err)
	}
}

// A man in the middle has different certificates, and passes everything on.
func TestManInTheMiddle(t *testing.T) {
	s, address := serve(t)
	cert := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS13})
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			up, err := tls.Dial("tcp", address, &tls.Config{Certificates: []tls.Certificate{cert}, InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
			if err != nil {
				_ = c.Close()
				return
			}
			go func() { _, _ = io.Copy(up, c); _ = up.Close() }()
			go func() { _, _ = io.Copy(c, up); _ = c.Close() }()
		}
	}()
	middle := l.Addr().String()
	dir := t.TempDir()
	_, err = remote.Pair(t.Context(), dir, middle, invite(t, s).Code)
	wants(t, "pairing through him", err, "someone is intercepting the connection")
	if all, err := s.Paired(); err != nil || len(all) != 0 {
		t.Errorf("paired: %+v, %v", all, err)
	}
	wants(t, "afterwards", status(t, dir, middle), "is not paired")

	// Now the attacker appears only after pairing, at the address that was paired.
	if _, err := remote.Pair(t.Context(), dir, address, invite(t, s).Code); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "paired.toml")
	b, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.ReplaceAll(string(b), address, middle)), 0o600))
	wants(t, "steering through him", status(t, dir, middle), "presents a different certificate")
}

// An agent that answers a request to pair with nonsense is not trusted.
func TestFalseAgent(t *testing.T) {
	cert := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13})
	must(t, err)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"proof":"AAAA"}`) }), ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	_, err = remote.Pair(t.Context(), t.TempDir(), l.Addr().String(), "0000-0000-0000-0000")
	wants(t, "a false agent", err, "does not know the code")
}

// certificate returns the certificate of a new folder.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	dir := t.TempDir()
	if _, err := remote.New(dir, 1, nil, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "remote", "identity.pem")
	cert, err := tls.LoadX509KeyPair(file, file)
	must(t, err)
	return cert
}

// Peers that speak no TLS, show no certificate, send nonsense or nothing at all are
// refused, and others are served all the while.
func TestHostilePeers(t *testing.T) {
	s, address := serve(t)
	dir := t.TempDir()
	if _, err := remote.Pair(t.Context(), dir, address, invite(t, s).Code); err != nil {
		t.Fatal(err)
	}
	dial := func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	for range 20 {
		dial() // and send nothing
	}
	plain := dial()
	_, _ = io.WriteString(plain, "GET /v1/status HTTP/1.1\r\nHost: agent\r\n\r\n")
	if b, _ := io.ReadAll(plain); strings.Contains(string(b), "afar") {
		t.Errorf("in clear text: %q", b)
	}
	ask := func(config *tls.Config, request string) string {
		c := tls.Client(dial(), config)
		_, _ = io.WriteString(c, request)
		b, _ := io.ReadAll(c)
		return string(b)
	}
	const get = "GET /v1/status HTTP/1.1\r\nHost: agent\r\nConnection: close\r\n\r\n"
	if got := ask(&tls.Config{InsecureSkipVerify: true}, get); got != "" {
		t.Errorf("without a certificate: %q", got)
	}
	if got := ask(&tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate(t)}}, get); got != "" {
		t.Errorf("an old TLS: %q", got)
	}
	stranger := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate(t)}}
	if got := ask(stranger, get); !strings.Contains(got, "403 Forbidden") || strings.Contains(got, "afar") {
		t.Errorf("a stranger: %q", got)
	}
	for _, body := range []string{"", "{}", `{"name":"x","proof":"!"}`, `{"name":"a\nb","proof":"AAAA"}`, `{"name":"` + strings.Repeat("x", 100000)} {
		got := ask(stranger, fmt.Sprintf("POST /v1/pair HTTP/1.1\r\nHost: agent\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		if strings.Contains(got, "200 OK") {
			t.Errorf("to %.40q: %q", body, got)
		}
	}
	if err := status(t, dir, address); err != nil {
		t.Error("a paired computer beside all these: ", err)
	}
}

// An agent that is a controller is paired in addition to its users, and does not replace one.
func TestComputers(t *testing.T) {
	s, address := serve(t)
	user, data := t.TempDir(), t.TempDir()
	c := remote.NewComputers(data)
	if all, err := c.Paired(); err != nil || len(all) != 0 {
		t.Errorf("at first: %v, %v", all, err)
	}
	if _, err := remote.Pair(t.Context(), user, address, invite(t, s).Code); err != nil {
		t.Fatal(err)
	}
	wants(t, "a wrong code", c.Pair(t.Context(), address, "0000-0000-0000-0000"), "no pairing code is valid")
	must(t, c.Pair(t.Context(), address, invite(t, s).Code))
	if all, err := c.Paired(); err != nil || len(all) != 1 || all[0].Name != address {
		t.Errorf("got %v, %v", all, err)
	}
	there, err := s.Paired()
	if err != nil || len(there) != 2 || there[1].Name != there[0].Name+" (dashboard)" {
		t.Errorf("there: %+v, %v", there, err)
	}
	client, err := c.Client(address)
	must(t, err)
	if v, err := client.Status(t.Context()); err != nil || v.Version != "from afar" {
		t.Errorf("got %+v, %v", v, err)
	}
	if err := status(t, user, address); err != nil {
		t.Errorf("the user: %v", err)
	}
	if st, err := os.Stat(filepath.Join(data, "computers", "identity.pem")); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("identity: %v, %v", st, err)
	}
	if err := c.Forget(address); err != nil {
		t.Error(err)
	}
	_, err = c.Client(address)
	wants(t, "one that was removed", err, "is not paired")
}

var must = testerr.Must
