package protocol

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A ProjectConfig is the content of a reply of get_project_config.php.
type ProjectConfig struct {
	Name                    string
	MasterURL               string
	WebRPCURLBase           string
	ServerVersion           int
	ErrorNum                int
	AccountManager          bool
	WebStopped              bool
	SchedStopped            bool
	AccountCreationDisabled bool
	ClientCreationDisabled  bool
	MinPasswordLength       int
	UsesUsername            bool
	MinClientVersion        int
	Platforms               []ConfigPlatform
	TermsOfUse              string
}

// A ConfigPlatform is a platform for which a project has applications.
type ConfigPlatform struct {
	Name             string
	UserFriendlyName string
	PlanClasses      []string
}

// Encode returns the reply's body.
func (c *ProjectConfig) Encode() []byte {
	var w bxml.Writer
	w.Open("project_config")
	w.Text("name", c.Name)
	w.Text("master_url", c.MasterURL)
	w.TextIf("web_rpc_url_base", c.WebRPCURLBase)
	w.Int("server_version", int64(c.ServerVersion))
	if c.ErrorNum != 0 {
		w.Int("error_num", int64(c.ErrorNum))
	}
	w.Flag("account_manager", c.AccountManager)
	w.Bool("web_stopped", c.WebStopped)
	w.Flag("account_creation_disabled", c.AccountCreationDisabled)
	w.Flag("client_account_creation_disabled", c.ClientCreationDisabled)
	w.Bool("sched_stopped", c.SchedStopped)
	w.Int("min_passwd_length", int64(c.MinPasswordLength))
	w.Flag("uses_username", c.UsesUsername)
	if c.MinClientVersion > 0 {
		w.Int("min_client_version", int64(c.MinClientVersion))
	}
	if len(c.Platforms) > 0 {
		w.Open("platforms")
		for _, p := range c.Platforms {
			w.Open("platform")
			w.Text("platform_name", p.Name)
			w.Text("user_friendly_name", p.UserFriendlyName)
			for _, pc := range p.PlanClasses {
				w.Text("plan_class", pc)
			}
			w.Close("platform")
		}
		w.Close("platforms")
	}
	w.TextIf("terms_of_use", c.TermsOfUse)
	w.Close("project_config")
	return w.Bytes()
}

