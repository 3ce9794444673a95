package project

import (
	"net/url"
	"strings"

	"github.com/starling-grid/starling/server/mail"
)

// Post returns the sender of the project's mail, or nil if the project sends no mail.
func (p *Project) Post() (*mail.Post, error) {
	where, from := p.Config.Mail, p.Config.MailFrom
	if where == "" {
		return nil, nil
	}
	if !strings.Contains(where, "://") {
		where = Within(p.Dir, where)
	}
	if from == "" {
		u, err := url.Parse(p.Config.MasterURL)
		if err != nil {
			return nil, err
		}
		from = "noreply@" + u.Hostname()
	}
	return mail.New(where, from)
}
