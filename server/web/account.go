package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"net/mail"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/store"
)

// defaultPrefs is what a new account's project preferences hold. They go into
// every reply, so that clients have something to keep.
const defaultPrefs = "<resource_share>100</resource_share>\n<project_specific>\n</project_specific>\n"

const maxName = 254 // bytes in a user's name or address, as in BOINC

// NewUser returns an account that is ready to be inserted. passwdHash is what a
// client sends in place of the password; empty means that nobody can log in
// with one.
func NewUser(email, name, passwdHash string, now time.Time) (store.User, error) {
	u, err := newUser(email, name, now)
	if err != nil || passwdHash == "" {
		return u, err
	}
	u.PasswdHash, err = slowHash(passwdHash)
	return u, err
}

// newUser returns an account without a password.
func newUser(email, name string, now time.Time) (store.User, error) {
	email = account(email)
	name = strings.TrimSpace(name)
	switch a, err := mail.ParseAddress(email); {
	case err != nil || a.Address != email || len(email) > maxName || !plain(email):
		return store.User{}, &protocol.AccountError{Num: protocol.ErrNumBadEmail, Msg: "not a valid e-mail address"}
	case name == "" || len(name) > maxName || !plain(name) || strings.ContainsAny(name, "<>"):
		return store.User{}, &protocol.AccountError{Num: protocol.ErrNumBadUserName, Msg: "not a valid user name"}
	}
	return store.User{
		CreateTime: now, EmailAddr: email, Name: name, Authenticator: NewKey(),
		CrossProjectID: randomHex(), ProjectPrefs: defaultPrefs,
	}, nil
}

// plain reports whether a text is UTF-8 that shows on a line as it is.
func plain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(c rune) bool {
		return unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
	})
}

// NewKey returns an account key that nobody has.
func NewKey() protocol.Authenticator { return protocol.Authenticator(randomHex()) }

// slowHash is what is stored of what clients send in place of a password.
func slowHash(passwdHash string) (string, error) {
	if b, err := hex.DecodeString(passwdHash); err != nil || len(b) != 16 {
		return "", &protocol.AccountError{Num: protocol.ErrNumBadPassword, Msg: "bad password hash"}
	}
	slow, err := bcrypt.GenerateFromPassword([]byte(strings.ToLower(passwdHash)), bcrypt.DefaultCost)
	return string(slow), err
}

// HashPassword returns what is stored of the password of the account with an address.
func HashPassword(email, password string) (string, error) {
	return slowHash(protocol.PasswordHash(password, email))
}

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// errGuesses says that an account's password was tried too often. Clients take the
// number for a trouble that passes.
var errGuesses = &protocol.AccountError{
	Num: protocol.ErrNumProjectDown, Msg: "too many wrong passwords for this account: wait a few minutes, or use the account key",
}

// errWrong is the answer to a wrong password, and on pages to an unknown address too.
var errWrong = &protocol.AccountError{Num: protocol.ErrNumBadPassword, Msg: "Invalid password"}

// nobody is the hash of no password. It is compared where there is no account, so that
// the answer takes as long.
var nobody = sync.OnceValue(func() []byte {
	hash, err := bcrypt.GenerateFromPassword([]byte(randomHex()), bcrypt.DefaultCost)
	if err != nil {
		panic(err) // the text is short enough
	}
	return hash
})

// try counts an account call of an address, and returns an error if it makes too many.
func (s *Site) try(r *http.Request) error {
	from := limit.Network(limit.ClientOf(r))
	if wait, ok := s.tries.Take(from, time.Now()); !ok {
		s.Log.Warn("too many account calls", "ip", from, "wait", wait)
		return &protocol.AccountError{Num: protocol.ErrNumProjectDown, Msg: "too many requests from your address: wait a minute"}
	}
	return nil
}

// prove returns the account with this address if passwdHash proves that its sender owns
// it: by the password, or by the key as BOINC also allows. Passwords are checked a few at
// a time, as each takes a processor for a while, and guesses are rationed by account and
// address together: a stranger's do not keep the owner out.
func (s *Site) prove(r *http.Request, email, passwdHash string) (store.User, error) {
	u, err := s.owner(r, email, passwdHash)
	if err == nil {
		err = welcome(u)
	}
	if err != nil {
		return store.User{}, err
	}
	return u, nil
}

// welcome returns an error if an account is banned, for its owner to read.
func welcome(u store.User) error {
	if !u.Banned() {
		return nil
	}
	why := "The project has banned this account"
	if u.BanReason != "" {
		why += ": " + u.BanReason
	}
	return &protocol.AccountError{Num: protocol.ErrNumAuthenticator, Msg: why}
}

