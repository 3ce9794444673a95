package server_test

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// A volunteer joins in a browser and looks at each page, in light and dark mode and on a phone.
// axe-core finds no accessibility problem.
func TestSiteInABrowser(t *testing.T) {
	t.Parallel()
	w, v := newSite(t, lowBadges...)
	w.setUp()
	for name, text := range map[string]string{
		"home.md":    "# Which numbers are prime?\n\nA prime has no divisor but one and itself, and the largest that we know has forty million digits. We look for the next one. No single computer can do that. Yours can do a part of it.\n\n![Numbers in a spiral, the primes among them dark](images/spiral.svg)",
		"science.md": "# The science\n\nA prime has no divisor but one and itself.\n\n| Exponent | Found |\n|--|--|\n| 86243 | 1982 |",
		"terms.md":   "# Terms of use\n\nBe kind.", "images/spiral.svg": spiral(),
		"news/2026-11-20-start.md": "# The first hundred candidates are out\n\nThey take a day each.", "news/2026-10-02-gpus.md": "# A version for graphics cards\n\nIt is forty times as fast.",
		"news/2026-09-14-paper.md": "# Our first paper is in review\n\nSoon more.",
	} {
		p := filepath.Join(w.dir, "site", name)
		w.must(errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o600)))
	}
	b := testbrowser.New(t)
	b.Do("come to the site", chromedp.EmulateViewport(1100, 800), testbrowser.Media("light"), chromedp.Navigate(v.base))
	b.See("it invites", `document.querySelector('a.button').textContent === 'Join'`)
	b.Do("join", testbrowser.Press("a.button"), testbrowser.Press("main a[href$=signup]"))
	b.Do("sign up", chromedp.WaitVisible("input[name=email]"), chromedp.SendKeys("input[name=name]", "Ada"), chromedp.SendKeys("input[name=email]", "ada@example.org"),
		chromedp.SendKeys("input[name=password]", "long enough"), testbrowser.Press("main button.primary"))
	b.Do("agree", chromedp.Click("input[name=terms]"), testbrowser.Press("main button.primary"))
	b.See("the account", `document.querySelector('h1').textContent === 'Your account'`)

	u := w.userByEmail("ada@example.org")
	c := &client{w: w, key: u.Authenticator, name: "attic"}
	w.create(workgen.Params{Name: "wu", MinQuorum: 1, RscFpopsEst: 4.32e13}, "hello")
	c.compute(c.fetch())
	b.Do("found a team", chromedp.Navigate(v.base+"teams"), chromedp.SendKeys("form[method=post] input[name=name]", "The Starlings"), testbrowser.Press("main button.primary"))
	b.See("the team", `document.querySelector('h1').textContent === 'The Starlings'`)
	b.Do("choose", chromedp.Navigate(v.base+"preferences?venue=work"), testbrowser.Press("form:first-of-type button.primary"))
	b.See("it is saved", `document.querySelector('[role=status]')?.textContent.startsWith('Preferences saved')`)

	for i := range 3 {
		w.create(workgen.Params{Name: fmt.Sprintf("more%d", i), MinQuorum: 1}, "hello")
	}
	crowd(w)
	v.wants(200, "Queues")(v.do("GET", "status", nil)) // updates the counts
	host := fmt.Sprintf("computer?id=%d", c.host)
	pages := []string{
		"", "join", "news", "read?name=science", "signup", "login", "forgot", "account", "settings", "preferences", "computers", host, "task?id=1",
		"leaders", "leaders?of=teams&by=recent", "teams", "team?id=1", fmt.Sprintf("user?id=%d", u.ID), "status",
	}
	for _, scheme := range []string{"light", "dark"} {
		b.Do("go "+scheme, testbrowser.Media(scheme))
		for _, page := range pages {
			b.Do("open "+page, chromedp.Navigate(v.base+page), chromedp.WaitReady("main"))
			b.Accessible(scheme + " " + page)
			if scheme == "light" {
				b.Picture(map[string]string{"": "site-home", host: "site-computer", "preferences": "site-preferences", "leaders": "site-leaders"}[page])
			}
		}
	}
	b.Do("be a phone", chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2)))
	for _, language := range []string{"de", "en"} {
		b.Do("speak "+language, testbrowser.Language(language))
		for _, page := range pages {
			b.Do("open "+page, chromedp.Navigate(v.base+page), chromedp.WaitReady("main"))
			b.See(page+" in "+language+" is not wider than the phone, and shows all links", `document.documentElement.lang === "`+language+`" && document.documentElement.scrollWidth <= 320 && [...document.querySelectorAll('nav')].every(e => e.scrollWidth <= e.clientWidth)`)
		}
	}
	b.Picture("site-phone")
	b.Do("open join", chromedp.Navigate(v.base+"join"), chromedp.WaitReady(".flag"))
	b.See("on no phone a line ends within a flag", `[...Array(100).keys()].every(i => {
		document.querySelector('main').style.width = 200 + i + 'px';
		return [...document.querySelectorAll('.flag')].every(e => e.getClientRects().length === 1);
	})`)
}

// spiral is a picture of the numbers from 1 on, in Ulam's spiral.
func spiral() string {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="-24 -16 48 32"><rect x="-24" y="-16" width="48" height="32" fill="#e2f1ee"/><g fill="#0c6a60">`)
	x, y, dx, dy, side := 0, 0, 1, 0, 1
	for n := 1; n < 48*48; side += dx * dx {
		for range side {
			if big.NewInt(int64(n)).ProbablyPrime(0) {
				fmt.Fprintf(&b, `<circle cx="%d.5" cy="%d.5" r=".4"/>`, x, y)
			}
			x, y, n = x+dx, y+dy, n+1
		}
		dx, dy = dy, -dx
	}
	return b.String() + "</g></svg>"
}

// crowd gives the project volunteers with enough credit to be listed.
func crowd(w *world) {
	w.t.Helper()
	w.must(w.p.Store.Update(w.t.Context(), func(tx *store.Tx) error {
		team, err := tx.InsertTeam(store.Team{CreateTime: time.Now(), UserID: 1, Name: "University of Bergen"})
		if err != nil {
			return err
		}
		for i, name := range []string{"Ingrid L.", "Brian", "Mei", "Tomasz", "Aiko", "Noor", "Luis", "Femi", "Olga", "Jonas", "Priya", "Sam"} {
			key := fmt.Sprintf("%032d", 1000+i)
			id, err := tx.InsertUser(store.User{CreateTime: time.Now(), Name: name, EmailAddr: key, Authenticator: protocol.Authenticator(key)})
			if err != nil {
				return err
			}
			earned := 19_000 / float64(i+1)
			err = tx.AddUserCredit(id, 40*earned, earned, time.Now())
			if i < 4 {
				err = errors.Join(err, store.Change(tx.User, id, tx.SaveUser, func(u *store.User) { u.TeamID = team }), tx.AddTeamCredit(team, 40*earned))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}
