package testbrowser

import (
	"context"
	"os"
	"sync"

	"github.com/chromedp/chromedp"
)

// running is the one Chromium of a test program, while any page is open. Each page has a separate
// browser context, so that pages share neither cookies nor storage.
var running struct {
	sync.Mutex
	pages int
	ctx   context.Context // of the browser
	end   func()
}

// join starts Chromium unless it runs, and returns its context. The last one to leave ends it.
func join(program string) (_ context.Context, leave func(), err error) {
	running.Lock()
	defer running.Unlock()
	if running.pages == 0 {
		if running.ctx, running.end, err = start(program); err != nil {
			return nil, nil, err
		}
	}
	running.pages++
	return running.ctx, func() {
		running.Lock()
		defer running.Unlock()
		if running.pages--; running.pages == 0 {
			running.end()
		}
	}, nil
}

// start starts Chromium with an empty profile. end ends it and removes the profile.
func start(program string) (_ context.Context, end func(), err error) {
	dir, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, nil, err
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(program), chromedp.UserDataDir(dir), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("disable-extensions", true),
		chromedp.Flag("disable-renderer-backgrounding", true), chromedp.Flag("disable-background-timer-throttling", true),
		chromedp.Flag("disable-backgrounding-occluded-windows", true), chromedp.Flag("lang", "en-GB"),
		// Chromium draws the suggestions below its address bar as pages, too, several for each page of a test.
		chromedp.Flag("disable-features", "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"))
	ctx, _ := chromedp.NewContext(allocator)
	end = func() {
		_ = chromedp.Cancel(ctx) // the process has ended when this returns
		stop()
		_ = os.RemoveAll(dir)
	}
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return ctx, end, nil
}
