// Package mail sends a project's mail to its volunteers: through an SMTP server, or into a folder
// for the operator or a test to look at.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/starling-grid/starling/server/setting"
)

// Settings are the settings for mail.
type Settings struct {
	Mail     string `toml:"mail"`
	MailFrom string `toml:"mail_from"`
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Of(&s.Mail, "mail",
			`Where mail to volunteers goes: a folder next to this file, or a mail server,
			smtp://USER:PASSWORD@HOST:587 or smtps://… "": no mail is sent.`).Checked(s.server).First(),
		setting.Of(&s.MailFrom, "",
			`The sender of mail. "": noreply at the host of master_url.`).Checked(setting.MailAddress(&s.MailFrom)),
	}
}

// server checks the address of a mail server. A misspelled scheme does not make it the name of a folder.
func (s *Settings) server() error {
	if !strings.Contains(s.Mail, "://") {
		return nil // a folder
	}
	u, err := url.Parse(s.Mail)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" {
		return errors.New("want the name of a folder, or smtp://USER:PASSWORD@HOST:PORT, or the same with smtps") // without the password
	}
	return nil
}

// timeout bounds the talk with the mail server.
const timeout = 30 * time.Second

// A Post sends mail. Its methods may be called concurrently.
type Post struct {
	from   string
	folder string         // "" unless mail goes there
	server *gomail.Client // nil unless there is one
}

// New makes a Post that writes as from. where is a folder, or the address of a mail
// server: smtp://USER:PASSWORD@HOST:PORT, with TLS wherever the server offers
// it, or smtps:// for TLS from the first byte.
func New(where, from string) (*Post, error) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return &Post{from: from, folder: where}, os.MkdirAll(where, 0o700)
	}
	opts := []gomail.Option{gomail.WithTimeout(timeout), gomail.WithTLSPolicy(gomail.TLSOpportunistic)}
	if u.Scheme == "smtps" {
		opts = append(opts, gomail.WithSSL(), gomail.WithTLSConfig(&tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}))
	}
	if u.Port() != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			return nil, fmt.Errorf("mail server %s: %w", u.Redacted(), err)
		}
		opts = append(opts, gomail.WithPort(port))
	}
	if name := u.User.Username(); name != "" {
		password, _ := u.User.Password()
		opts = append(opts, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(name), gomail.WithPassword(password))
	}
	c, err := gomail.NewClient(u.Hostname(), opts...)
	if err != nil {
		return nil, fmt.Errorf("mail server %s: %w", u.Redacted(), err)
	}
	return &Post{from: from, server: c}, nil
}

// Check connects to the mail server, logs in and sends nothing. It returns nil if mail is written
// to a folder.
func (p *Post) Check(ctx context.Context) error {
	if p.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := p.server.DialWithContext(ctx); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return p.server.Close()
}

// Send sends a plain text.
func (p *Post) Send(ctx context.Context, to, subject, text string) error {
	m := gomail.NewMsg()
	if err := m.From(p.from); err != nil {
		return fmt.Errorf("mail from %q: %w", p.from, err)
	}
	if err := m.To(to); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	m.Subject(subject)
	m.SetDate()
	m.SetMessageID()
	m.SetBodyString(gomail.TypeTextPlain, text)
	if p.server == nil {
		name := strconv.FormatInt(time.Now().UnixNano(), 10) + ".eml"
		if err := m.WriteToFile(filepath.Join(p.folder, name)); err != nil {
			return fmt.Errorf("mail: %w", err)
		}
		return nil
	}
	if err := p.server.DialAndSendWithContext(ctx, m); err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}
