package schedulerop

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// ProjectConfig asks a project for its properties and its rules for accounts.
func (c *Client) ProjectConfig(ctx context.Context, masterURL string) (*protocol.ProjectConfig, error) {
	u := masterURL + "get_project_config.php"
	b, err := c.get(ctx, u, maxPage)
	if err != nil {
		return nil, &Error{"project config", u, err}
	}
	config, err := protocol.ParseProjectConfig(b)
	if err != nil {
		return nil, &Error{"project config", u, unusable(err, b)}
	}
	return config, nil
}

// Lookup asks for the authenticator of an account.
func (c *Client) Lookup(ctx context.Context, masterURL, email, password string) (protocol.Authenticator, error) {
	return c.LookupHash(ctx, masterURL, email, protocol.PasswordHash(password, email))
}

// LookupHash is Lookup with the hash that replaces the password.
func (c *Client) LookupHash(ctx context.Context, masterURL, email, passwdHash string) (protocol.Authenticator, error) {
	return c.account(ctx, masterURL+"lookup_account.php", url.Values{
		"email_addr": {strings.ToLower(email)}, "passwd_hash": {passwdHash},
	})
}

// A NewAccount is the request to a project to create an account.
type NewAccount struct {
	Email      string
	PasswdHash string // see protocol.PasswordHash
	Name       string // that others see
	Consent    bool   // its owner accepted the project's terms of use
}

// CreateAccount makes an account and returns its authenticator.
func (c *Client) CreateAccount(ctx context.Context, masterURL string, n NewAccount) (protocol.Authenticator, error) {
	q := url.Values{"email_addr": {strings.ToLower(n.Email)}, "passwd_hash": {n.PasswdHash}, "user_name": {n.Name}}
	if n.Consent {
		q.Set("consent_flag", "1")
		q.Set("source", "Starling")
	}
	return c.account(ctx, masterURL+"create_account.php", q)
}

func (c *Client) account(ctx context.Context, u string, q url.Values) (protocol.Authenticator, error) {
	b, err := c.get(ctx, u+"?"+q.Encode(), maxPage)
	if err != nil {
		return "", &Error{"account", u, err}
	}
	key, err := protocol.ParseAccountReply(b)
	if err != nil {
		if _, refused := errors.AsType[*protocol.AccountError](err); !refused {
			err = unusable(err, b)
		}
		return "", &Error{"account", u, err}
	}
	return key, nil
}
