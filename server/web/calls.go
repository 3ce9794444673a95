package web

import (
	"errors"
	"net/http"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/web/pages"
)

// lookupAccount returns the key of an account for its password.
func (s *Site) lookupAccount(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	email, passwdHash := q.Get("email_addr"), q.Get("passwd_hash")
	if passwdHash == "" { // only asks whether there is such an account
		err := s.gate.Try(r)
		if err == nil {
			_, err = s.gate.User(r.Context(), email)
		}
		s.answer(w, "", err)
		return
	}
	p, err := s.gate.Prove(r, email, passwdHash)
	s.answer(w, p.Authenticator, err)
}

// createAccount makes an account. A second request with the same password returns the key of the
// existing account, since a client may not have got the first answer.
func (s *Site) createAccount(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p, err := s.gate.Create(r, q.Get("email_addr"), q.Get("user_name"), q.Get("passwd_hash"), q.Get("invite_code"))
	s.answer(w, p.Authenticator, err)
}

func (s *Site) answer(w http.ResponseWriter, key protocol.Authenticator, err error) {
	var refused *protocol.AccountError
	switch {
	case err == nil:
		writeXML(w, protocol.EncodeAccountOut(key))
	case errors.As(err, &refused):
		writeXML(w, protocol.EncodeAccountError(refused.Num, refused.Msg))
	default:
		s.Log.Error("account call failed", "err", err)
		writeXML(w, protocol.EncodeAccountError(protocol.ErrNumProjectDown, pages.Unavailable.String()))
	}
}
