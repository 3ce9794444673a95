package server

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/server/mail"
)

// post returns what sends the project's mail; nil if it sends none.
func (s *Server) post() (*mail.Post, error) {
	where, from := s.Config.Mail, s.Config.MailFrom
	if where == "" {
		return nil, nil
	}
	if !strings.Contains(where, "://") && !filepath.IsAbs(where) {
		where = filepath.Join(s.Dir, where)
	}
	if from == "" {
		u, err := url.Parse(s.Config.MasterURL)
		if err != nil {
			return nil, err
		}
		from = "noreply@" + u.Hostname()
	}
	return mail.New(where, from)
}
