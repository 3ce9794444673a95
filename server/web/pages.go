package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/store"
)

// hostsShown is how many computers an account's page lists.
const hostsShown = 200

// refuse shows a form again with what was wrong.
func (s *Site) refuse(w http.ResponseWriter, page string, r *http.Request, err error) {
	var refused *protocol.AccountError
	if !errors.As(err, &refused) {
		s.Log.Error("account page failed", "err", err)
		s.show(w, http.StatusServiceUnavailable, page, map[string]any{"Error": unavailable, "Form": r.PostForm})
		return
	}
	s.show(w, http.StatusUnprocessableEntity, page, map[string]any{"Error": words(refused), "Form": r.PostForm})
}

// words tells a refusal to a person.
func words(e *protocol.AccountError) string {
	switch e.Num {
	case protocol.ErrNumBadPassword:
		return "The e-mail address or password is wrong."
	}
	return strings.ToUpper(e.Msg[:1]) + e.Msg[1:] + "."
}

func (s *Site) signup(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.show(w, http.StatusOK, "signup.html", map[string]any{"Form": url.Values{}, "Closed": s.CreationDisabled})
		return
	}
	email, password := r.PostFormValue("email"), r.PostFormValue("password")
	if len(password) < s.MinPasswordLength {
		s.refuse(w, "signup.html", r, &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: "the password is too short"})
		return
	}
	name := r.PostFormValue("name")
	if name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	u, err := s.create(r, email, name, protocol.PasswordHash(password, account(email)))
	if err == nil {
		err = s.admit(w, r, u)
	}
	if err != nil {
		s.refuse(w, "signup.html", r, err)
		return
	}
	s.mail(r, u.EmailAddr, "Welcome to "+s.Name, "You have an account at "+s.Name+", "+s.MasterURL+"\n\nAttach your computers with this e-mail address and your password:\n\n    starling attach "+s.MasterURL+" --email "+u.EmailAddr+"\n")
	http.Redirect(w, r, s.MasterURL+"account", http.StatusSeeOther)
}

func (s *Site) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.show(w, http.StatusOK, "login.html", map[string]any{"Form": url.Values{}})
		return
	}
	email := account(r.PostFormValue("email"))
	u, err := s.prove(r, email, protocol.PasswordHash(r.PostFormValue("password"), email))
	if refused, ok := errors.AsType[*protocol.AccountError](err); ok && refused.Num == protocol.ErrNumNotFound {
		err = errWrong // which of the two it is nobody else has to know
	}
	if err == nil {
		err = s.admit(w, r, u)
	}
	if err != nil {
		s.refuse(w, "login.html", r, err)
		return
	}
	http.Redirect(w, r, s.MasterURL+"account", http.StatusSeeOther)
}

func (s *Site) logout(w http.ResponseWriter, r *http.Request) {
	if err := s.leave(w, r); err != nil {
		s.Log.Error("account page failed", "err", err)
		http.Error(w, unavailable, http.StatusServiceUnavailable)
		return
	}
	http.Redirect(w, r, s.MasterURL, http.StatusSeeOther)
}

// account shows a volunteer's key, credit and computers, and takes changes.
func (s *Site) account(w http.ResponseWriter, r *http.Request) {
	u, err := s.visitor(r)
	if errors.Is(err, errSession) {
		http.Redirect(w, r, s.MasterURL+"login", http.StatusSeeOther)
		return
	}
	said := ""
	if err == nil && r.Method == http.MethodPost {
		said, err = s.change(w, r, &u)
	}
	u.ExpavgCredit = credit.Decayed(u.ExpavgCredit, u.ExpavgTime, time.Now())
	data := map[string]any{"User": u, "URL": s.MasterURL, "Said": said, "Prefs": prefsForm(u.GlobalPrefs)}
	if refused, ok := errors.AsType[*protocol.AccountError](err); ok {
		data["Error"], err = words(refused), nil
	}
	if err == nil {
		err = s.Store.View(r.Context(), func(tx *store.Tx) error {
			hosts, err := tx.HostsOfUser(u.ID, hostsShown)
			data["Hosts"] = hosts
			return err
		})
	}
	if err != nil {
		s.Log.Error("account page failed", "err", err)
		http.Error(w, unavailable, http.StatusServiceUnavailable)
		return
	}
	s.show(w, http.StatusOK, "account.html", data)
}

