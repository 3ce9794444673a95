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
	AccountCreationDisabled bool
	ClientCreationDisabled  bool
	MinPasswordLength       int
	UsesUsername            bool
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
	w.Element("project_config", c.fields)
	return w.Bytes()
}

// ParseProjectConfig reads a reply of get_project_config.php.
func ParseProjectConfig(b []byte) (*ProjectConfig, error) {
	var c ProjectConfig
	if err := bxml.NewScanner(b).Foreign().Decode("project_config", c.fields); err != nil {
		return nil, fmt.Errorf("project config: %w", err)
	}
	return &c, nil
}

func (c *ProjectConfig) fields(x bxml.Codec) {
	opt := x.Optional()
	x.Line("name", &c.Name, maxText)
	x.Line("master_url", &c.MasterURL, maxText)
	opt.Line("web_rpc_url_base", &c.WebRPCURLBase, maxText)
	integer(x, "server_version", &c.ServerVersion)
	integer(x.WriteIf(c.ErrorNum != 0), "error_num", &c.ErrorNum)
	x.Flag("account_manager", &c.AccountManager)
	x.WriteBool("web_stopped", false) // a stopped server refuses requests instead
	x.Flag("account_creation_disabled", &c.AccountCreationDisabled)
	x.Flag("client_account_creation_disabled", &c.ClientCreationDisabled)
	x.WriteBool("sched_stopped", false)
	integer(x, "min_passwd_length", &c.MinPasswordLength)
	x.Flag("uses_username", &c.UsesUsername)
	x.WriteIf(len(c.Platforms) > 0).Element("platforms", func(x bxml.Codec) {
		each(x, "platform", &c.Platforms)
	})
	opt.Text("terms_of_use", &c.TermsOfUse)
}

func (p *ConfigPlatform) fields(x bxml.Codec) {
	x.Line("platform_name", &p.Name, maxText)
	x.Line("user_friendly_name", &p.UserFriendlyName, maxText)
	eachLine(x, "plan_class", &p.PlanClasses, maxClasses)
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
		s.Fields(func(x bxml.Codec) {
			integer(x, "error_num", &e.Num)
			prose(x, "error_msg", &e.Msg)
		})
		if err := s.Err(); err != nil {
			return "", fmt.Errorf("account reply: %w", err)
		}
		return "", &e
	}
	var key string
	err := bxml.NewScanner(b).Foreign().Decode("account_out", func(x bxml.Codec) { x.Text("authenticator", &key) })
	switch {
	case err != nil:
		return "", fmt.Errorf("account reply: %w", err)
	case key == "" || len(key) > maxName:
		return "", errors.New("account reply: no usable authenticator in it")
	}
	return Authenticator(key), nil
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
