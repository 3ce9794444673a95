package mail_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/starling-grid/starling/server/mail"
)

// An inbox is an SMTP server that keeps what it is sent.
type inbox struct{ got chan string }

func (b *inbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{b: b}, nil }

type session struct {
	b        *inbox
	from, to string
	known    bool
}

func (*session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, name, password string) error {
		if name != "us" || password != "p w" {
			return errors.New("who?")
		}
		s.known = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if !s.known {
		return smtp.ErrAuthRequired
	}
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
	post, err := mail.New("smtp://us:p%20w@"+l.Addr().String(), "project@example.org")
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
	bad, err := mail.New("smtp://us:wrong@"+l.Addr().String(), "project@example.org")
	if err != nil {
		t.Fatal(err)
	}
	if err := bad.Send(t.Context(), "eve@example.org", "x", "y"); err == nil || strings.Contains(err.Error(), "wrong") {
		t.Errorf("with a bad password: %v", err)
	}
}