// change makes the change that a form of the account's page asks for.
func (s *Site) change(w http.ResponseWriter, r *http.Request, u *store.User) (said string, err error) {
	switch r.PostFormValue("what") {
	case "prefs":
		text, err := editPrefs(u.GlobalPrefs, r.PostForm, time.Now())
		if err != nil {
			return "", err
		}
		err = s.Store.Update(r.Context(), func(tx *store.Tx) error { return tx.SetGlobalPrefs(u.ID, u.GlobalPrefs, text) })
		if err == nil {
			u.GlobalPrefs = text
		}
		return "Preferences saved. Your computers get them at their next contact.", err
	case "password":
		if _, err := s.prove(r, u.EmailAddr, protocol.PasswordHash(r.PostFormValue("old"), u.EmailAddr)); err != nil {
			return "", err
		}
		if err := s.setPassword(r, u, r.PostFormValue("password")); err != nil {
			return "", err
		}
		return "Password changed.", s.admit(w, r, *u)
	case "key":
		if _, err := s.prove(r, u.EmailAddr, protocol.PasswordHash(r.PostFormValue("old"), u.EmailAddr)); err != nil {
			return "", err
		}
		key := NewKey()
		if err := s.Store.Update(r.Context(), func(tx *store.Tx) error { return tx.SetAuthenticator(u.ID, key) }); err != nil {
			return "", err
		}
		u.Authenticator = key
		return "The account key was replaced. Computers that use the old one get no more work: attach them again.", nil
	}
	return "", &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: "nothing was asked for"}
}

func (s *Site) setPassword(r *http.Request, u *store.User, password string) error {
	if len(password) < s.MinPasswordLength {
		return &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: "the password is too short"}
	}
	done, err := s.hashing.begin(r.Context(), false)
	if err != nil {
		return err
	}
	hash, err := slowHash(protocol.PasswordHash(password, u.EmailAddr))
	done()
	if err != nil {
		return err
	}
	err = s.Store.Update(r.Context(), func(tx *store.Tx) error {
		if err := tx.EndSessions(u.ID); err != nil {
			return err
		}
		return tx.SetPasswdHash(u.ID, hash)
	})
	if err != nil {
		return err
	}
	u.PasswdHash = hash
	return nil
}

// forgot mails a link with which a new password can be set. Whether there is such
// an account is not told.
func (s *Site) forgot(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		s.show(w, http.StatusOK, "forgot.html", map[string]any{})
		return
	}
	if err := s.try(r); err != nil {
		s.refuse(w, "forgot.html", r, err)
		return
	}
	u, err := s.user(r.Context(), r.PostFormValue("email"))
	if err == nil {
		_, ok := s.links.Take(u.ID, time.Now())
		if !ok {
			err = errGuesses
		}
	}
	if err == nil {
		link := s.MasterURL + "reset?token=" + url.QueryEscape(s.token("reset", u, time.Now().Add(resetTime)))
		s.mail(r, u.EmailAddr, "A new password for "+s.Name, "Someone, possibly you, asked for a new password for your account at "+s.Name+".\nTo set it, open this link within an hour:\n\n"+link+"\n\nIf it was not you, ignore this message.\n")
	}
	s.show(w, http.StatusOK, "forgot.html", map[string]any{"Sent": true})
}

func (s *Site) reset(w http.ResponseWriter, r *http.Request) {
	token := r.FormValue("token")
	u, err := s.bearer(r, "reset", token)
	if err != nil {
		s.show(w, http.StatusForbidden, "forgot.html", map[string]any{"Error": "This link was already used or has expired. Request a new one."})
		return
	}
	if r.Method != http.MethodPost {
		s.show(w, http.StatusOK, "reset.html", map[string]any{"Token": token})
		return
	}
	var refused *protocol.AccountError
	if err = s.setPassword(r, &u, r.PostFormValue("password")); err == nil {
		err = s.admit(w, r, u)
	}
	switch {
	case errors.As(err, &refused):
		s.show(w, http.StatusUnprocessableEntity, "reset.html", map[string]any{"Token": token, "Error": words(refused)})
	case err != nil:
		s.Log.Error("account page failed", "err", err)
		http.Error(w, unavailable, http.StatusServiceUnavailable)
	default:
		http.Redirect(w, r, s.MasterURL+"account", http.StatusSeeOther)
	}
}

// Mails that are being sent at a time, and how long one may take.
const (
	maxMailing = 8
	letterTime = time.Minute
)

// mail sends a mail, and does not wait for that: how long a page takes must not tell
// whether there is an account. That it failed is the operator's matter.
func (s *Site) mail(r *http.Request, to, subject, text string) {
	if s.Mail == nil {
		return
	}
	select {
	case s.mailing <- struct{}{}:
	default:
		s.Log.Error("mail was not sent: too many are being sent", "limit", maxMailing)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), letterTime)
	go func() {
		defer func() { <-s.mailing }()
		defer cancel()
		if err := s.Mail.Send(ctx, to, subject, text); err != nil {
			s.Log.Error("mail could not be sent; see mail and mail_from in server.toml", "err", err)
		}
	}()
}
