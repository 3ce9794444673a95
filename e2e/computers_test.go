package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/internal/testhost"
)

// TestAllComputers uses the page of one agent to show and control another, over TLS: paired by a
// code, attached by one account, paused and resumed. The page also shows when the other does not
// answer or has revoked the access.
func TestAllComputers(t *testing.T) {
	t.Parallel()
	b := testbrowser.New(t, "/api/computers", "/api/computers/status?address=:0")
	ctx := patience(t)
	p := newProject(t, ctx)
	lastingWork(t, ctx, p, 2)
	serve(t, ctx, p)
	free := func() int {
		port := freePort(t)
		return port
	}
	port := free()
	near, far := newAgentWith(t, "near", fmt.Sprintf("dashboard_port = %d\n", free())), newAgentWith(t, "far", fmt.Sprintf("remote_port = %d\n", port))
	for _, a := range []*testhost.Agent{near, far} {
		must(t, a.Start())
		must(t, a.Reach(ctx))
	}
	address, err := near.Run(ctx, "dashboard", "--no-browser")
	must(t, err)
	out, err := far.Run(ctx, "remote", "pair", "--json")
	var code control.Invitation
	if err == nil {
		err = json.Unmarshal([]byte(out), &code)
	}
	must(t, err)
	other := fmt.Sprintf("127.0.0.1:%d", port)
	b.Do("open the page", testbrowser.Media("light"), chromedp.EmulateViewport(1120, 940), chromedp.Navigate(strings.TrimSpace(address)))
	b.See("the page is live", `document.getElementById('link')?.textContent === 'live'`)
	b.Do("look at all computers", chromedp.Evaluate[chromedp.Void](`document.querySelector('#welcome a').click()`), follow("Computers"))
	b.See("this one alone", `document.querySelectorAll('#computers-list > li').length === 1`)
	b.Do("add the other", testbrowser.Press("#add-computer"), chromedp.SendKeys("#pair-address", other), chromedp.SendKeys("#pair-code", code.Code+kb.Enter))
	sentences := `[...document.querySelectorAll('#computers-list .sentence')].map(e => e.textContent).join('|')`
	b.See("both", sentences+` === 'Nothing to compute|Nothing to compute'`)
	b.See("the other by its address", `[...document.querySelectorAll('#computers-list .small')].some(e => e.textContent === '`+other+`')`)

	b.Do("attach both", testbrowser.Press("#attach-many"), chromedp.SendKeys("#attach-url", p.URL+kb.Enter), chromedp.SendKeys("#attach-email", testhost.Email), chromedp.SendKeys("#attach-password", testhost.Password+kb.Enter))
	runs := func(s control.Status) bool { return len(s.Tasks) == 1 && s.Tasks[0].Running }
	await(t, ctx, near, "a task on this computer", runs)
	await(t, ctx, far, "a task on the other", runs)
	b.See("they compute", `/^Computing for .+\|Computing for .+$/.test(`+sentences+`)`)
	b.Accessible("all computers")
	b.Do("pause all", testbrowser.Press("#pause-all"))
	rests := func(s control.Status) bool { return s.RunMode == "never" && !s.Tasks[0].Running }
	await(t, ctx, near, "this one to rest", rests)
	await(t, ctx, far, "the other to rest", rests)
	b.See("it is shown", sentences+` === 'Paused by you|Paused by you'`)
	b.Do("resume all", testbrowser.Press("#resume-all"))
	await(t, ctx, near, "this one to resume", runs)
	await(t, ctx, far, "the other to resume", runs)
	b.Do("see the other's history", chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll('#computers-list button')].find(e => e.textContent === 'History' && e.closest('li').textContent.includes('`+other+`')).click()`))
	b.See("it is empty", `document.querySelector('#drawer-body .small')?.textContent === 'No tasks have ended yet.'`)
	b.Do("close it", testbrowser.Press("#drawer-close"))

	list, err := far.Run(ctx, "remote", "list", "--json")
	var paired struct {
		Computers []control.Paired `json:"computers"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(list), &paired)
	}
	if err != nil || len(paired.Computers) != 1 || !strings.HasSuffix(paired.Computers[0].Name, " (dashboard)") {
		t.Fatalf("paired there: %s, %v", list, err)
	}
	if _, err := far.Run(ctx, "remote", "revoke", paired.Computers[0].Name); err != nil {
		t.Fatal(err)
	}
	b.See("it is let in no more, and first", `(e => e.querySelector('.wants')?.textContent.includes('paired'))(document.querySelector('#computers-list > li'))`)
	if err := far.Stop(); err != nil {
		t.Error(err)
	}
	b.See("it is gone", `document.querySelector('#computers-list .away .sentence > [title]')?.title.includes('cannot reach `+other+`')`)
	b.Do("on a phone", chromedp.EmulateViewport(360, 740))
	b.See("nothing is cut off", `document.documentElement.scrollWidth <= 360`)
}
