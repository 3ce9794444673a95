package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/project"
)

// How long a link waits to be opened, and how long one stays signed in.
const (
	linkTime    = 5 * time.Minute
	sessionTime = 12 * time.Hour
)

const cookie = "starling_operator"

// The purposes of what is sealed. One is not good for the other.
const (
	toEnter = "enter"
	toStay  = "stay"
)

// Enter returns the query of a link that signs an operator in, once, for a few minutes. Whoever
// can read the project's keys can make one: the pages give no more rights than that.
func Enter(p *project.Project, actor string, now time.Time) string {
	return "enter?token=" + seal(p, toEnter, actor, now.Add(linkTime))
}

// seal says in a text that nobody else can make who somebody is, for a while.
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

// unseal returns who a sealed text says somebody is.
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

// enter signs in whoever has a link that was not used yet.
func (c *Console) enter(w http.ResponseWriter, r *http.Request) {
	now, token := time.Now(), r.FormValue("token")
	actor, ok := unseal(c.project, toEnter, token, now)
	if !ok || !c.first(token, now) {
		c.show(w, http.StatusForbidden, "closed.html", map[string]any{
			"Title": "Link expired", "Error": "This link was already used or has expired.",
		})
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure where there is TLS
		Name: cookie, Value: seal(c.project, toStay, actor, now.Add(sessionTime)), Path: "/",
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode, MaxAge: int(sessionTime.Seconds()),
	})
	c.log.Info("operator signed in", "actor", actor)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// first reports whether a link is used for the first time in this process.
func (c *Console) first(token string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t, at := range c.used {
		if now.Sub(at) > linkTime {
			delete(c.used, t)
		}
	}
	if _, again := c.used[token]; again {
		return false
	}
	c.used[token] = now
	return true
}

// leave signs out. The cookie is forgotten by the browser.
func (c *Console) leave(w http.ResponseWriter, r *http.Request, _ string) {
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode}) //nolint:gosec // it holds nothing
	c.show(w, http.StatusOK, "closed.html", map[string]any{"Title": "Signed out"})
}

// signedIn answers with h those who are signed in.
func (c *Console) signedIn(h func(w http.ResponseWriter, r *http.Request, actor string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if held, err := r.Cookie(cookie); err == nil {
			if actor, ok := unseal(c.project, toStay, held.Value, time.Now()); ok {
				h(w, r, actor)
				return
			}
		}
		c.show(w, http.StatusForbidden, "closed.html", map[string]any{"Title": "Sign in"})
	}
}
