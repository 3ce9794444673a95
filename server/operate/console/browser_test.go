package console_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/starling-grid/starling/internal/testbrowser"
)

// An operator finds a workunit that failed and retries it. axe-core finds nothing on any page, and
// all fit on a phone.
func TestConsoleInABrowser(t *testing.T) {
	d := newDesk(t)
	b := testbrowser.New(t)
	b.Do("sign in", chromedp.EmulateViewport(1200, 900), testbrowser.Media("light"), chromedp.Navigate(d.base+d.link()), chromedp.Click("button.primary"), chromedp.WaitVisible(".charts"))
	b.See("the charts have bars", `document.querySelectorAll('svg rect').length > 0`)
	b.Picture("operator-overview")
	b.Do("look for failures", testbrowser.Press(`nav a[href="/works"]`), chromedp.WaitVisible("select[name=state]"),
		chromedp.SetValue("select[name=state]", "error"), testbrowser.Press(".filter button"))
	b.See("one is there", `document.querySelectorAll('tbody tr').length === 1`)
	b.Do("open it", testbrowser.Press("tbody a"), testbrowser.Press("details:has(input[name=again]) summary"), chromedp.WaitVisible("input[name=again]"),
		chromedp.Click("input[name=again]"), testbrowser.Press("details[open] button"))
	b.See("it is retried", `document.querySelector('[role=status]')?.textContent === '1 workunit retried.'`)
	b.Picture("operator-workunit")
	pages := []string{"", "works", "work/2", "results", "result/1", "batches", "apps", "versions", "hosts", "host/1", "users", "user/1", "tokens", "audit"}
	for _, scheme := range []string{"light", "dark"} {
		b.Do("go "+scheme, testbrowser.Media(scheme))
		for _, page := range pages {
			b.Do("open "+page, chromedp.Navigate(d.base+page), chromedp.WaitReady("main"))
			b.Accessible(scheme + " " + page)
		}
	}
	b.Do("be a phone", chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2)))
	for _, page := range pages {
		b.Do("open "+page, chromedp.Navigate(d.base+page), chromedp.WaitReady("main"))
		b.See(page+" is not wider than the phone", `document.documentElement.scrollWidth <= 320`)
	}
}
