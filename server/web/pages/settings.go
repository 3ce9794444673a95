package pages

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/deletion"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
)

// settings shows and changes a volunteer's name, address and other account settings.
func (p *Pages) settings(w http.ResponseWriter, r *http.Request, visit account.Proof) {
	data := make(map[string]any)
	if r.Method == http.MethodPost {
		said, err := p.change(w, r, &visit)
		if err := explained(data, err); err != nil {
			p.fail(w, r, err)
			return
		}
		if visit.ID == 0 { // the account is gone
			http.Redirect(w, r, p.Gate.MasterURL, http.StatusSeeOther)
			return
		}
		data["Said"] = said
	}
	data["User"] = visit.User
	p.show(w, r, http.StatusOK, "settings.html", data)
}

// change makes the change that a form of the settings asks for. All but the profile want the
// password again.
func (p *Pages) change(w http.ResponseWriter, r *http.Request, visit *account.Proof) (said words.Text, err error) {
	what := r.PostFormValue("what")
	if what == "profile" {
		return p.setProfile(r, visit)
	}
	password, err := p.again(r, visit)
	if err != nil {
		return words.Text{}, err
	}
	proof := visit.And(password)
	switch what {
	case "password":
		return words.T("Password changed."), p.Gate.SetPassword(w, r, proof, r.PostFormValue("password"))
	case "key":
		visit.Authenticator = account.NewKey()
		err := p.Gate.Update(r.Context(), proof, func(tx *store.Tx, u store.User) error {
			now := u
			now.Authenticator = visit.Authenticator
			return tx.SaveUser(u, now)
		})
		return words.T("The account key was replaced. Computers that use the old one get no more work: attach them again."), err
	case "email":
		return p.changeEmail(w, r, visit, proof)
	case "delete":
		return words.Text{}, p.delete(w, r, visit, proof)
	}
	return words.Text{}, refusal("nothing was asked for")
}

// again returns the proof of the password that a visitor entered once more.
func (p *Pages) again(r *http.Request, visit *account.Proof) (account.Proof, error) {
	proof, err := p.Gate.Prove(r, visit.EmailAddr, protocol.PasswordHash(r.PostFormValue("old"), visit.EmailAddr))
	if refused, ok := errors.AsType[*account.Refusal](err); ok {
		switch refused.Num {
		case protocol.ErrNumNotFound:
			err = account.ErrSession // the address was changed or the account deleted just now, and the visit ended
		case protocol.ErrNumBadPassword:
			err = refusal("the password is wrong")
		}
	}
	return proof, err
}

func (p *Pages) delete(w http.ResponseWriter, r *http.Request, visit *account.Proof, proof account.Proof) error {
	r = r.WithContext(context.WithoutCancel(r.Context())) // its owner cannot ask for the rest again
	now := time.Now()
	err := p.Gate.Update(r.Context(), proof, func(tx *store.Tx, u store.User) error { return deletion.Erase(tx, u, now) })
	if err != nil {
		return err
	}
	id := visit.ID
	visit.ID = 0
	if err := p.Gate.Leave(w, r); err != nil {
		return err
	}
	_, err = deletion.GiveUp(r.Context(), p.Store, id, "volunteer", now)
	return err
}

func (p *Pages) setProfile(r *http.Request, visit *account.Proof) (said words.Text, err error) {
	name, err := account.Name(r.PostFormValue("name"))
	if err != nil {
		return words.Text{}, err
	}
	visit.Name, visit.HideHosts, visit.NoExport = name, r.PostFormValue("show_hosts") == "", r.PostFormValue("export") == ""
	return words.T("Saved."), p.Gate.Update(r.Context(), *visit, func(tx *store.Tx, u store.User) error {
		now := u
		now.Name, now.HideHosts, now.NoExport = visit.Name, visit.HideHosts, visit.NoExport
		return tx.SaveUser(u, now)
	})
}

// changeEmail changes an account's address, where mail is sent once the new one's owner agrees.
func (p *Pages) changeEmail(w http.ResponseWriter, r *http.Request, visit *account.Proof, proof account.Proof) (said words.Text, err error) {
	email := account.Canonical(r.PostFormValue("email"))
	if err := account.CheckEmail(email); err != nil {
		return words.Text{}, err
	}
	if p.Mail == nil {
		return words.T("E-mail address changed."), p.setEmail(w, r, visit, proof, email, r.PostFormValue("old"), time.Time{})
	}
	if _, ok := p.links.Take(visit.ID, time.Now()); !ok {
		return words.Text{}, account.ErrGuesses
	}
	link := p.link("email", "email "+email, visit.User, account.ResetTime) + "&email=" + url.QueryEscape(email)
	p.mail(r, email, words.T("Your new address for {project}", "project", p.Name), words.T(`Someone, possibly you, wants to use this address for an account at {project}, {url}
To agree, open this link within an hour, in the browser in which you are logged in:

{link}

If it was not you, ignore this message.
`, "project", p.Name, "url", p.Gate.MasterURL, "link", link))
	return words.T("We have sent an e-mail to the new address. Open the link in it to finish."), nil
}

// email finishes a change of address. It requires the password, because the stored hash includes
// the address.
func (p *Pages) email(w http.ResponseWriter, r *http.Request, visit account.Proof) {
	email, token := account.Canonical(r.FormValue("email")), r.FormValue("token")
	bearer, err := p.Gate.Bearer(r, "email "+email, token)
	if errors.Is(err, account.ErrSession) || err == nil && bearer.ID != visit.ID {
		p.show(w, r, http.StatusForbidden, "email.html", map[string]any{"Error": words.T("This link has expired, or is another account's. Ask for the change again.")})
		return
	}
	data := map[string]any{"Token": token, "Email": email}
	if err == nil && r.Method == http.MethodPost {
		var owner account.Proof
		if owner, err = p.again(r, &visit); err == nil {
			err = p.setEmail(w, r, &visit, visit.And(bearer).And(owner), email, r.PostFormValue("old"), time.Now())
		}
		if err == nil {
			http.Redirect(w, r, p.Gate.MasterURL+"account", http.StatusSeeOther)
			return
		}
		err = explained(data, err)
	}
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.show(w, r, http.StatusOK, "email.html", data)
}

func (p *Pages) setEmail(w http.ResponseWriter, r *http.Request, visit *account.Proof, proof account.Proof, email, password string, confirmed time.Time) error {
	hash, err := p.Gate.Hash(r, email, password)
	if err != nil {
		return err
	}
	err = p.Gate.Admit(w, r, proof, func(tx *store.Tx, u store.User) error {
		if u.EmailAddr != visit.EmailAddr {
			return store.ErrLost
		}
		now := u
		now.EmailAddr, now.PasswdHash, now.ConfirmedTime = email, hash, confirmed
		if err := tx.SaveUser(u, now); err != nil {
			return err
		}
		return tx.EndSessions(u.ID)
	})
	if errors.Is(err, store.ErrExists) {
		return refusal("there is already an account with this address")
	}
	if err == nil {
		visit.EmailAddr, visit.PasswdHash, visit.ConfirmedTime = email, hash, confirmed
	}
	return err
}