// ParseProjectConfig reads a reply of get_project_config.php.
func ParseProjectConfig(b []byte) (*ProjectConfig, error) {
	s := bxml.NewScanner(b).Foreign()
	if err := s.Find("project_config"); err != nil {
		return nil, fmt.Errorf("project config: %w", err)
	}
	var c ProjectConfig
	for name := range s.Children() {
		switch name {
		case "name":
			c.Name = s.Line(maxText)
		case "master_url":
			c.MasterURL = s.Line(maxText)
		case "web_rpc_url_base":
			c.WebRPCURLBase = s.Line(maxText)
		case "server_version":
			scanInt(s, &c.ServerVersion)
		case "error_num":
			scanInt(s, &c.ErrorNum)
		case "account_manager":
			c.AccountManager = s.Flag()
		case "web_stopped":
			c.WebStopped = s.Flag()
		case "sched_stopped":
			c.SchedStopped = s.Flag()
		case "account_creation_disabled":
			c.AccountCreationDisabled = s.Flag()
		case "client_account_creation_disabled":
			c.ClientCreationDisabled = s.Flag()
		case "min_passwd_length":
			scanInt(s, &c.MinPasswordLength)
		case "uses_username":
			c.UsesUsername = s.Flag()
		case "min_client_version":
			scanInt(s, &c.MinClientVersion)
		case "terms_of_use":
			c.TermsOfUse = s.Text()
		case "platforms":
			for name := range s.Children() {
				if name == "platform" && len(c.Platforms) < maxList {
					c.Platforms = append(c.Platforms, scanConfigPlatform(s))
				}
			}
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("project config: %w", err)
	}
	return &c, nil
}

func scanConfigPlatform(s *bxml.Scanner) (p ConfigPlatform) {
	for name := range s.Children() {
		switch name {
		case "platform_name":
			p.Name = s.Line(maxText)
		case "user_friendly_name":
			p.UserFriendlyName = s.Line(maxText)
		case "plan_class":
			if len(p.PlanClasses) < maxClasses {
				p.PlanClasses = append(p.PlanClasses, s.Line(maxText))
			}
		}
	}
	return p
}

// EncodeAccountOut returns the body of a successful reply to lookup_account.php or
// create_account.php. With an empty key, the reply only confirms that the account exists.
func EncodeAccountOut(key Authenticator) []byte {
	var w bxml.Writer
	w.Open("account_out")
	if key == "" {
		w.Empty("success")
	} else {
		w.Text("authenticator", string(key))
	}
	w.Close("account_out")
	return w.Bytes()
}

// EncodeAccountError returns the body of a refusal. It must be sent with HTTP status 200, or
// clients report an HTTP error instead.
func EncodeAccountError(num int, msg string) []byte {
	var w bxml.Writer
	w.Open("error")
	w.Int("error_num", int64(num))
	w.Text("error_msg", msg)
	w.Close("error")
	return w.Bytes()
}

// An AccountError is a project's refusal of an account call.
type AccountError struct {
	Num int // one of the ErrNum constants
	Msg string
}

func (e *AccountError) Error() string {
	if e.Msg == "" {
		return accountErrorText(e.Num)
	}
	return e.Msg + " (" + strconv.Itoa(e.Num) + ")"
}

// Text returns the refusal for people, without its number and without a full stop.
func (e *AccountError) Text() string {
	return strings.TrimSuffix(cmp.Or(strings.TrimSpace(e.Msg), accountErrorText(e.Num)), ".")
}

func accountErrorText(num int) string {
	switch num {
	case ErrNumNotFound, ErrNumFileMissing:
		return "no account with this e-mail address"
	case ErrNumNotUnique, -207:
		return "an account with this e-mail address exists, with another password"
	case ErrNumBadPassword:
		return "wrong password"
	case ErrNumBadEmail:
		return "not a valid e-mail address"
	case ErrNumBadUserName:
		return "not a valid user name"
	case ErrNumNoCreation:
		return "the project does not let new accounts be made"
	case ErrNumProjectDown:
		return "the project is down for maintenance"
	case ErrNumAuthenticator:
		return "unknown account key"
	}
	return "error " + strconv.Itoa(num)
}

// ParseAccountReply reads a reply to lookup_account.php or create_account.php. It returns the key,
// or an *AccountError if the project refused.
func ParseAccountReply(b []byte) (Authenticator, error) {
	s := bxml.NewScanner(b).Foreign()
	if s.Find("error") == nil {
		e := AccountError{Num: -1}
		for name := range s.Children() {
			switch name {
			case "error_num":
				scanInt(s, &e.Num)
			case "error_msg":
				e.Msg = bxml.Printable(s.Text(), maxProse)
			}
		}
		if err := s.Err(); err != nil {
			return "", fmt.Errorf("account reply: %w", err)
		}
		return "", &e
	}
	s = bxml.NewScanner(b).Foreign()
	if err := s.Find("account_out"); err != nil {
		return "", fmt.Errorf("account reply: %w", err)
	}
	var key Authenticator
	for name := range s.Children() {
		if name == "authenticator" {
			key = Authenticator(s.Text())
		}
	}
	switch err := s.Err(); {
	case err != nil:
		return "", fmt.Errorf("account reply: %w", err)
	case key == "" || len(key) > maxName:
		return "", errors.New("account reply: no usable authenticator in it")
	}
	return key, nil
}

// PasswordHash returns the hash that a client sends instead of a password.
func PasswordHash(password, email string) string { return md5Of(password + strings.ToLower(email)) }

// WeakKey returns a key that lets a host compute for an account but gives no other access.
func WeakKey(userID int64, key Authenticator, storedHash string) string {
	return strconv.FormatInt(userID, 10) + "_" + md5Of(string(key)+storedHash)
}

// EmailHash returns a hash that identifies an account's owner across projects.
func EmailHash(email string) string { return md5Of(email) }

// ExternalCPID returns the cross-project ID that other sites see.
func ExternalCPID(crossProjectID, email string) string { return md5Of(crossProjectID + email) }

// HostCPID returns the host's cross-project ID in the form that a server stores.
func HostCPID(requestCPID, email string) string { return md5Of(requestCPID + email) }

func md5Of(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}
