package dashboard

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// known answers with the projects that the page offers.
func (s *Server) known(w http.ResponseWriter, r *http.Request) {
	answer(w, r, append([]Known{}, s.Known...), nil)
}

// A projectConfig has the facts about a project that people need before attaching it.
type projectConfig struct {
	Name        string   `json:"name"`
	URL         string   `json:"url"`                       // the master URL
	Manager     bool     `json:"account_manager,omitempty"` // it is one
	Platforms   []string `json:"platforms"`
	Classes     []string `json:"plan_classes"`
	Closed      bool     `json:"closed"`        // new accounts are made on its web site only
	UserName    bool     `json:"uses_username"` // an account is identified by a name, not by an e-mail address
	MinPassword int      `json:"min_password"`
	Terms       string   `json:"terms,omitempty"` // of use, to be accepted for a new account
}

// config asks a project for its requirements and the way to make accounts.
func (s *Server) config(w http.ResponseWriter, r *http.Request) {
	var q struct {
		URL string `json:"url"`
	}
	if !read(w, r, &q) {
		return
	}
	u, err := settings.MasterURL(q.URL)
	var c *protocol.ProjectConfig
	if err == nil {
		c, err = s.Agent.ProjectConfig(r.Context(), u)
	}
	if err != nil {
		control.Refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	}
	answer(w, r, newConfig(u, c), nil)
}

func newConfig(u string, c *protocol.ProjectConfig) projectConfig {
	p := projectConfig{
		Name: c.Name, URL: masterURL(u, c), Manager: c.AccountManager, Platforms: []string{}, Classes: []string{},
		Closed: c.AccountCreationDisabled || c.ClientCreationDisabled, UserName: c.UsesUsername,
		MinPassword: max(c.MinPasswordLength, 1), Terms: c.TermsOfUse,
	}
	for _, x := range c.Platforms {
		p.Platforms = append(p.Platforms, x.Name)
		p.Classes = append(p.Classes, x.PlanClasses...)
	}
	return p
}

// masterURL returns the URL that a project gives as its own, unless that would give up TLS.
func masterURL(u string, c *protocol.ProjectConfig) string {
	own, err := protocol.CanonicalMasterURL(c.MasterURL)
	if err != nil || strings.HasPrefix(u, "https:") && !strings.HasPrefix(own, "https:") {
		return u
	}
	return own
}

// An attachment is the page's request.
type attachment struct {
	URL      string `json:"url"`
	Key      string `json:"key"`
	Email    string `json:"email"` // or the user's name, if it identifies accounts
	Password string `json:"password"`
	Create   bool   `json:"create"` // a new account rather than one that exists
	Name     string `json:"name"`   // that others see of a new account
	Accept   bool   `json:"accept"` // the project's terms of use
	Manager  bool   `json:"account_manager"`
}

// attach takes the account's key, or its e-mail address and password, with which it requests the
// key from the project.
func (s *Server) attach(w http.ResponseWriter, r *http.Request) {
	var q attachment
	if !read(w, r, &q) {
		return
	}
	u, err := settings.MasterURL(q.URL)
	key := protocol.Authenticator(q.Key)
	switch {
	case err != nil:
	case q.Manager:
		err = s.Agent.JoinManager(r.Context(), u, q.Email, protocol.PasswordHash(q.Password, q.Email))
	case key == "":
		if key, err = s.account(r.Context(), u, q); err != nil {
			break
		}
		fallthrough
	default:
		err = s.Agent.Attach(r.Context(), u, key)
	}
	switch {
	case err != nil && q.Manager:
		control.Refuse(w, r, http.StatusUnprocessableEntity, err)
		return
	case err != nil:
		refuseAccount(w, r, err)
		return
	}
	answer(w, r, map[string]string{"project": u}, nil)
}

// manager has the account manager contacted now, or leaves it.
func (s *Server) manager(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Leave  bool `json:"leave"`
		Detach bool `json:"detach"` // and the projects that it attached
	}
	if !read(w, r, &q) {
		return
	}
	do := s.Agent.SyncManager
	if q.Leave {
		do = func(ctx context.Context) error { return s.Agent.LeaveManager(ctx, q.Detach) }
	}
	answer(w, r, struct{}{}, do(r.Context()))
}

// account asks the project for the key of an account, or for a new account.
func (s *Server) account(ctx context.Context, u string, q attachment) (protocol.Authenticator, error) {
	if q.Email == "" || q.Password == "" {
		return "", words.Refuse(words.T("enter the e-mail address and password of your account, or its account key"))
	}
	hash := protocol.PasswordHash(q.Password, q.Email)
	if !q.Create {
		return s.Agent.LookupAccount(ctx, u, q.Email, hash)
	}
	if q.Name == "" {
		return "", words.Refuse(words.T("enter the public name of the new account"))
	}
	return s.Agent.CreateAccount(ctx, u, q.Email, hash, q.Name, q.Accept)
}

// refuseAccount answers with the reason, in words that do not require knowledge of BOINC, and with
// a code that determines what the page can offer then.
func refuseAccount(w http.ResponseWriter, r *http.Request, err error) {
	code, text := "", sysfault.Text(err)
	if a, ok := errors.AsType[*protocol.AccountError](err); ok {
		switch a.Num {
		case protocol.ErrNumNotFound, protocol.ErrNumFileMissing:
			code, text = "no_account", words.T("No account with this address.")
		case protocol.ErrNumBadPassword:
			code, text = "bad_password", words.T("Wrong password.")
		case protocol.ErrNumNotUnique:
			code, text = "account_exists", words.T("An account with this address exists already, with another password.")
		default:
			text = words.T("The project refuses: {answer}.", "answer", a.Text())
		}
	}
	refuseAs(w, r, code, text)
}
