package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/internal/testhost"
)

// TestDashboard does in Chromium what volunteers do: attach, watch a task run to its end, suspend
// one, change a preference, detach and cancel that. Long queues, phones and dark mode have separate
// tests.
func TestDashboard(t *testing.T) {
	t.Parallel()
	b := testbrowser.New(t, "/api/task")
	ctx := patience(t)
	p := emptyProject(t, ctx, "primes")
	publish(t, ctx, p, "mersenne", "--main", bin.Path(testhost.Mersenne))
	workWith(t, ctx, p, 1, slowly(100*time.Millisecond), 4423, 4253)
	serve(t, ctx, p)
	port := freePort(t)
	a := configured(t, "starling", "disk_interval = 1\n", fmt.Sprintf("ncpus = 2\ndashboard_port = %d\n", port))
	must(t, a.Start())
	await(t, ctx, a, "the agent", func(control.Status) bool { return true })
	address, err := a.Run(ctx, "dashboard", "--no-browser")
	must(t, err)
	b.Do("open the page", testbrowser.Media("light"), chromedp.EmulateViewport(1120, 940), chromedp.Navigate(strings.TrimSpace(address)))
	b.See("the page is live", `document.getElementById('link')?.textContent === 'live'`)
	b.See("the token has left the address", `location.pathname === '/' && location.search === ''`)
	b.See("there is no project", `!document.getElementById('welcome').hidden`)

	b.Do("open the form", chromedp.Click("#welcome-address"))
	b.Do("give the address", chromedp.SendKeys("#attach-url", p.URL+kb.Enter))
	b.See("what it needs", `document.getElementById('attach-needs').textContent.includes('It has applications for this computer')`)
	b.Do("an address without an account", chromedp.SendKeys("#attach-email", "new@example.org"), chromedp.SendKeys("#attach-password", "wrong"+kb.Enter))
	b.See("the refusal", `document.getElementById('attach-fault').textContent.length > 10`)
	b.Do("attach", testbrowser.Empty("attach-email"), testbrowser.Empty("attach-password"), chromedp.SendKeys("#attach-email", testhost.Email), chromedp.SendKeys("#attach-password", testhost.Password+kb.Enter))
	b.See("the dialog is closed", `!document.getElementById('attach').open`)
	b.See("the newcomer's page has given way", `document.getElementById('welcome').hidden`)
	b.Do("look at the projects", follow("Projects"))
	b.See("the project is attached", `document.querySelector('#projects-list .state')?.textContent === 'attached'`)
	open := func(task string) testbrowser.Action { return testbrowser.Press(`#tasks-table a[title="` + task + `"]`) }
	button := func(label string) testbrowser.Action {
		return chromedp.Click(`//aside//button[text()="` + label + `"]`)
	}
	b.Do("look at the tasks", follow("Tasks"))
	b.See("both run", `document.querySelectorAll('#tasks-table tr:not(.resting) progress').length === 2`)
	// The two keep the processors, so this one cannot end before it is suspended.
	work(t, ctx, p, 1, 9689)
	b.Do("ask for more work", follow("Projects"), testbrowser.Press("#projects-list a"), button("Update"), follow("Tasks"))
	b.Do("suspend a task", open("m9689_0"), button("Suspend"))
	b.See("it says so", `document.getElementById('said').textContent === 'm9689_0 suspended.'`)
	b.See("the task is suspended", `document.getElementById('task-why').textContent.startsWith('You suspended this task.')`)
	await(t, ctx, a, "the task to rest", func(s control.Status) bool { return rests(s, "m9689_0") })
	b.See("they progress", `[...document.querySelectorAll('#tasks-table tr:not(.resting) progress')].every(e => e.value > 0.01)`)
	b.Do("look at one that runs", open("m4423_0"))
	b.See("what it takes", `document.getElementById('task-facts').textContent.includes('Memory')`)
	b.Do("look at all", follow("Overview"))
	b.See("the headline tells it", `document.getElementById('now-title').textContent === 'Computing 2 tasks' && document.querySelectorAll('#running li').length === 2`)

	b.Do("look at the preferences", follow("Preferences"))
	b.Do("prefer nonsense", chromedp.SendKeys("#pref-max_ncpus_pct", "500"))
	b.See("the fault", `document.getElementById('prefs-fault').textContent.includes('500 is not between 0 and 100') && document.getElementById('prefs-save').disabled`)
	b.Do("prefer one CPU", testbrowser.Empty("pref-max_ncpus_pct"), chromedp.SendKeys("#pref-max_ncpus_pct", "50"))
	b.See("what will be written", `document.getElementById('prefs-toml').textContent === 'max_ncpus_pct = 50\n' && !document.getElementById('prefs-save').disabled`)
	if _, err := os.Stat(filepath.Join(a.Dir, "prefs_override.toml")); err == nil {
		t.Error("a look wrote the file")
	}
	b.Do("save", testbrowser.Press("#prefs-save"))
	b.See("its origin", `document.getElementById('pref-max_ncpus_pct-now').textContent.includes('from prefs_override.toml')`)
	if text, err := os.ReadFile(filepath.Join(a.Dir, "prefs_override.toml")); err != nil || !strings.Contains(string(text), "\nmax_ncpus_pct = 50\n") {
		t.Errorf("the file holds %q, %v", text, err)
	}

	b.Do("choose hours for a day", chromedp.Click("#prefs-keys summary"), chromedp.SendKeys(`input[name="saturday.start_hour"]`, "0"), chromedp.SendKeys(`input[name="saturday.end_hour"]`, "24"))
	b.See("what will be written for it", `document.getElementById('prefs-toml').textContent.includes('[day.saturday]\nstart_hour = 0\nend_hour = 24\n') && !document.getElementById('prefs-save').disabled`)
	b.Do("save it", testbrowser.Press("#prefs-save"))
	b.See("it is there", `document.getElementById('prefs-save').disabled && document.querySelector('input[name="saturday.end_hour"]').value === '24'`)
	if text, err := os.ReadFile(filepath.Join(a.Dir, "prefs_override.toml")); err != nil || !strings.Contains(string(text), "\n[day.saturday]\nstart_hour = 0\nend_hour = 24\n") {
		t.Errorf("the file holds %q, %v", text, err)
	}
	b.Do("look whether it holds", follow("Overview"))
	b.See("it holds", `document.getElementById('figures').textContent.includes('CPUs1 of 2')`)

	b.Do("let the others rest", follow("Tasks"), chromedp.Click(`[aria-label="Select m4423_0"]`), chromedp.Click(`[aria-label="Select m4253_0"]`), chromedp.Click(`//div[@id="selection"]//button[text()="Suspend"]`))
	b.See("both do", `document.getElementById('said').textContent === '2 tasks suspended.'`)
	b.Do("resume by keyboard", open("m9689_0"), testbrowser.Press("#drawer .now ~ button:not([hidden])"))
	// A task that is reported within the second in which it ends is gone before the page shows that
	// it is finished.
	b.See("it is computed", `document.getElementById('said').textContent === 'm9689_0 is finished.' || !document.querySelector('#tasks-table a[title="m9689_0"]')`)
	b.Do("report it", follow("Projects"), testbrowser.Press("#projects-list a"), button("Update"))
	b.See("what the project got", `/Actual100 % of the CPU time: \d/.test(document.getElementById('project-facts').textContent)`)
	if _, err := p.Await(ctx, func(c testhost.Count) bool { return c.Results.Granted > 0 }); err != nil {
		t.Fatal(err)
	}
	b.Do("ask for the credit", button("Update"))
	b.See("the credit", `/Credit(0\.0*[1-9]|[1-9])/.test(document.getElementById('project-facts').textContent)`)
	b.Do("look at the task again", follow("Tasks"))
	b.See("it is reported", `!document.querySelector('#tasks-table a[title="m9689_0"]')`)
	b.Do("look for it in the history", follow("History"), chromedp.WaitVisible(`#history-table a[title="m9689_0"]`), testbrowser.Press(`#history-table a[title="m9689_0"]`))
	b.See("how it ended", `document.querySelector('#drawer-body > div').textContent.startsWith('Finished')`)
	b.Do("look at the chart", follow("Computers"), testbrowser.Press("#computers-list h3 a"))
	b.See("the credit, drawn", `document.querySelector('#chart-average svg[aria-label*="primes"]')`)

	b.Do("stop all", follow("Overview"), testbrowser.Press("#mode-run summary"), chromedp.Focus(`#mode-run input[value="never"]`), chromedp.KeyEvent(" "))
	b.See("all rests", `document.getElementById('now-title').textContent === 'Paused by you'`)
	b.Do("detach", follow("Projects"), testbrowser.Press("#projects-list a"), button("Detach…"), testbrowser.Press("#sure-yes"))
	await(t, ctx, a, "the project to be detached", func(s control.Status) bool { return len(s.Projects) == 0 || s.Projects[0].Disconnected })
	b.See("it can be taken back", `[...document.querySelectorAll('#project-actions button')].some(e => e.textContent === 'Undo' && !e.hidden)`)
	b.Do("take it back", button("Undo"))
	await(t, ctx, a, "the project to stay", func(s control.Status) bool { return len(s.Projects) == 1 && !s.Projects[0].Disconnected })
	b.Do("detach", button("Detach…"), testbrowser.Press("#sure-yes"))
	await(t, ctx, a, "the project to be detached again", func(s control.Status) bool { return len(s.Projects) == 0 || s.Projects[0].Disconnected })
	_ = a.SteerProject(ctx, p.URL, control.FinishProject) // a project without tasks is gone already
	await(t, ctx, a, "no project", func(s control.Status) bool { return len(s.Projects) == 0 })
	b.See("there is no project", `document.querySelectorAll('#projects-list tr').length === 0`)

	must(t, a.Stop())
	b.See("the agent does not answer", `!document.getElementById('gone').hidden && document.getElementById('projects').inert`)
	must(t, a.Start())
	b.See("it is back", `document.getElementById('link').textContent === 'live' && document.getElementById('gone').hidden && !document.getElementById('projects').inert`)
}

// follow opens a tab by its link.
func follow(title string) testbrowser.Action {
	return chromedp.Click(`//nav//a[text()="` + title + `" and not(@class="narrow")]`)
}

// rests reports whether a task is suspended and not running.
func rests(s control.Status, task string) bool {
	for _, k := range s.Tasks {
		if k.Name == task {
			return k.Suspended && !k.Running
		}
	}
	return false
}
