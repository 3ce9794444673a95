package pages

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
	"github.com/starling-grid/starling/server/web/articles"
)

// refuse shows a form again with the error.
func (p *Pages) refuse(w http.ResponseWriter, page string, r *http.Request, err error) {
	data := map[string]any{"Form": r.PostForm}
	if err := explained(data, err); err != nil {
		p.Log.Error("account page failed", "err", err)
		data["Error"] = Unavailable
		p.show(w, r, http.StatusServiceUnavailable, page, data)
		return
	}
	p.show(w, r, http.StatusUnprocessableEntity, page, data)
}

func (p *Pages) signup(w http.ResponseWriter, r *http.Request) {
	data := map[string]any{"Form": url.Values{}, "Closed": p.Gate.DisableAccountCreation, "Invited": len(p.Gate.Invitations) > 0, "Terms": p.terms()}
	if r.Method != http.MethodPost {
		p.show(w, r, http.StatusOK, "signup.html", data)
		return
	}
	err := p.enrol(w, r)
	if err == nil {
		http.Redirect(w, r, p.Gate.MasterURL+"account", http.StatusSeeOther)
		return
	}
	data["Form"] = r.PostForm
	if err := explained(data, err); err != nil {
		p.fail(w, r, err)
		return
	}
	p.show(w, r, http.StatusUnprocessableEntity, "signup.html", data)
}

// enrol makes the account that a form asks for.
func (p *Pages) enrol(w http.ResponseWriter, r *http.Request) error {
	email, password := r.PostFormValue("email"), r.PostFormValue("password")
	if err := p.Gate.CheckPassword(password); err != nil {
		return err
	}
	if p.terms() && r.PostFormValue("terms") == "" {
		return refusal("please agree to the terms of use")
	}
	name := r.PostFormValue("name")
	if name == "" {
		name, _, _ = strings.Cut(email, "@")
	}
	made, err := p.Gate.Create(r, email, name, protocol.PasswordHash(password, account.Canonical(email)), r.PostFormValue("invite"))
	if err == nil {
		err = p.Gate.LogIn(w, r, made)
	}
	return err
}

// welcome writes to the owner of an account that was made just now.
func (p *Pages) welcome(r *http.Request, u store.User) {
	if p.Gate.ConfirmEmail {
		p.askToConfirm(r, u)
		return
	}
	p.mail(r, u.EmailAddr, words.T("Welcome to {project}", "project", p.Name), words.T(`You have an account at {project}, {url}

Attach your computers with this e-mail address and your password:

    starling attach {url} --email {email}
`, "project", p.Name, "url", p.Gate.MasterURL, "email", u.EmailAddr))
}

// askToConfirm mails a link that confirms an account's address.
func (p *Pages) askToConfirm(r *http.Request, u store.User) {
	link := p.link("confirm", "confirm", u, account.ConfirmTime)
	p.mail(r, u.EmailAddr, words.T("Confirm your e-mail address for {project}", "project", p.Name), words.T(`Someone, possibly you, made an account with this address at {project}, {url}
To confirm that it is yours, so that your computers get tasks, open this link within a week and press the button:

{link}

If it was not you, ignore this message.
`, "project", p.Name, "url", p.Gate.MasterURL, "link", link))
}

// link is a page's address with a token that proves for a while, and for one purpose, whose visit
// it is.
func (p *Pages) link(page, purpose string, u store.User, lasts time.Duration) string {
	return p.Gate.MasterURL + page + "?token=" + url.QueryEscape(p.Gate.Token(purpose, u, time.Now().Add(lasts)))
}

