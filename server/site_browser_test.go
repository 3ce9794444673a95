package server_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/server/workgen"
)

// A volunteer joins in a browser and looks at each page, by day, by night and on a phone;
// axe-core finds nothing that shuts anybody out.
func TestSiteInABrowser(t *testing.T) {
	t.Parallel()
	w, v := newSite(t, lowBadges...)
	w.setUp()
	for name, text := range map[string]string{
		"home.md":    "We look for large prime numbers, and everybody's computer can help.",
		"science.md": "# The science\n\nA prime has no divisor but one and itself.\n\n| Exponent | Found |\n|--|--|\n| 86243 | 1982 |",
		"terms.md":   "# Terms of use\n\nBe kind.", "news/2026-11-20-start.md": "# We have started\n\nThe first hundred candidates are out.",
	} {
		p := filepath.Join(w.dir, "site", name)
		w.must(errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o600)))
	}
	b := testbrowser.New(t)
	b.Do("come to the site", chromedp.EmulateViewport(1100, 800), testbrowser.Media("light"), chromedp.Navigate(v.base))
	b.See("it invites", `document.querySelector('a.button').textContent === 'Join'`)
	b.Picture("site-home")
	b.Do("join", testbrowser.Press("a.button"), testbrowser.Press("main a[href$=signup]"))
	b.Do("sign up", chromedp.WaitVisible("input[name=email]"), chromedp.SendKeys("input[name=name]", "Ada"), chromedp.SendKeys("input[name=email]", "ada@example.org"),
		chromedp.SendKeys("input[name=password]", "long enough"), testbrowser.Press("main button.primary"))
	b.Do("agree", chromedp.Click("input[name=terms]"), testbrowser.Press("main button.primary"))
	b.See("the account", `document.querySelector('h2').textContent === 'Your account'`)

	u := w.userByEmail("ada@example.org")
	c := &client{w: w, key: u.Authenticator, name: "attic"}
	w.create(workgen.Params{Name: "wu", MinQuorum: 1, RscFpopsEst: 4.32e13}, "hello")
	c.compute(c.fetch())
	b.Do("found a team", chromedp.Navigate(v.base+"teams"), chromedp.SendKeys("form[method=post] input[name=name]", "The Starlings"), testbrowser.Press("main button.primary"))
	b.See("the team", `document.querySelector('h2').textContent === 'The Starlings'`)
	b.Do("choose", chromedp.Navigate(v.base+"preferences?venue=work"), testbrowser.Press("form:first-of-type button.primary"))
	b.See("it is saved", `document.querySelector('[role=status]')?.textContent.startsWith('Preferences saved')`)

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
				b.Picture(map[string]string{host: "site-computer", "preferences": "site-preferences", "leaders": "site-leaders"}[page])
			}
		}
	}
	b.Do("be a phone", chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2)))
	for _, page := range pages {
		b.Do("open "+page, chromedp.Navigate(v.base+page), chromedp.WaitReady("main"))
		b.See(page+" is not wider than the phone", `document.documentElement.scrollWidth <= 320`)
	}
	b.Picture("site-phone")
}
