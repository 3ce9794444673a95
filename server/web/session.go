package web

import (
	"crypto/hmac"
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
func (s *Site) visitor(r *http.Request) (store.User, error) {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return store.User{}, errSession
	}
	return s.bearer(r, "session", c.Value)
}

// admit logs a user in; without one it logs out.
func (s *Site) admit(w http.ResponseWriter, u *store.User) {
	base, _ := url.Parse(s.MasterURL)
	c := &http.Cookie{Name: sessionCookie, Path: base.Path, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: base.Scheme == "https", MaxAge: -1} //nolint:gosec // a project without TLS has no secure cookies
	if u != nil {
		c.Value, c.MaxAge = s.token("session", *u, time.Now().Add(sessionTime)), int(sessionTime/time.Second)
	}
	http.SetCookie(w, c)
}
