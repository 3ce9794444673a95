// Package account makes accounts and lets their owners in: by password, by a link in a mail,
// and for the time of a visit.
package account

import (
	"crypto/rand"
	"encoding/hex"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// defaultPrefs are the project preferences of a new account. They are part of every reply, so that
// clients have something to keep.
const defaultPrefs = "<resource_share>100</resource_share>\n<project_specific>\n</project_specific>\n"

const maxName = 254 // bytes in a user's name or address, as in BOINC

// New returns an account that is ready to be inserted. passwdHash is the hash that a client sends
// in place of the password. If it is empty, it is not possible to log in with a password.
func New(email, name, passwdHash string, now time.Time) (store.User, error) {
	u, err := blank(email, name, now)
	if err != nil || passwdHash == "" {
		return u, err
	}
	u.PasswdHash, err = slowHash(passwdHash)
	return u, err
}

// blank returns an account without a password.
func blank(email, name string, now time.Time) (store.User, error) {
	email = Canonical(email)
	if err := CheckEmail(email); err != nil {
		return store.User{}, err
	}
	name, err := Name(name)
	if err != nil {
		return store.User{}, err
	}
	return store.User{
		CreateTime: now, EmailAddr: email, Name: name, Authenticator: NewKey(),
		CrossProjectID: randomHex(), ProjectPrefs: defaultPrefs,
	}, nil
}

// CheckEmail returns an error if no account can have an address, which is in canonical form.
func CheckEmail(email string) error {
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email || len(email) > maxName || !plain(email) {
		return Refuse(protocol.ErrNumBadEmail, words.T("not a valid e-mail address: enter one such as ann@example.org"))
	}
	return nil
}

// Name returns the form in which a public name of a user or a team is stored, or an error if none
// can be called so.
func Name(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > maxName || !plain(name) || strings.ContainsAny(name, "<>") {
		return "", Refuse(protocol.ErrNumBadUserName, words.T("not a valid user name: enter one line without < and >, of at most {n} bytes", "n", maxName))
	}
	return name, nil
}

// plain reports whether a text is UTF-8 that shows on a line as it is.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(c rune) bool {
		return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
	})
}

// NewKey returns a new random account key.
func NewKey() protocol.Authenticator { return protocol.Authenticator(randomHex()) }

// HashCost is the cost of new hashes of passwords. Tests of whole servers lower it, before any starts.
var HashCost = bcrypt.DefaultCost

// slowHash returns the stored form of the hash that clients send in place of a password.
func slowHash(passwdHash string) (string, error) {
	if b, err := hex.DecodeString(passwdHash); err != nil || len(b) != 16 {
		return "", Refuse(protocol.ErrNumBadPassword, words.T("bad password hash"))
	}
	slow, err := bcrypt.GenerateFromPassword([]byte(strings.ToLower(passwdHash)), HashCost)
	return string(slow), err
}

// HashPassword returns the stored form of the password of the account with an address.
func HashPassword(email, password string) (string, error) {
	return slowHash(protocol.PasswordHash(password, email))
}

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Canonical returns the form in which e-mail addresses are stored.
func Canonical(email string) string { return strings.ToLower(strings.TrimSpace(email)) }
