package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/internal/testhost"
)

// screenshots names a folder that TestDashboard puts pictures into, those of
// docs/screenshots.
const screenshots = "STARLING_SCREENSHOTS"

// TestDashboard does in Chromium what a volunteer would: attach, watch a task run
// to its end, suspend one, change a preference; on a phone's width and in the dark.
func TestDashboard(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed; tools/install-test-deps installs it")
	}
	p, err := testhost.NewProject(ctx, bin, filepath.Join(t.TempDir(), "project"), "primes")
	if err != nil {
		t.Fatal(err)
	}
	platform, _ := hostinfo.Platform()
	run(t, ctx, p, "app", "add", p.Dir, "mersenne")
	run(t, ctx, p, "version", "add", p.Dir, "mersenne", "--platform", platform, "--version", "1.00", "--main", bin.Path(testhost.Mersenne))
	work(t, ctx, p, 1, lasting, 132049, 44497)
	serve(t, ctx, p)
	port, err := testhost.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	a, err := testhost.NewAgent(bin, filepath.Join(t.TempDir(), "starling"), "disk_interval = 1\n", fmt.Sprintf("ncpus = 2\ndashboard_port = %d\n", port))
	if err == nil {
		err = a.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
		showLog(t, a.Log())
	})
	await(t, ctx, a, "the agent", func(control.Status) bool { return true })
	address, err := a.Run(ctx, "dashboard", "--no-browser")
	if err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, ctx, chromium)

	b.do("open the page", media("light"), chromedp.EmulateViewport(1120, 940), chromedp.Navigate(strings.TrimSpace(address)))
	b.see("the page is live", `document.getElementById('link').textContent === 'live'`)
	b.see("the token has left the address", `location.pathname === '/' && location.search === ''`)
	b.see("there is no project", `document.getElementById('now-title').textContent === 'Not attached to any project'`)

	b.do("open the form", chromedp.Click("#attach-open"))
	b.do("attach with a wrong password", chromedp.SendKeys("#attach-url", p.URL), chromedp.SendKeys("#attach-email", testhost.Email),
		chromedp.SendKeys("#attach-password", "wrong"+kb.Enter))
	b.see("the refusal", `document.getElementById('attach-fault').textContent.length > 10`)
	b.do("attach", empty("attach-password"), chromedp.SendKeys("#attach-password", testhost.Password+kb.Enter))
	b.see("the project is attached", `document.querySelector('#projects-list .pill')?.textContent === 'attached'`)
	short := `document.querySelector('#tasks-list li[data-key$="m44497_0"]')`
	b.do("suspend a task", press(`button[aria-label="Suspend m44497_0"]`))
	b.see("the focus is on what is there now", `document.activeElement.getAttribute('aria-label') === 'Resume m44497_0'`)
	b.see("the task rests", short+`.querySelector('.why').textContent === 'You suspended this task.'`)
	await(t, ctx, a, "the task to rest", func(s control.Status) bool { return rests(s, "m44497_0") })
	b.see("the others run", `document.querySelectorAll('#tasks-list li:not(.resting)').length === 2`)
	b.see("they progress", `[...document.querySelectorAll('#tasks-list li:not(.resting) progress')].every(e => e.value > 0.01)`)
	b.see("the headline tells it", `document.getElementById('now-title').textContent === 'Computing 2 tasks'`)
	b.picture("light")
	b.do("go dark", media("dark"))
	b.see("it is dark", `getComputedStyle(document.body).backgroundColor === 'rgb(16, 21, 26)'`)
	b.picture("dark")
	b.do("be a phone", media("light"), chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2)))
	b.see("nothing is wider than the phone", `document.documentElement.scrollWidth <= 320`)
	b.picture("phone")
	b.do("be wide", chromedp.EmulateViewport(1120, 940))

	b.do("prefer nonsense", chromedp.SendKeys("#pref-max_ncpus_pct", "500"))
	b.see("the fault", `document.getElementById('prefs-fault').textContent.includes('500 is not between 0 and 100') && document.getElementById('prefs-save').disabled`)
	b.do("prefer one CPU", empty("pref-max_ncpus_pct"), chromedp.SendKeys("#pref-max_ncpus_pct", "50"))
	b.see("what will be written", `document.getElementById('prefs-toml').textContent === 'max_ncpus_pct = 50\n' && !document.getElementById('prefs-save').disabled`)
	if _, err := os.Stat(filepath.Join(a.Dir, "prefs_override.toml")); err == nil {
		t.Error("a look wrote the file")
	}
	b.do("save", press("#prefs-save"))
	b.see("it holds", `document.getElementById('now-text').textContent.includes('1 of 2 CPUs')`)
	b.see("its origin", `document.getElementById('pref-max_ncpus_pct-now').textContent.includes('from prefs_override.toml')`)
	if text, err := os.ReadFile(filepath.Join(a.Dir, "prefs_override.toml")); err != nil || !strings.Contains(string(text), "\nmax_ncpus_pct = 50\n") {
		t.Errorf("the file holds %q, %v", text, err)
	}

	b.do("choose hours for a day", chromedp.Click("#prefs-keys summary"), chromedp.SendKeys(`input[name="saturday.start_hour"]`, "0"), chromedp.SendKeys(`input[name="saturday.end_hour"]`, "24"))
	b.see("what will be written for it", `document.getElementById('prefs-toml').textContent.includes('[day.saturday]\nstart_hour = 0\nend_hour = 24\n') && !document.getElementById('prefs-save').disabled`)
	b.do("save it", press("#prefs-save"))
	b.see("it is there", `document.getElementById('prefs-save').disabled && document.querySelector('input[name="saturday.end_hour"]').value === '24'`)
	if text, err := os.ReadFile(filepath.Join(a.Dir, "prefs_override.toml")); err != nil || !strings.Contains(string(text), "\n[day.saturday]\nstart_hour = 0\nend_hour = 24\n") {
		t.Errorf("the file holds %q, %v", text, err)
	}

	b.do("let the others rest", press(`button[aria-label="Suspend m216091_0"]`), press(`button[aria-label="Suspend m132049_0"]`))
	b.do("resume by keyboard", press(`button[aria-label="Resume m44497_0"]`))
	b.see("it runs", short+`.querySelector('.pill').textContent === 'running'`)
	b.see("it is computed", `document.getElementById('said').textContent === 'm44497_0 is finished.'`)
	b.do("report it", press(`button[aria-label^="Update"]`))
	b.see("it is reported", `!`+short)
	b.see("what the project got", `parseInt([...document.querySelectorAll('#projects-list dt')].find(e => e.textContent === 'CPU time').nextSibling.textContent) > 0`)
	for granted := int64(0); granted == 0; {
		c, err := p.Count(ctx)
		if err != nil {
			t.Fatal(err)
		}
		granted = c.Results.Granted
	}
	b.do("ask for the credit", press(`button[aria-label^="Update"]`))
	b.see("the credit", `parseFloat(document.querySelector('#credit-list .big')?.textContent) > 0 && document.querySelector('#credit-list svg[aria-label*="Credit of primes"]')`)

	b.do("stop all", chromedp.Focus(`#mode-run input[value="never"]`), chromedp.KeyEvent(" "))
	b.see("all rests", `document.getElementById('now-title').textContent === 'Computing is suspended'`)
	b.do("detach", press(`button[aria-label^="Detach"]`), press("#sure-yes"))
	await(t, ctx, a, "the project to be detached", func(s control.Status) bool { return len(s.Projects) == 0 || s.Projects[0].Disconnected })
	_ = a.SteerProject(ctx, p.URL, control.FinishProject) // one without tasks has gone already
	await(t, ctx, a, "no project", func(s control.Status) bool { return len(s.Projects) == 0 })
	b.see("there is no project", `document.querySelectorAll('#projects-list li').length === 0`)

	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	b.see("the agent does not answer", `document.getElementById('now-title').textContent === 'The agent does not answer' && document.getElementById('tasks').inert`)
	b.picture("stopped")
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	b.see("it is back", `document.getElementById('link').textContent === 'live' && document.getElementById('now-title').textContent === 'Not attached to any project' && !document.getElementById('tasks').inert`)
}

