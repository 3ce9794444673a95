package pages

import (
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/farewell"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
)

// settings shows and changes a volunteer's name, address and other account settings.
func (p *Pages) settings(w http.ResponseWriter, r *http.Request, u store.User) {
	data := make(map[string]any)
	if r.Method == http.MethodPost {
		said, err := p.change(w, r, &u)
		if err := explained(data, err); err != nil {
			p.fail(w, err)
			return
		}
		if u.ID == 0 { // the account is gone
			http.Redirect(w, r, p.Gate.MasterURL, http.StatusSeeOther)
			return
		}
		data["Said"] = said
	}
	data["User"] = u
	p.show(w, http.StatusOK, "settings.html", data)
}

// change makes the change that a form of the settings asks for. All but the profile want the
// password again.
func (p *Pages) change(w http.ResponseWriter, r *http.Request, u *store.User) (said string, err error) {
	what := r.PostFormValue("what")
	if what == "profile" {
		return p.setProfile(r, u)
	}
	if _, err := p.Gate.Prove(r, u.EmailAddr, protocol.PasswordHash(r.PostFormValue("old"), u.EmailAddr)); err != nil {
		return "", err
	}
	switch what {
	case "password":
		if err := p.Gate.SetPassword(r, u, r.PostFormValue("password")); err != nil {
			return "", err
		}
		return "Password changed.", p.Gate.Admit(w, r, *u)
	case "key":
		key := account.NewKey()
		if err := p.Store.Update(r.Context(), func(tx *store.Tx) error { return tx.SetAuthenticator(u.ID, key) }); err != nil {
			return "", err
		}
		u.Authenticator = key
		return "The account key was replaced. Computers that use the old one get no more work: attach them again.", nil
	case "email":
		return p.changeEmail(w, r, u)
	case "delete":
		if err := p.Gate.Leave(w, r); err != nil {
			return "", err
		}
		_, err := farewell.Delete(r.Context(), p.Store, u.ID, "volunteer", time.Now())
		if err == nil {
			u.ID = 0
		}
		return "", err
	}
	return "", refusal("nothing was asked for")
}

func (p *Pages) setProfile(r *http.Request, u *store.User) (said string, err error) {
	name, err := account.Name(r.PostFormValue("name"))
	if err != nil {
		return "", err
	}
	u.Name, u.HideHosts, u.NoExport = name, r.PostFormValue("show_hosts") == "", r.PostFormValue("export") == ""
	return "Saved.", p.Store.Update(r.Context(), func(tx *store.Tx) error {
		if err := tx.SetUserName(u.ID, u.Name); err != nil {
			return err
		}
		return tx.SetPrivacy(u.ID, u.HideHosts, u.NoExport)
	})
}

// changeEmail changes an account's address, where mail is sent once the new one's owner agrees.
func (p *Pages) changeEmail(w http.ResponseWriter, r *http.Request, u *store.User) (said string, err error) {
	email := account.Canonical(r.PostFormValue("email"))
	if err := account.CheckEmail(email); err != nil {
		return "", err
	}
	if p.Mail == nil {
		return "E-mail address changed.", p.setEmail(w, r, u, email, r.PostFormValue("old"), time.Time{})
	}
	if _, ok := p.links.Take(u.ID, time.Now()); !ok {
		return "", account.ErrGuesses
	}
	link := p.link("email", "email "+email, *u, account.ResetTime) + "&email=" + url.QueryEscape(email)
	p.mail(r, email, "Your new address for "+p.Name, "Someone, possibly you, wants to use this address for an account at "+p.Name+", "+p.Gate.MasterURL+"\nTo agree, open this link within an hour, in the browser in which you are logged in:\n\n"+link+"\n\nIf it was not you, ignore this message.\n")
	return "We have sent an e-mail to the new address. Open the link in it to finish.", nil
}

// email finishes a change of address. It requires the password, because the stored hash includes
// the address.
func (p *Pages) email(w http.ResponseWriter, r *http.Request, u store.User) {
	email, token := account.Canonical(r.FormValue("email")), r.FormValue("token")
	of, err := p.Gate.Bearer(r, "email "+email, token)
	if errors.Is(err, account.ErrSession) || err == nil && of.ID != u.ID {
		p.show(w, http.StatusForbidden, "email.html", map[string]any{"Error": "This link has expired, or is another account's. Ask for the change again."})
		return
	}
	data := map[string]any{"Token": token, "Email": email}
	if err == nil && r.Method == http.MethodPost {
		password := r.PostFormValue("old")
		if _, err = p.Gate.Prove(r, u.EmailAddr, protocol.PasswordHash(password, u.EmailAddr)); err == nil {
			err = p.setEmail(w, r, &u, email, password, time.Now())
		}
		if err == nil {
			http.Redirect(w, r, p.Gate.MasterURL+"account", http.StatusSeeOther)
			return
		}
		err = explained(data, err)
	}
	if err != nil {
		p.fail(w, err)
		return
	}
	p.show(w, http.StatusOK, "email.html", data)
}

func (p *Pages) setEmail(w http.ResponseWriter, r *http.Request, u *store.User, email, password string, confirmed time.Time) error {
	hash, err := p.Gate.Hash(r, email, password)
	if err != nil {
		return err
	}
	err = p.Store.Update(r.Context(), func(tx *store.Tx) error {
		if err := tx.SetEmail(u.ID, u.EmailAddr, email, hash, confirmed); err != nil {
			return err
		}
		return tx.EndSessions(u.ID)
	})
	if errors.Is(err, store.ErrExists) {
		return &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: "there is already an account with this address"}
	}
	if err != nil {
		return err
	}
	u.EmailAddr, u.PasswdHash, u.ConfirmedTime = email, hash, confirmed
	return p.Gate.Admit(w, r, *u)
}
