package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"net/mail"
	"strings"
	"time"
	"unicode"

	"golang.org/x/crypto/bcrypt"

	"github.com/starling-grid/starling/protocol"
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
	email = strings.ToLower(strings.TrimSpace(email))
	name = strings.TrimSpace(name)
	switch a, err := mail.ParseAddress(email); {
	case err != nil || a.Address != email || len(email) > maxName:
		return store.User{}, &protocol.AccountError{Num: protocol.ErrNumBadEmail, Msg: "not a valid e-mail address"}
	case name == "" || len(name) > maxName || strings.ContainsFunc(name, func(c rune) bool {
		return unicode.IsControl(c) || strings.ContainsRune("<>", c)
	}):
		return store.User{}, &protocol.AccountError{Num: protocol.ErrNumBadUserName, Msg: "not a valid user name"}
	}
	u := store.User{
		CreateTime: now, EmailAddr: email, Name: name, Authenticator: protocol.Authenticator(randomHex()),
		CrossProjectID: randomHex(), ProjectPrefs: defaultPrefs,
	}
	if passwdHash == "" {
		return u, nil
	}
	slow, err := slowHash(passwdHash)
	if err != nil {
		return store.User{}, err
	}
	u.PasswdHash = slow
	return u, nil
}

// slowHash is what is stored of what clients send in place of a password.
func slowHash(passwdHash string) (string, error) {
	if b, err := hex.DecodeString(passwdHash); err != nil || len(b) != 16 {
		return "", &protocol.AccountError{Num: protocol.ErrNumBadPassword, Msg: "bad password hash"}
	}
	slow, err := bcrypt.GenerateFromPassword([]byte(strings.ToLower(passwdHash)), bcrypt.DefaultCost)
	return string(slow), err
}

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// errGuesses says that an account's password was tried too often. Clients take the
// number for a trouble that passes.
var errGuesses = &protocol.AccountError{
	Num: protocol.ErrNumProjectDown, Msg: "too many wrong passwords for this account: wait some minutes, or use the account key",
}

// prove returns nil if passwdHash proves that its sender owns the account: by the
// password, or by the key as BOINC also allows. Passwords are checked a few at a time
// and their guesses are rationed, as each takes a processor for a while.
func (s *Site) prove(ctx context.Context, u store.User, passwdHash string) error {
	passwdHash = strings.ToLower(passwdHash)
	if passwdHash == protocol.PasswordHash(string(u.Authenticator), u.EmailAddr) {
		return nil
	}
	wrong := &protocol.AccountError{Num: protocol.ErrNumBadPassword, Msg: "Invalid password"}
	if u.PasswdHash == "" {
		return wrong
	}
	done, err := s.hash(ctx)
	if err != nil {
		return err
	}
	defer done()
	if !s.guesses.take(u.ID, time.Now()) {
		s.Log.Warn("too many wrong passwords", "userid", u.ID)
		return errGuesses
	}
	if bcrypt.CompareHashAndPassword([]byte(u.PasswdHash), []byte(passwdHash)) != nil {
		return wrong
	}
	s.guesses.renew(u.ID)
	return nil
}

// hash waits until a password may be hashed; done must be called after that.
func (s *Site) hash(ctx context.Context) (done func(), err error) {
	select {
	case s.hashing <- struct{}{}:
		return func() { <-s.hashing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// lookupAccount tells the key of an account to whoever knows its password.
func (s *Site) lookupAccount(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	key, err := s.lookup(r.Context(), q.Get("email_addr"), q.Get("passwd_hash"))
	s.answer(w, key, err)
}

func (s *Site) lookup(ctx context.Context, email, passwdHash string) (protocol.Authenticator, error) {
	u, err := s.user(ctx, email)
	switch {
	case err != nil:
		return "", err
	case passwdHash == "":
		return "", nil // only asks whether there is such an account
	}
	if err := s.prove(ctx, u, passwdHash); err != nil {
		return "", err
	}
	return u.Authenticator, nil
}

func (s *Site) user(ctx context.Context, email string) (u store.User, err error) {
	email = strings.ToLower(strings.TrimSpace(email))
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
	key, err := s.create(r.Context(), q.Get("email_addr"), q.Get("user_name"), q.Get("passwd_hash"))
	s.answer(w, key, err)
}

func (s *Site) create(ctx context.Context, email, name, passwdHash string) (protocol.Authenticator, error) {
	if s.CreationDisabled {
		return "", &protocol.AccountError{Num: protocol.ErrNumNoCreation, Msg: "Account creation is disabled"}
	}
	if passwdHash == "" {
		return "", &protocol.AccountError{Num: protocol.ErrNumBadPassword, Msg: "bad password hash"}
	}
	taken := func(u store.User) (protocol.Authenticator, error) {
		err := s.prove(ctx, u, passwdHash)
		if refused, ok := errors.AsType[*protocol.AccountError](err); ok && refused.Num == protocol.ErrNumBadPassword {
			err = &protocol.AccountError{Num: protocol.ErrNumNotUnique, Msg: "There's already an account with that email address"}
		}
		if err != nil {
			return "", err
		}
		return u.Authenticator, nil
	}
	if u, err := s.user(ctx, email); err == nil {
		return taken(u)
	}
	done, err := s.hash(ctx)
	if err != nil {
		return "", err
	}
	u, err := NewUser(email, name, passwdHash, time.Now())
	done()
	if err != nil {
		return "", err
	}
	err = s.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.InsertUser(u)
		return err
	})
	if errors.Is(err, store.ErrExists) { // made by another request just now
		old, err := s.user(ctx, email)
		if err != nil {
			return "", err
		}
		return taken(old)
	}
	return u.Authenticator, err
}

func (s *Site) answer(w http.ResponseWriter, key protocol.Authenticator, err error) {
	var refused *protocol.AccountError
	switch {
	case err == nil:
		writeXML(w, protocol.EncodeAccountOut(key))
	case errors.As(err, &refused):
		writeXML(w, protocol.EncodeAccountError(refused.Num, refused.Msg))
	default:
		s.Log.Error("account call", "err", err)
		writeXML(w, protocol.EncodeAccountError(protocol.ErrNumProjectDown, "the project cannot answer now"))
	}
}
