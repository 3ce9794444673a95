package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// How long a visit lasts, and how long a link in a mail works.
const (
	sessionTime = 30 * 24 * time.Hour
	resetTime   = time.Hour
)

const sessionCookie = "starling_session"

var errSession = errors.New("not logged in")

// token proves for a while that its bearer is a user, for one purpose. Nothing is
// kept of it; a new password ends all tokens.
func (s *Site) token(purpose string, u store.User, until time.Time) string {
	text := fmt.Sprintf("%d.%d", u.ID, until.Unix())
	return text + "." + s.seal(purpose, text, u)
}

func (s *Site) seal(purpose, text string, u store.User) string {
	mac := hmac.New(sha256.New, s.Secret)
	fmt.Fprintf(mac, "%s\x00%s\x00%s", purpose, text, u.PasswdHash)
	return hex.EncodeToString(mac.Sum(nil))
}

// bearer returns whom a token is of, or errSession.
func (s *Site) bearer(r *http.Request, purpose, token string) (u store.User, err error) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return u, errSession
	}
	idText, untilText, _ := strings.Cut(token[:i], ".")
	id, errID := strconv.ParseInt(idText, 10, 64)
	until, errUntil := strconv.ParseInt(untilText, 10, 64)
	if errID != nil || errUntil != nil || time.Now().Unix() >= until {
		return u, errSession
	}
	err = s.Store.View(r.Context(), func(tx *store.Tx) (err error) {
		u, err = tx.User(id)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && !hmac.Equal([]byte(token[i+1:]), []byte(s.seal(purpose, token[:i], u))) {
		return store.User{}, errSession
	}
	return u, err
}

// visitor returns who is logged in, or errSession.
func (s *Site) visitor(r *http.Request) (u store.User, err error) {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return u, errSession
	}
	err = s.Store.View(r.Context(), func(tx *store.Tx) (err error) {
		u, err = tx.UserOfSession(sessionHash(c.Value), time.Now())
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && u.Banned() {
		err = errSession
	}
	return u, err
}

// sessionHash is what is stored of a session: whoever reads the database cannot use it.
func sessionHash(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}

// admit logs a user in.
func (s *Site) admit(w http.ResponseWriter, r *http.Request, u store.User) error {
	if err := welcome(u); err != nil {
		return err
	}
	cookie, now := rand.Text(), time.Now()
	err := s.Store.Update(r.Context(), func(tx *store.Tx) error {
		return tx.AddSession(sessionHash(cookie), u.ID, now, now.Add(sessionTime))
	})
	if err == nil {
		s.setCookie(w, cookie, int(sessionTime/time.Second))
	}
	return err
}

// leave ends a visit, here and in the browser.
func (s *Site) leave(w http.ResponseWriter, r *http.Request) error {
	s.setCookie(w, "", -1)
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return nil
	}
	return s.Store.Update(r.Context(), func(tx *store.Tx) error { return tx.EndSession(sessionHash(c.Value)) })
}

func (s *Site) setCookie(w http.ResponseWriter, value string, age int) {
	base, _ := url.Parse(s.MasterURL)
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: value, MaxAge: age, Path: base.Path, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: base.Scheme == "https"}) //nolint:gosec // a project without TLS has no secure cookies
}