// rests reports whether a task is suspended and does not run.
func rests(s control.Status, task string) bool {
	for _, k := range s.Tasks {
		if k.Name == task {
			return k.Suspended && !k.Running
		}
	}
	return false
}

// A browser is a page in Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context
}

func newBrowser(t *testing.T, ctx context.Context, program string) browser {
	t.Helper()
	ctx, cancel := chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-GB"))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	said, done := chromedp.Console(ctx), make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range said {
			if err != nil {
				return
			}
			// What the page's policy forbids is told here, too; 422 is a refusal. An agent
			// that stops ends its stream of events.
			if strings.Contains(m.Text, "net::ERR_") && strings.HasSuffix(m.URL, "/api/events") {
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
	return browser{t, ctx}
}

func (b browser) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// see waits until a condition holds in the page. (Poll of chromedp makes functions
// of strings, which the page's policy forbids.)
func (b browser) see(what, condition string) {
	b.t.Helper()
	for {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
		if err == nil && ok {
			return
		}
		select {
		case <-b.ctx.Done():
			b.t.Fatalf("waiting until %s: %v", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// press presses a button by keyboard: unlike the mouse, that does not miss when
// the page moves.
func press(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(chromedp.WaitVisible(selector), chromedp.Focus(selector), chromedp.KeyEvent(kb.Enter))
}

// empty empties a field.
func empty(id string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.getElementById("`+id+`").value = ""`))
		return err
	})
}

// media has the page believe in a colour scheme.
func media(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"}, // clicks miss what is still scrolling
			},
		})
		return err
	})
}

// picture takes a picture where that is wanted.
func (b browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv(screenshots)
	if dir == "" {
		return
	}
	b.see("the note has gone", `document.getElementById('said').textContent === ''`)
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}
