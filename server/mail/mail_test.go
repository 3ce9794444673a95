package mail_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/starling-grid/starling/server/mail"
)

// An inbox is an SMTP server that keeps the mail that it receives.
type inbox struct{ got chan string }

func (b *inbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{b: b}, nil }

type session struct {
	b        *inbox
	from, to string
}

func (*session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (*session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, _ string) error { return nil }), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { s.to = to; return nil }

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.b.got <- s.from + " " + s.to + "\n" + string(text)
	return err
}

func (*session) Reset()        {}
func (*session) Logout() error { return nil }

func TestThroughAServer(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &inbox{make(chan string, 1)}
	srv := smtp.NewServer(b)
	srv.Domain, srv.AllowInsecureAuth = "localhost", true
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	post, err := mail.New("smtp://"+l.Addr().String(), "project@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if err := post.Send(t.Context(), "eve@example.org", "Grüße", "hello\n"); err != nil {
		t.Fatal(err)
	}
	got := <-b.got
	for _, want := range []string{"project@example.org eve@example.org\n", "Subject: =?UTF-8?q?Gr=C3=BC=C3=9Fe?=", "hello"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if err := post.Check(t.Context()); err != nil {
		t.Errorf("checked: %v", err)
	}
	if len(b.got) > 0 {
		t.Error("checking sends mail")
	}
	// A password is not sent over a connection that anybody can listen to.
	open, err := mail.New("smtp://us:secret7@"+l.Addr().String(), "project@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if err := open.Send(t.Context(), "eve@example.org", "x", "y"); err == nil || strings.Contains(err.Error(), "secret7") {
		t.Errorf("with a password and without TLS: %v", err)
	}
	if err := open.Check(t.Context()); err == nil || strings.Contains(err.Error(), "secret7") {
		t.Errorf("checked with a password and without TLS: %v", err)
	}
	_ = srv.Close()
	if err := post.Check(t.Context()); err == nil {
		t.Error("a server that is gone takes mail")
	}
}

func TestIntoAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mail")
	post, err := mail.New(dir, "project@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if err := post.Send(t.Context(), "eve@example.org", "subject", "hello\n"); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	if err := post.Check(t.Context()); err != nil {
		t.Errorf("checked: %v", err)
	}
	if text, err := os.ReadFile(paths[0]); err != nil || !strings.Contains(string(text), "hello") {
		t.Errorf("got %q, %v", text, err)
	}
}
