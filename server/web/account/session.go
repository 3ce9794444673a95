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

// Bearer returns the account that a token is for, or ErrSession.
func (g *Gate) Bearer(r *http.Request, purpose, token string) (p Proof, err error) {
	i := strings.LastIndexByte(token, '.')
	if i < 0 {
		return p, ErrSession
	}
	idText, untilText, _ := strings.Cut(token[:i], ".")
	id, errID := strconv.ParseInt(idText, 10, 64)
	until, errUntil := strconv.ParseInt(untilText, 10, 64)
	if errID != nil || errUntil != nil || time.Now().Unix() >= until {
		return p, ErrSession
	}
	p.still = func(_ *store.View, now store.User) error {
		if !hmac.Equal([]byte(token[i+1:]), []byte(g.seal(purpose, token[:i], now))) {
			return ErrSession
		}
		return nil
	}
	err = g.Store.View(r.Context(), func(tx *store.View) (err error) {
		if p.User, err = tx.User(id); err != nil {
			return err
		}
		return p.still(tx, p.User)
	})
	if errors.Is(err, store.ErrNotFound) {
		err = ErrSession
	}
	return p, err
}

// Visitor returns the account that is logged in, or ErrSession.
func (g *Gate) Visitor(r *http.Request) (p Proof, err error) {
	c, err := r.Cookie(sessionCookie)
	if err != nil {
		return p, ErrSession
	}
	hash := sessionHash(c.Value)
	err = g.Store.View(r.Context(), func(tx *store.View) error {
		u, err := tx.UserOfSession(hash, time.Now())
		p = bySession(u, hash)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && p.Banned() {
		err = ErrSession
	}
	return p, err
}

// sessionHash returns the stored form of a session's cookie, so that the cookie cannot be recovered
// from the database.
func sessionHash(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}

// Admit logs an account's owner in, after the changes that fn makes in the same transaction.
func (g *Gate) Admit(w http.ResponseWriter, r *http.Request, p Proof, fn func(tx *store.Tx, u store.User) error) error {
	cookie, now := rand.Text(), time.Now()
	err := g.Update(r.Context(), p, func(tx *store.Tx, u store.User) error {
		if err := fn(tx, u); err != nil {
			return err
		}
		return tx.AddSession(sessionHash(cookie), u.ID, now, now.Add(sessionTime))
	})
	if err == nil {
		g.setCookie(w, cookie, int(sessionTime/time.Second))
	}
	return err
}

// LogIn is Admit without changes.
func (g *Gate) LogIn(w http.ResponseWriter, r *http.Request, p Proof) error {
	return g.Admit(w, r, p, func(*store.Tx, store.User) error { return nil })
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
