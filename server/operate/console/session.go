package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
)

// The lifetime of an unused link, and of a session.
const (
	linkTime    = 5 * time.Minute
	sessionTime = 12 * time.Hour
)

const cookie = "starling_operator"

// toEnter is the purpose of a sealed text in a link.
const toEnter = "enter"

// Enter returns the query of a link with which an operator can sign in, once, for a few minutes.
// Anyone who can read the project's keys can make one: the pages give no more rights than the keys.
func Enter(p *project.Project, actor string, now time.Time) string {
	return "enter?token=" + seal(p, toEnter, actor, now.Add(linkTime))
}

// seal returns an unforgeable text that identifies the actor until a time.
func seal(p *project.Project, purpose, actor string, until time.Time) string {
	text := fmt.Sprintf("%s.%d.%s", base64.RawURLEncoding.EncodeToString([]byte(actor)), until.Unix(), rand.Text())
	return text + "." + proof(p, purpose, text)
}

func proof(p *project.Project, purpose, text string) string {
	key := sha256.Sum256([]byte("operator pages\x00" + p.UploadKey().Text()))
	mac := hmac.New(sha256.New, key[:])
	fmt.Fprintf(mac, "%s\x00%s", purpose, text)
	return hex.EncodeToString(mac.Sum(nil))
}

// unseal returns the actor in a sealed text.
func unseal(p *project.Project, purpose, sealed string, now time.Time) (actor string, ok bool) {
	i := strings.LastIndexByte(sealed, '.')
	if i < 0 || !hmac.Equal([]byte(proof(p, purpose, sealed[:i])), []byte(sealed[i+1:])) {
		return "", false
	}
	fields := strings.Split(sealed[:i], ".")
	if len(fields) != 3 {
		return "", false
	}
	until, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || now.Unix() >= until {
		return "", false
	}
	name, err := base64.RawURLEncoding.DecodeString(fields[0])
	return string(name), err == nil
}

// ask shows a button that signs in with a link. The link alone does nothing: programs that scan
// mails and chats open links, too.
func (c *Console) ask(w http.ResponseWriter, r *http.Request) {
	token := r.URL.Query().Get("token")
	if _, ok := unseal(c.project, toEnter, token, time.Now()); !ok {
		c.expired(w)
		return
	}
	c.show(w, http.StatusOK, "enter.html", map[string]any{"Title": "Sign in", "Token": token})
}

func (c *Console) expired(w http.ResponseWriter) {
	c.show(w, http.StatusForbidden, "closed.html", map[string]any{
		"Title": "Link expired", "Error": "This link was already used or has expired.",
	})
}

// enter signs in an operator with a link that was not used yet, in this process or another.
func (c *Console) enter(w http.ResponseWriter, r *http.Request) {
	now, token := time.Now(), r.PostFormValue("token")
	actor, ok := unseal(c.project, toEnter, token, now)
	if !ok {
		c.expired(w)
		return
	}
	held := rand.Text()
	err := c.project.Store.Update(r.Context(), func(tx *store.Tx) error {
		return tx.SignIn(hashOf(token), now.Add(linkTime), store.OperatorSession{Hash: hashOf(held), Actor: actor, Expires: now.Add(sessionTime)}, now)
	})
	if errors.Is(err, store.ErrExists) {
		c.expired(w)
		return
	}
	if err != nil {
		c.fail(w, err)
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where there is TLS
		Name: cookie, Value: held, Path: "/",
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode, MaxAge: int(sessionTime.Seconds()),
	})
	c.log.Info("operator signed in", "actor", actor)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// hashOf returns the hash of a link or a cookie that is stored, so that read access to the database
// does not give access to the pages.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// leave signs out, here and in the browser.
func (c *Console) leave(w http.ResponseWriter, r *http.Request, actor string) {
	if held, err := r.Cookie(cookie); err == nil {
		if err := c.project.Store.Update(r.Context(), func(tx *store.Tx) error { return tx.SignOut(hashOf(held.Value)) }); err != nil {
			c.fail(w, err)
			return
		}
	}
	c.log.Info("operator signed out", "actor", actor)
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode}) //nolint:gosec // it holds nothing
	c.show(w, http.StatusOK, "closed.html", map[string]any{"Title": "Signed out"})
}

// signedIn calls h for requests of signed-in operators.
func (c *Console) signedIn(h func(w http.ResponseWriter, r *http.Request, actor string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if held, err := r.Cookie(cookie); err == nil {
			actor, err := store.Read(r.Context(), c.project.Store, func(tx *store.View) (string, error) { return tx.Operator(hashOf(held.Value), time.Now()) })
			switch {
			case err == nil:
				h(w, r, actor)
				return
			case !errors.Is(err, store.ErrNotFound):
				c.fail(w, err)
				return
			}
		}
		c.show(w, http.StatusForbidden, "closed.html", map[string]any{"Title": "Sign in"})
	}
}
