package pages

import (
	"context"
	"net/http"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// The number of mails that are sent at a time, and the time limit for one.
const (
	maxMailing = 8
	letterTime = time.Minute
)

// mail sends a mail in the request's language, and does not wait for it: the time that a page takes must not reveal whether
// there is an account. A failure concerns only the operator.
func (p *Pages) mail(r *http.Request, to string, subject, text words.Text) {
	if p.Mail == nil {
		return
	}
	select {
	case p.mailing <- struct{}{}:
	default:
		p.Log.Error("mail was not sent: too many are being sent", "limit", maxMailing)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), letterTime)
	l := words.LanguageOf(ctx)
	go func() {
		defer func() { <-p.mailing }()
		defer cancel()
		if err := p.Mail.Send(ctx, to, subject.In(l), text.In(l)); err != nil {
			p.Log.Error("mail could not be sent; see mail and mail_from in server.toml", "err", err)
		}
	}()
}
