// Package testbrowser makes Chromium open a page in a test, act there as a person would, and check
// the visible content. The test fails on any complaint of the page.
package testbrowser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/starling-grid/starling/internal/testwait"
)

// Screenshots is the environment variable that names a folder for the pictures of docs/screenshots.
const Screenshots = "STARLING_SCREENSHOTS"

// An Action is something to be done in a page.
type Action = chromedp.Action[chromedp.Void]

// A Browser is a page in Chromium. It is for one goroutine.
type Browser struct {
	t   *testing.T
	ctx context.Context
}

// pages bounds the pages that are open at once: a page uses a processor for most of the time,
// and every page is slow where too many are open.
var pages = make(chan struct{}, runtime.GOMAXPROCS(0))

// New opens a page, as soon as there is room for it, until the test ends. Without Chromium it skips
// the test, or fails it if $CI is set. It ignores the errors of requests whose address ends in one
// of expected.
func New(t *testing.T, expected ...string) Browser {
	t.Helper()
	program, err := exec.LookPath("chromium-headless-shell") // takes half as much of a processor as all of Chromium
	if err != nil {
		program, err = exec.LookPath("chromium")
	}
	if err != nil {
		missing(t, "Chromium is not installed; tools/install-test-deps installs it; pages are NOT tested")
	}
	pages <- struct{}{}
	t.Cleanup(func() { <-pages })
	chromium, leave, err := join(program)
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	t.Cleanup(leave)
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	said, done := chromedp.Console(ctx), make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range said {
			if err != nil {
				return
			}
			// The page's policy reports violations this way, too. 422 is a refusal. An agent that
			// stops ends its stream of events.
			if strings.Contains(m.Text, "net::ERR_") && isExpected(m.URL, expected) {
				continue
			}
			if m.Type == "error" && !strings.Contains(m.Text, "422") || m.IsException() {
				t.Errorf("the page complains: %s (%s:%d)", m.Text, m.URL, m.Line)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return Browser{t, ctx}
}

// missing skips a test, or fails it where everything ought to be there.
func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") != "" && runtime.GOOS == "linux" { // as a Windows program it finds no browser
		t.Fatal(why)
	}
	t.Skip(why)
}

func isExpected(url string, expected []string) bool {
	for _, end := range append(expected, "/api/events") {
		if strings.HasSuffix(url, end) {
			return true
		}
	}
	return false
}

// Do does something.
func (b Browser) Do(what string, actions ...Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Patience)
	defer cancel()
	for _, a := range actions {
		err := chromedp.Do(ctx, a)
		for refused := (*cdproto.Error)(nil); errors.As(err, &refused) && ctx.Err() == nil; {
			err = chromedp.Do(ctx, a) // the page replaced the element just before
		}
		if err != nil {
			b.t.Fatalf("%s: %v", what, err)
		}
	}
}

// See waits until a condition is true in the page. The page checks it, and answers after a second at the
// latest, because each question to Chromium wakes three of its processes. (Poll of chromedp makes
// functions of strings, which the page's policy forbids.)
func (b Browser) See(what, condition string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Patience)
	defer cancel()
	look := `new Promise(say => {
		const end = Date.now() + 1000
		const look = () => {
			let fault = "not yet"
			try {
				if (` + condition + `) return say("")
			} catch (e) {
				fault = String(e)
			}
			Date.now() < end ? setTimeout(look, 20) : say(fault)
		}
		look()
	})`
	fault := ""
	if err := testwait.Poll(ctx, func() (err error) {
		for {
			said, err := chromedp.Run(ctx, chromedp.Evaluate[string](look, chromedp.EvalAwaitPromise))
			if err != nil || said == "" {
				return err // of a page that is being left
			}
			fault = said
		}
	}); err != nil {
		b.t.Fatalf("waiting until %s: %v: %s", what, err, fault)
	}
}

// Value returns the value of an expression, or of a promise once it is resolved.
func Value[V any](b Browser, expression string) V {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, testwait.Patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[V](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Press presses a button by keyboard: unlike the mouse, that does not miss when
// the page moves.
func Press(selector string) Action {
	rarely := chromedp.RetryInterval(50 * time.Millisecond) // the button may take seconds to appear
	return chromedp.Steps(chromedp.WaitVisible(selector, rarely), chromedp.Focus(selector), chromedp.KeyEvent(kb.Enter))
}

// Empty empties the field of an id.
func Empty(id string) Action {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("`+id+`").value = ""`))
		return err
	})
}

// Media sets the page's color scheme and turns motion off.
func Media(scheme string) Action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"}, // clicks miss elements that are still scrolling
			},
		})
		return err
	})
}

// Language sets the language that the browser asks for.
func Language(tag string) Action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": tag}})
		return err
	})
}

// Picture takes a picture if pictures are wanted and name is not empty.
func (b Browser) Picture(name string) {
	b.t.Helper()
	dir := os.Getenv(Screenshots)
	if dir == "" || name == "" {
		return
	}
	b.See("the note has gone", `!document.getElementById('said')?.textContent`)
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil { //nolint:gosec // for everybody to see
		b.t.Fatal(err)
	}
}

// Axe is the environment variable that names the file of axe-core's program. The default is the
// file that tools/install-test-deps fetched.
const Axe = "STARLING_AXE"

// Accessible has axe-core look for what shuts people out, such as fields without labels
// and texts of little contrast. If rules are named, it looks only for what breaks these. Where axe-core is
// not installed a subtest of that name is skipped, but fails if $CI is set.
func (b Browser) Accessible(what string, rules ...string) {
	b.t.Helper()
	file := os.Getenv(Axe)
	if cache, err := os.UserCacheDir(); err == nil && file == "" {
		file = filepath.Join(cache, "starling-test", "axe.min.js")
	}
	program, err := os.ReadFile(file)
	if err != nil {
		b.t.Run(what, func(t *testing.T) {
			missing(t, fmt.Sprintf("axe-core is not installed; tools/install-test-deps fetches it with npm; accessibility is NOT tested: %v", err))
		})
		return
	}
	if _, err := chromedp.Run(b.ctx, chromedp.Evaluate[chromedp.Void](string(program))); err != nil {
		b.t.Fatal(err)
	}
	options := "{}"
	if len(rules) > 0 {
		options = fmt.Sprintf(`{runOnly: ["%s"]}`, strings.Join(rules, `", "`))
	}
	for _, problem := range Value[[]string](b, `axe.run(document, `+options+`).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + v.help + ": " + n.target + " " + n.failureSummary)))`) {
		b.t.Errorf("%s: %s", what, problem)
	}
}