// confirm confirms an account's address, once its owner presses the button: programs that scan
// mails open links, too.
func (p *Pages) confirm(w http.ResponseWriter, r *http.Request) {
	token := r.FormValue("token")
	bearer, err := p.Gate.Bearer(r, "confirm", token)
	if err == nil && r.Method == http.MethodPost {
		err = p.Gate.Update(r.Context(), bearer, func(tx *store.Tx, u store.User) error {
			now := u
			now.ConfirmedTime = time.Now()
			return tx.SaveUser(u, now)
		})
	}
	switch {
	case errors.Is(err, account.ErrSession):
		p.show(w, r, http.StatusForbidden, "read.html", map[string]any{"Title": words.T("Not confirmed"), "Error": words.T("This link has expired. Log in to have another one sent."), "Article": articles.Article{}})
	case err != nil:
		p.fail(w, r, err)
	case r.Method != http.MethodPost:
		p.show(w, r, http.StatusOK, "confirm.html", map[string]any{"Token": token, "Email": bearer.EmailAddr})
	default:
		p.show(w, r, http.StatusOK, "read.html", map[string]any{"Title": words.T("Thank you"), "Said": words.T("Your e-mail address is confirmed. Your computers get tasks at their next request."), "Article": articles.Article{}})
	}
}

func (p *Pages) login(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		p.show(w, r, http.StatusOK, "login.html", map[string]any{"Form": url.Values{}})
		return
	}
	email := account.Canonical(r.PostFormValue("email"))
	owner, err := p.Gate.Prove(r, email, protocol.PasswordHash(r.PostFormValue("password"), email))
	if refused, ok := errors.AsType[*account.Refusal](err); ok && refused.Num == protocol.ErrNumNotFound {
		err = account.ErrWrong // do not reveal which of the two is wrong
	}
	if err == nil {
		err = p.Gate.LogIn(w, r, owner)
	}
	if err != nil {
		p.refuse(w, "login.html", r, err)
		return
	}
	http.Redirect(w, r, p.Gate.MasterURL+"account", http.StatusSeeOther)
}

func (p *Pages) logout(w http.ResponseWriter, r *http.Request) {
	if err := p.Gate.Leave(w, r); err != nil {
		p.Log.Error("account page failed", "err", err)
		unavailable(w, r)
		return
	}
	http.Redirect(w, r, p.Gate.MasterURL, http.StatusSeeOther)
}

// forgot mails a link with which a new password can be set. It does not reveal whether the account
// exists.
func (p *Pages) forgot(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		p.show(w, r, http.StatusOK, "forgot.html", map[string]any{})
		return
	}
	if err := p.Gate.Try(r); err != nil {
		p.refuse(w, "forgot.html", r, err)
		return
	}
	u, err := p.Gate.User(r.Context(), r.PostFormValue("email"))
	if err == nil {
		_, ok := p.forgotten.Take(u.ID, time.Now())
		if !ok {
			err = account.ErrGuesses
		}
	}
	if err == nil {
		link := p.link("reset", "reset", u, account.ResetTime)
		p.mail(r, u.EmailAddr, words.T("A new password for {project}", "project", p.Name), words.T(`Someone, possibly you, asked for a new password for your account at {project}.
To set it, open this link within an hour:

{link}

If it was not you, ignore this message.
`, "project", p.Name, "link", link))
	}
	p.show(w, r, http.StatusOK, "forgot.html", map[string]any{"Sent": true})
}

func (p *Pages) reset(w http.ResponseWriter, r *http.Request) {
	token := r.FormValue("token")
	bearer, err := p.Gate.Bearer(r, "reset", token)
	if err == nil && r.Method == http.MethodPost {
		err = p.Gate.SetPassword(w, r, bearer, r.PostFormValue("password"))
	}
	if errors.Is(err, account.ErrSession) {
		p.show(w, r, http.StatusForbidden, "forgot.html", map[string]any{"Error": words.T("This link was already used or has expired. Request a new one.")})
		return
	}
	data := map[string]any{"Token": token}
	failed := explained(data, err)
	switch {
	case err == nil && r.Method != http.MethodPost:
		p.show(w, r, http.StatusOK, "reset.html", data)
	case err != nil && failed == nil:
		p.show(w, r, http.StatusUnprocessableEntity, "reset.html", data)
	case err != nil:
		p.Log.Error("account page failed", "err", err)
		unavailable(w, r)
	default:
		http.Redirect(w, r, p.Gate.MasterURL+"account", http.StatusSeeOther)
	}
}