// owner is prove for all accounts, banned ones too.
func (s *Site) owner(r *http.Request, email, passwdHash string) (store.User, error) {
	email, passwdHash = account(email), strings.ToLower(passwdHash)
	u, err := s.user(r.Context(), email)
	unknown, _ := errors.AsType[*protocol.AccountError](err)
	if err != nil && unknown == nil {
		return u, err
	}
	if unknown == nil && subtle.ConstantTimeCompare([]byte(passwdHash), []byte(protocol.PasswordHash(string(u.Authenticator), u.EmailAddr))) == 1 {
		return u, nil
	}
	g := guess{sha256.Sum256([]byte(email)), limit.Network(limit.ClientOf(r))}
	if wait, ok := s.guesses.Take(g, time.Now()); !ok {
		s.Log.Warn("too many wrong passwords", "userid", u.ID, "ip", g.from, "wait", wait)
		return store.User{}, errGuesses
	}
	if err := s.try(r); err != nil {
		return store.User{}, err
	}
	done, err := s.hashing.begin(r.Context(), true)
	if err != nil {
		return store.User{}, err
	}
	defer done()
	hash := []byte(u.PasswdHash)
	if len(hash) == 0 {
		hash = nobody()
	}
	wrong := bcrypt.CompareHashAndPassword(hash, []byte(passwdHash)) != nil
	switch {
	case unknown != nil:
		return store.User{}, unknown
	case wrong:
		return store.User{}, errWrong
	}
	s.guesses.Renew(g)
	return u, nil
}

// account returns the form in which addresses are stored.
func account(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// lookupAccount tells the key of an account to whoever knows its password.
func (s *Site) lookupAccount(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	email, passwdHash := q.Get("email_addr"), q.Get("passwd_hash")
	if passwdHash == "" { // only asks whether there is such an account
		err := s.try(r)
		if err == nil {
			_, err = s.user(r.Context(), email)
		}
		s.answer(w, "", err)
		return
	}
	u, err := s.prove(r, email, passwdHash)
	s.answer(w, u.Authenticator, err)
}

func (s *Site) user(ctx context.Context, email string) (u store.User, err error) {
	email = account(email)
	err = s.Store.View(ctx, func(tx *store.Tx) (err error) {
		u, err = tx.UserByEmail(email)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = &protocol.AccountError{Num: protocol.ErrNumNotFound, Msg: "not found"}
	}
	return u, err
}

// createAccount makes an account. Asked again with the same password it tells
// the key of the account that is there, since a client may not have got the
// first answer.
func (s *Site) createAccount(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	u, err := s.create(r, q.Get("email_addr"), q.Get("user_name"), q.Get("passwd_hash"))
	s.answer(w, u.Authenticator, err)
}

func (s *Site) create(r *http.Request, email, name, passwdHash string) (store.User, error) {
	none := store.User{}
	if s.CreationDisabled {
		return none, &protocol.AccountError{Num: protocol.ErrNumNoCreation, Msg: "Account creation is disabled"}
	}
	if passwdHash == "" {
		return none, &protocol.AccountError{Num: protocol.ErrNumBadPassword, Msg: "bad password hash"}
	}
	ctx := r.Context()
	taken := func() (store.User, error) {
		u, err := s.prove(r, email, passwdHash)
		if refused, ok := errors.AsType[*protocol.AccountError](err); ok && refused.Num == protocol.ErrNumBadPassword {
			err = &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: "There's already an account with that email address"}
		}
		return u, err
	}
	if _, err := s.user(ctx, email); err == nil {
		return taken()
	}
	if err := s.try(r); err != nil {
		return none, err
	}
	u, err := newUser(email, name, time.Now())
	if err != nil {
		return none, err
	}
	from := limit.Network(limit.ClientOf(r))
	if wait, ok := s.accounts.Take(from, time.Now()); !ok {
		s.Log.Warn("too many new accounts", "ip", from, "wait", wait)
		return none, &protocol.AccountError{Num: protocol.ErrNumProjectDown, Msg: "too many accounts were created from your address: try again in " + wait.Round(time.Minute).String() + ", or ask the project to create one"}
	}
	done, err := s.hashing.begin(ctx, false)
	if err != nil {
		return none, err
	}
	u.PasswdHash, err = slowHash(passwdHash)
	done()
	if err != nil {
		return none, err
	}
	err = s.Store.Update(ctx, func(tx *store.Tx) (err error) {
		u.ID, err = tx.InsertUser(u)
		return err
	})
	if errors.Is(err, store.ErrExists) { // made by another request just now
		return taken()
	}
	return u, err
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
		writeXML(w, protocol.EncodeAccountError(protocol.ErrNumProjectDown, unavailable))
	}
}
