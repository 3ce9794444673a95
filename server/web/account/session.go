package account

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

// The lifetime of a session, and of a link in a mail.
const (
	sessionTime = 30 * 24 * time.Hour
	ResetTime   = time.Hour
	ConfirmTime = 7 * 24 * time.Hour
)

const sessionCookie = "starling_session"

var ErrSession = errors.New("not logged in")

// Token returns a token that proves for a while that its bearer is a user, for one purpose. The
// server does not store tokens. A new password ends all of them.
func (g *Gate) Token(purpose string, u store.User, until time.Time) string {
	text := fmt.Sprintf("%d.%d", u.ID, until.Unix())
	return text + "." + g.seal(purpose, text, u)
}

func (g *Gate) seal(purpose, text string, u store.User) string {
	mac := hmac.New(sha256.New, g.Secret)
	fmt.Fprintf(mac, "%s\x00%s\x00%s", purpose, text, u.PasswdHash)
	return hex.EncodeToString(mac.Sum(nil))
}

// Bearer returns whom a token is of, or ErrSession.
func (g *Gate) Bearer(r *http.Request, purpose, token string) (u store.User, err error) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return u, ErrSession
	}
	idText, untilText, _ := strings.Cut(token[:i], ".")
	id, errID := strconv.ParseInt(idText, 10, 64)
	until, errUntil := strconv.ParseInt(untilText, 10, 64)
	if errID != nil || errUntil != nil || time.Now().Unix() >= until {
		return u, ErrSession
	}
	err = g.Store.View(r.Context(), func(tx *store.View) (err error) {
		u, err = tx.User(id)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && !hmac.Equal([]byte(token[i+1:]), []byte(g.seal(purpose, token[:i], u))) {
		return store.User{}, ErrSession
	}
	return u, err
}

// Visitor returns the account that is logged in, or ErrSession.
func (g *Gate) Visitor(r *http.Request) (u store.User, err error) {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return u, ErrSession
	}
	err = g.Store.View(r.Context(), func(tx *store.View) (err error) {
		u, err = tx.UserOfSession(sessionHash(c.Value), time.Now())
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && u.Banned() {
		err = ErrSession
	}
	return u, err
}

// sessionHash returns the stored form of a session's cookie, so that the cookie cannot be recovered
// from the database.
func sessionHash(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}

// Admit logs a user in.
func (g *Gate) Admit(w http.ResponseWriter, r *http.Request, u store.User) error {
	if err := welcome(u); err != nil {
		return err
	}
	cookie, now := rand.Text(), time.Now()
	err := g.Store.Update(r.Context(), func(tx *store.Tx) error {
		return tx.AddSession(sessionHash(cookie), u.ID, now, now.Add(sessionTime))
	})
	if err == nil {
		g.setCookie(w, cookie, int(sessionTime/time.Second))
	}
	return err
}

// Leave ends a visit, here and in the browser.
func (g *Gate) Leave(w http.ResponseWriter, r *http.Request) error {
	g.setCookie(w, "", -1)
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return nil
	}
	return g.Store.Update(r.Context(), func(tx *store.Tx) error { return tx.EndSession(sessionHash(c.Value)) })
}

func (g *Gate) setCookie(w http.ResponseWriter, value string, age int) {
	base, _ := url.Parse(g.MasterURL)
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Value: value, MaxAge: age, Path: base.Path, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: base.Scheme == "https"}) //nolint:gosec // a project without TLS has no secure cookies
}
