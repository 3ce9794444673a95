package dashboard

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/words"
)

// URLFile is a file in the data directory, readable by its owner only, with the dashboard's address
// and the token.
const URLFile = "dashboard_url"

// tokenSize is in bytes.
const tokenSize = 16

// Announce writes the address with the token for a port into the data directory,
// and returns the token: the one that is there for this port, so that browsers
// stay known across restarts, or else a new one.
func Announce(dataDir, port string) (token string, err error) {
	if u, err := Address(dataDir); err == nil && u.Port() == port {
		if t := u.Query().Get("token"); len(t) == 2*tokenSize {
			return t, nil
		}
	}
	var random [tokenSize]byte
	_, _ = rand.Read(random[:])
	token = hex.EncodeToString(random[:])
	path := filepath.Join(dataDir, URLFile)
	return token, atomicfile.Write(path, []byte("http://127.0.0.1:"+port+"/login?token="+token+"\n"), 0o600)
}

// Retract removes the stored address. The dashboard no longer listens there, and the token must not
// reach another program that does.
func Retract(dataDir string) error {
	if err := os.Remove(filepath.Join(dataDir, URLFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Address reads the address with the token. The error wraps fs.ErrNotExist when
// no dashboard is served.
func Address(dataDir string) (*url.URL, error) {
	path := filepath.Join(dataDir, URLFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(string(bytes.TrimSpace(b)))
	if err != nil {
		return nil, fmt.Errorf("%s does not contain a URL; delete the file and restart the agent", path)
	}
	return u, nil
}

// policy lets the page load its own files and nothing else, and does not let any page frame it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard refuses requests that other sites' pages cause a browser to send. It checks the Host
// header, which names the site if its name was pointed at this computer (DNS rebinding), and the
// origin that the browser reports.
func guard(port string, next http.Handler) http.Handler {
	hosts := []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port}
	next = http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !slices.Contains(hosts, strings.ToLower(r.Host)) {
			http.Error(w, fmt.Sprintf("This dashboard is only available at http://127.0.0.1:%s/, not at %q.", port, r.Host), http.StatusMisdirectedRequest)
			return
		}
		// Other programs' pages on this computer count as the same site.
		site := r.Header.Get("Sec-Fetch-Site")
		if strings.HasPrefix(r.URL.Path, "/api/") && site != "" && site != "same-origin" && site != "none" {
			http.Error(w, "Only the dashboard's own page may use this address.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cookie returns the name of the cookie. Cookies do not depend on ports, so the name includes the
// port.
func cookie(port string) string { return "starling_" + port }

func (s *Server) right(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) == 1
}

// admit lets requests with the token through.
func (s *Server) admit(port string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie(cookie(port))
		switch {
		case err == nil && s.right(c.Value):
			next.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			control.Refuse(w, r, http.StatusUnauthorized, words.Refuse(words.T("this browser is no longer authorized; run: starling dashboard")))
		default:
			door(w, r, "")
		}
	})
}

// login takes the token or a ticket from the address that is printed, or from the form,
// and has the browser keep the token.
func (s *Server) login(w http.ResponseWriter, r *http.Request, port string) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	token, ticket := strings.TrimSpace(r.FormValue("token")), r.FormValue("ticket")
	if u, err := url.Parse(token); err == nil && u.RawQuery != "" { // someone pasted the whole address
		token, ticket = u.Query().Get("token"), u.Query().Get("ticket")
	}
	if !s.right(token) && !s.tickets.take(ticket, time.Now()) {
		said := ""
		if token != "" || ticket != "" {
			said = "This address is not valid any longer, or not for this agent."
		}
		door(w, r, said)
		return
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // not Secure: browsers differ on that over HTTP to loopback
		Name: cookie(port), Value: s.Token, Path: "/", MaxAge: 90 * 24 * 3600,
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	// A page rather than a redirect: after a link from elsewhere browsers would not
	// send the strict cookie along a redirect.
	page(w, r, http.StatusOK, `<meta http-equiv="refresh" content="0;url=/">`, `<p><a href="/">Open the dashboard</a></p>`)
}

// door sends the page that asks for the token. said must be text without markup.
func door(w http.ResponseWriter, r *http.Request, said string) {
	page(w, r, http.StatusUnauthorized, "", `<h1>Starling</h1>
<p>This page controls the agent, so you need to log in. On this computer, run</p>
<pre>starling dashboard</pre>
<p>and open the address that it prints, or paste the address here.</p>
<form method="post" action="/login">
<p role="alert" class="bad">`+said+`</p>
<label for="token">Address or token</label>
<input id="token" name="token" type="password" autocomplete="off" required autofocus>
<button class="primary">Open</button>
</form>`)
}

func page(w http.ResponseWriter, r *http.Request, status int, head, body string) {
	writePage(w, r, status, fmt.Sprintf(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Starling</title><link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/base.css"><link rel="stylesheet" href="/style.css">%s
<main class="door">%s</main></html>`, head, body))
}
