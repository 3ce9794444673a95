package dashboard

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/internal/words"
)

// open opens the dashboard of a fake agent in Chromium.
func open(t *testing.T, a *fake) (b testbrowser.Browser, base string) {
	t.Helper()
	return openUntil(t, t.Context(), a)
}

// openUntil does so for an agent that ends with served, after some actions.
func openUntil(t *testing.T, served context.Context, a *fake, before ...testbrowser.Action) (b testbrowser.Browser, base string) {
	t.Helper()
	s, login := serveUntil(t, served, a)
	s.Known = []Known{
		{Name: "PrimeGrid", URL: "https://www.primegrid.example/", Area: "mathematics", About: "Searches for record primes of many kinds."},
		{Name: "Einstein@Home", URL: einstein, Area: "astronomy", About: "Searches for pulsars and gravitational waves in data from telescopes and detectors."},
		{Name: "World Community Grid", URL: wcg, Area: "medicine", About: "Studies cancer markers, rainfall in Africa and other questions of public benefit."},
	}
	s.Confinement = Confinement{System: "linux", Sandbox: true, Network: true}
	b = testbrowser.New(t, "/api/task", "/api/attach/config")
	b.Do("prepare", before...)
	b.Do("open the page", testbrowser.Media("light"), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(login.String()))
	b.See("the page is live", `document.getElementById('link')?.textContent === 'live' && document.getElementById('now-title').textContent !== '…'`)
	return b, "http://127.0.0.1:" + login.Port()
}

// tab opens one by its link.
func tab(b testbrowser.Browser, title, path string) {
	b.Do("open "+title, chromedp.Click(`//nav//a[text()="`+title+`" and not(@class="narrow")]`))
	b.See(title+" is shown", `location.pathname === '`+path+`' && document.querySelector('nav [aria-current=page]').textContent === '`+title+`'`)
}

const chips = `[...document.querySelectorAll('.chip:not([hidden])')].map(e => e.textContent).join('|')`

const rowsShown = `document.querySelectorAll('#tasks-table tbody tr:not(.space)').length`

func TestTabsHaveAddresses(t *testing.T) {
	t.Parallel()
	b, base := open(t, &fake{page: busy(20)})
	for _, p := range [][2]string{{"Tasks", "/tasks"}, {"Projects", "/projects"}, {"Notices", "/notices"}, {"History", "/history"}, {"Computers", "/computers"}, {"Preferences", "/preferences"}, {"Log", "/log"}, {"Overview", "/"}} {
		tab(b, p[0], p[1])
		b.See("one tab is shown", `document.querySelectorAll('main > section:not([hidden])').length === 1`)
	}
	b.Do("go back", chromedp.NavigateBack())
	b.See("the log", `location.pathname === '/log' && !document.getElementById('log').hidden`)
	for old, now := range map[string]string{"/#tasks": "/tasks", "/#messages": "/log", "/nonsense": "/", "/projects": "/projects"} {
		b.Do("open "+old, chromedp.Navigate("about:blank"), chromedp.Navigate(base+old))
		b.See(old+" leads to "+now, `location.pathname === '`+now+`' && location.hash === '' && document.getElementById('link').textContent === 'live'`)
	}
}

func TestOverview(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(20)}
	b, _ := open(t, a)
	b.See("without coprocessors there is no mode of theirs", `document.getElementById('mode-gpu').hidden`)
	b.See("the headline", `document.getElementById('now-title').textContent === 'Computing 8 tasks'`)
	b.See("four numbers, with what they mean", `[...document.querySelectorAll('#figures > div')].map(e => [...e.children].map(e => e.textContent).join(' ')).join('|') ===
		'Running 8 tasks 12 more are waiting|CPUs 8 of 8 24 GB of 32 GB of memory|CPU temperature 61 °C Pauses at 85 °C|Shutting down now Loses 6 min  of computing, at most'`)
	b.See("the course of the temperature", `document.querySelectorAll('#figures .spark').length === 1`)
	b.See("the credit of each day, by project", `document.querySelectorAll('#credit-chart rect').length === 3 * 14 && /^Credit per day on this computer, 14 days: Einstein@Home [\d,]+, LHC@home [\d,]+, `+wcgName+` [\d,.]+\.$/.test(document.querySelector('#credit-chart svg').getAttribute('aria-label'))`)
	b.See("who leads", `document.querySelector('#running a').textContent === 'Einstein@Home All-sky pulsar search'`)
	b.See("the shares", `document.querySelector('#achieved tr').textContent === 'Einstein@Home50 / 53 %2,210183,204'`)
	b.See("all is well", `document.getElementById('attention').hidden`)
	b.See("what runs", `document.querySelectorAll('#running li').length === 8`)
	b.See("what ended lately", `document.getElementById('recent').textContent === '212 completed, 1 failed in 7 days'`)
	b.See("what was achieved", `document.querySelectorAll('#achieved tr').length === 3 && document.getElementById('achieved').textContent.includes('183,204')`)
	b.Picture("light")
	b.See("markup in a name is text", `[...document.querySelectorAll('#achieved a')].some(e => e.textContent === '`+wcgName+`')`)
	a.change(func(p *view.Page) {
		p.Status.Projects[1].Trouble, p.Status.Projects[1].TroubleCode, p.Status.Projects[1].TroubleCure = "The server is down.", "down", "wait."
		t := &p.Status.Tasks[3]
		t.Late, t.Deadline, t.LateCure = 90000, time.Now().Add(time.Hour), "let it run more."
	})
	b.See("what needs attention", `[...document.querySelectorAll('#attention li')].map(e => e.textContent).join('|') ===
		'LHC@home: The server is down. You can: wait. Show LHC@home|A task of Einstein@Home will be about 1 d 1 h late. You can: let it run more. Show task'`)
	b.See("the first of it", `[...document.querySelectorAll('#attention li')].filter(e => e.offsetHeight).length === 1`)
	b.Do("show the rest", testbrowser.Press("#attention-more"))
	b.See("all of it", `[...document.querySelectorAll('#attention li')].filter(e => e.offsetHeight).length === 2 && document.getElementById('attention-more').hidden`)
	a.change(func(p *view.Page) { p.Status.Tasks[9].Ready, p.Status.Tasks[9].Fraction = true, 1 })
	b.See("a task that ended within a second is announced", `document.getElementById('said').textContent === 'h1_0421.50_O4_9_0 is finished.'`)
	b.Do("suspend computing", testbrowser.Press("#mode-run summary"), chromedp.Focus(`#mode-run input[value="never"]`), chromedp.KeyEvent(" "))
	b.See("it is said", `document.getElementById('said').textContent === 'Computing: never.'`)
	a.wasAsked(t, `mode "" never 0s`)
	b.See("the mode is told", `document.querySelector('#mode-run b').textContent === 'Never' && document.getElementById('now-title').textContent === 'Paused by you'`)
	b.Do("close the menu", chromedp.KeyEvent(kb.Escape))
	b.See("it is closed", `!document.getElementById('mode-run').open && document.activeElement === document.querySelector('#mode-run summary')`)
	b.Do("resume", testbrowser.Press("#resume"))
	b.See("it computes", `document.getElementById('said').textContent === 'Resumed.' && document.querySelector('#mode-run b').textContent === 'Auto'`)
	b.Do("pause", testbrowser.Press("#pause"))
	b.See("it pauses", `document.getElementById('said').textContent === 'Paused for 1 hour.' && document.getElementById('pause').hidden`)
	a.wasAsked(t, `mode "" never 1h0m0s`)
	b.Do("resume again", testbrowser.Press("#resume"))
	b.See("it may pause", `!document.getElementById('pause').hidden`)
	b.Do("finish what runs", testbrowser.Press("#pause-for summary"), testbrowser.Press("#drain"))
	a.change(func(p *view.Page) {
		p.Status.Drain = &control.Drain{Scope: decide.DrainRunning, Left: "2 tasks to compute (about 4 min)", Tasks: 2, Remaining: 240}
	})
	b.See("what is left is said", `document.getElementById('now-title').textContent === 'Finishing: 2 tasks to compute (about 4 min)' &&
		[...document.querySelectorAll('.figure .note')].some(e => e.textContent.endsWith('Safe to shut down in about 4 min')) && document.getElementById('pause').hidden`)
	a.wasAsked(t, "drain running")
	b.Do("start tasks again", testbrowser.Press("#resume"))
	a.change(func(p *view.Page) { p.Status.Drain = nil })
	b.See("it may pause again", `!document.getElementById('pause').hidden`)
	a.wasAsked(t, "drain ")
}

// The first line of a computer that is suspended, and of one that waits for its first tasks.
func TestOverviewAtRest(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(0)}
	a.page.Compute.Why, a.page.Status.Compute, a.page.Status.ComputeCode = words.Plain("The computer is in use."), "The computer is in use.", "user_active"
	a.page.Credit = nil
	b, _ := open(t, a)
	b.See("why it is suspended", `document.getElementById('now-title').textContent === 'Suspended: computer in use'`)
	b.See("what it waits for", `document.querySelector('.none').textContent === 'Waiting for the first tasks from Einstein@Home, LHC@home or `+wcgName+`.'`)
	b.See("no chart without credit", `document.getElementById('credit-chart').hidden`)
	a.change(func(p *view.Page) { p.Compute.Why, p.Status.Compute, p.Status.ComputeCode = words.Plain(""), "", "" })
	b.See("that it has nothing to do", `document.getElementById('now-title').textContent === 'Nothing to compute'`)
}

func TestTenThousandTasks(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(10000)}
	b, _ := open(t, a)
	tab(b, "Tasks", "/tasks")
	b.See("rows", rowsShown+` > 10`)
	few := func(when string) {
		t.Helper()
		if n := testbrowser.Value[int](b, rowsShown); n < 10 || n > 200 {
			t.Errorf("%s: %d rows are on the page", when, n)
		}
	}
	few("at first")
	b.Picture("tasks")
	b.Do("no groups", chromedp.SetValue("#tasks-group", "none"))
	b.Do("tell the page", chromedp.Evaluate[chromedp.Void](`document.getElementById('tasks-group').dispatchEvent(new Event('change'))`))
	b.See("the count for screen readers", `document.querySelector('#tasks-table table').getAttribute('aria-rowcount') === '10001'`)
	b.See("by deadline, then in natural order", `(() => {
		const names = [...document.querySelectorAll('#tasks-table tbody .c-name small')].map(e => e.textContent);
		return ['h1_0421.50_O4_0_0', 'h1_0421.50_O4_1200_0', 'h1_0421.50_O4_2400_0'].every((n, i) => n === names[i]) && document.querySelector('th.c-deadline').getAttribute('aria-sort') === 'ascending'; })()`)
	b.See("what no heading says", `document.querySelector('#tasks-table tbody .c-name').textContent === 'Einstein@Home All-sky pulsar searchh1_0421.50_O4_0_0' && document.querySelector('#tasks-table tbody .c-state').textContent === 'Running'`)
	b.Do("scroll to the end", chromedp.Evaluate[chromedp.Void](`document.getElementById('tasks-table').scrollTop = 1e9`))
	b.See("the last row", `[...document.querySelectorAll('#tasks-table tbody tr')].some(e => e.getAttribute('aria-rowindex') === '10001')`)
	few("at the end")
	b.See("rows are of one height", `new Set([...document.querySelectorAll('#tasks-table tbody tr:not(.space)')].map(e => e.offsetHeight)).size === 1`)
	b.Do("scroll to the middle", chromedp.Evaluate[chromedp.Void](`document.getElementById('tasks-table').scrollTop = 52 * 5000`))
	b.See("a row of the middle where it belongs", `(() => {
		const e = [...document.querySelectorAll('#tasks-table tbody tr')].find(e => e.getAttribute('aria-rowindex') === '5004');
		const box = document.getElementById('tasks-table').getBoundingClientRect(), head = document.querySelector('#tasks-table thead').offsetHeight;
		return e && Math.abs(e.getBoundingClientRect().top - box.top - head - 2 * 52) < 3; })()`)
	b.Do("search", chromedp.SendKeys("#tasks-search", "mcm1 finished"))
	rowCount := func(n string) string {
		return `document.querySelector('#tasks-table table').getAttribute('aria-rowcount') === '` + n + `'`
	}
	b.See("what is found", rowCount("38"))
	b.Do("search nonsense", chromedp.SendKeys("#tasks-search", "zzz"))
	b.See("nothing is found", `document.querySelector('#tasks-empty:not([hidden]) span').textContent === 'No task matches “mcm1 finishedzzz”.'`)
	b.Do("search no more", testbrowser.Press("#tasks-empty button"))
	b.See("all are there", rowCount("10001")+` && document.activeElement.id === 'tasks-search'`)
	b.See("how many are in which state", chips+` === 'All 10,000|Running 8|Paused 239|Waiting 9,539|Downloading 103|Finished 111'`)
	a.change(func(p *view.Page) { p.Status.Tasks[3].Late = 90000 })
	b.See("and how many will be late", chips+`.endsWith('|Will be late 1')`)
	b.Do("show those that are paused", testbrowser.Press(".chip.paused"))
	b.See("they alone", rowCount("240")+` && document.querySelector('.chip[aria-pressed=true]').className === 'chip paused'`)
	b.Do("show those that are suspended, of which there is none", chromedp.Evaluate[chromedp.Void](`history.replaceState(null, '', '/tasks?show=suspended'); dispatchEvent(new PopStateEvent('popstate'))`))
	b.See("that there is none", `document.querySelector('#tasks-empty:not([hidden])')?.textContent === 'No task is in this state. Show all' && document.querySelector('.chip.suspended[aria-pressed=true]')`)
	b.Do("show the paused again", testbrowser.Press(".chip.paused"))
	b.See("they alone", rowCount("240"))
	b.Do("and of them one that is not there", chromedp.SendKeys("#tasks-search", "zzz"))
	b.See("nothing is found", `document.querySelector('#tasks-empty:not([hidden]) span').textContent === 'No task matches “zzz”.'`)
	b.Do("show all again", testbrowser.Press("#tasks-empty button"))
	b.See("all are there", rowCount("10001"))
	b.Do("select all", chromedp.Click("#tasks-table thead input"))
	b.See("how many", `document.querySelector('#selection [role=status]').textContent === '10,000 tasks selected'`)
	few("selected")
	b.Do("suspend them", chromedp.Click(`//div[@id="selection"]//button[text()="Suspend"]`))
	b.See("it is said", `document.getElementById('said').textContent === '10,000 tasks suspended.'`)
	b.See("it is seen", `[...document.querySelectorAll('#tasks-table tbody .c-state')].some(e => e.textContent === 'Suspended')`)
	a.wasAsked(t, "suspend 10000")
	b.See("nothing runs", `document.title.startsWith('Tasks · Starling')`)
}

func TestTable(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(300)}
	b, _ := open(t, a)
	tab(b, "Tasks", "/tasks")
	groups := `[...document.querySelectorAll('#tasks-table tr.group')].map(e => e.textContent)`
	b.See("groups with counts", groups+`[0] === '▾Einstein@Home100' && `+groups+`[1] === '▾Running3'`)
	b.Do("close a group by keyboard", testbrowser.Press("#tasks-table tr:nth-of-type(3) button.group"))
	b.See("its rows are gone", groups+`[1] === '▸Running3' && document.querySelector('#tasks-table tr.group button[aria-expanded=false]')`)
	b.See("the focus stays", `document.activeElement.textContent.includes('Running')`)
	b.Do("open it", chromedp.KeyEvent(kb.Enter))
	b.See("it is open", groups+`[1] === '▾Running3'`)
	b.See("where it is said, a row does not say it", `document.querySelector('#tasks-table td.c-name').textContent === 'All-sky pulsar search' && !document.querySelector('#tasks-table .c-state')`)
	b.Do("scroll", chromedp.Evaluate[chromedp.Void](`document.getElementById('tasks-table').scrollTop = 40 * 60`))
	b.See("the heading of the project stays", `(() => {
		const heading = document.querySelector('#tasks-table tr.level0'), box = document.getElementById('tasks-table').getBoundingClientRect();
		return heading.textContent === '▾Einstein@Home100' && heading.index === 0 && Math.abs(heading.firstChild.getBoundingClientRect().top - box.top - 36) < 3; })()`)
	b.Do("scroll back", chromedp.Evaluate[chromedp.Void](`document.getElementById('tasks-table').scrollTop = 0`))
	b.See("the first row", `document.querySelector('#tasks-table tbody tr:not(.space):nth-of-type(4)')?.index === 2`)
	b.Do("sort by progress", chromedp.Click(".c-progress button.sort"), chromedp.Click(".c-progress button.sort"))
	b.See("the order is told", `document.querySelector('th.c-progress').getAttribute('aria-sort') === 'descending'`)
	b.See("the order is right within the group", `(() => {
		const v = [...document.querySelectorAll('#tasks-table tbody tr:not(.group):not(.space) progress')].slice(0, 3).map(e => e.value); return v[0] > v[1] && v[1] > v[2]; })()`)
	b.Do("choose a column", chromedp.Click("#tasks-columns summary"), chromedp.Click(`#tasks-columns [name=slot]`), chromedp.Click(`#tasks-columns [name=elapsed]`), chromedp.Click("#tasks-columns summary"))
	b.See("the columns", `document.querySelector('th.c-slot') && !document.querySelector('#tasks-table th.c-elapsed') && document.querySelector('td.c-slot').textContent !== ''`)
	b.Do("come again", chromedp.Reload())
	b.See("the browser remembers", `document.querySelector('td.c-slot') && !document.querySelector('#tasks-table th.c-elapsed') && document.querySelector('th.c-progress').getAttribute('aria-sort') === 'descending'`)
	b.Do("select one", chromedp.Click(`[aria-label="Select h1_0421.50_O4_6_0"]`))
	b.Do("and two more by keyboard", chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(" "))
	b.See("three are selected", `document.querySelector('#selection [role=status]').textContent === '3 tasks selected' && document.querySelectorAll('tr.picked').length === 3`)
	b.Do("select a range", chromedp.Evaluate[chromedp.Void](`(() => {
		const boxes = [...document.querySelectorAll('#tasks-table tbody tr:not(.group):not(.space) input')].filter(e => !e.checked);
		boxes[3].dispatchEvent(new MouseEvent('click', { bubbles: true, shiftKey: true })); })()`))
	b.See("all in between are selected", `(() => {
		const all = [...document.querySelectorAll('#tasks-table tbody tr:not(.group):not(.space)')], picked = all.map((e, i) => e.matches('.picked') ? i : -1).filter(i => i >= 0);
		return picked.length === 7 && picked.at(-1) - picked[0] === 6; })()`)
	b.Do("clear the selection", chromedp.Click(`#selection [aria-label="Clear selection"]`))
	b.See("nothing is selected", `document.querySelector('#selection').hidden && !document.querySelector('tr.picked')`)
	b.Do("select three again", chromedp.Click(`[aria-label="Select h1_0421.50_O4_6_0"]`), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(" "))
	abort := chromedp.Click(`//div[@id="selection"]//button[text()="Abort…"]`)
	b.Do("abort", abort)
	b.See("the question", `document.getElementById('sure').open && document.getElementById('sure-title').textContent === 'Abort 3 tasks?' && document.activeElement.textContent === 'Cancel' &&
		document.getElementById('sure-text').textContent === 'Their 3 h of computing are discarded, and the project gives them to other computers. You can undo this for 5 minutes: resume a task to keep it.'`)
	b.Do("rather not", chromedp.KeyEvent(kb.Enter))
	b.See("nothing is done", `!document.getElementById('sure').open`)
	a.wasAsked(t, "")
	b.Do("abort them", abort, testbrowser.Press("#sure-yes"))
	b.See("it is done", `document.getElementById('said').textContent === '3 tasks will be aborted in 5 minutes. Resume to keep them.'`)
	a.wasAsked(t, "abort soon 3")
	a.change(func(p *view.Page) { p.Status.Tasks = p.Status.Tasks[7:] })
	b.See("tasks that have gone are not selected", `document.querySelector('#selection').hidden`)
}

func TestTaskDrawer(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(50)}
	a.page.Status.Tasks[3].Resources = "0.2 CPUs + 1 NVIDIA GPU (device 0)"
	b, _ := open(t, a)
	tab(b, "Tasks", "/tasks")
	b.Do("open a task", testbrowser.Press(`a[title="h1_0421.50_O4_3_0"]`))
	b.See("its drawer", `!document.getElementById('drawer').hidden && document.getElementById('drawer-title').textContent === 'All-sky pulsar search' && document.getElementById('drawer-of').textContent === ' Einstein@Home'`)
	b.See("the table next to it, with IDs below", `document.querySelector('#tasks-table tr.open .c-name small').textContent === 'h1_0421.50_O4_3_0' && !document.querySelector('#tasks-table .c-elapsed') &&
		document.getElementById('tasks-table').getBoundingClientRect().right <= document.getElementById('drawer').getBoundingClientRect().left`)
	b.See("its address", `location.search === '?task=https%3A%2F%2Feinstein.example%2F%20h1_0421.50_O4_3_0'`)
	b.See("the focus is there", `document.getElementById('drawer').contains(document.activeElement)`)
	for term, want := range map[string]string{"Memory": "412 MB of at most 2 GB", "Last checkpoint": "40 s ago", "Shutting down now": "loses 40 s of this task", "Slot": "3", "Processor": "0.2 CPUs + 1 NVIDIA GPU (device 0)", "Process": "1003"} {
		b.See(term, fmt.Sprintf(`[...document.querySelectorAll('#task-facts div')].some(e => e.firstChild.textContent === %q && e.lastChild.textContent === %q)`, term, want))
	}
	b.Do("go dark", testbrowser.Media("dark"))
	b.See("it is dark", `getComputedStyle(document.body).backgroundColor === 'rgb(15, 19, 21)'`)
	b.Picture("dark")
	b.See("what it wrote, as text", `document.getElementById('task-stderr').textContent.includes('<b>template</b> 17 of 4000')`)
	a.change(func(p *view.Page) { p.Status.Tasks[3].Late = 7200 })
	b.See("it learns that it will be late", `document.getElementById('task-facts').textContent.includes('It will be about 2 h late.')`)
	b.See("its files in a few words", `document.querySelector('#task-facts details summary').textContent === 'Files 1 downloaded, 1 not made yet'`)
	b.See("what an abort costs", `document.querySelector('#task-facts .end').textContent === 'Abort…Discards 1 h of computing. The project gives the task to another computer.'`)
	b.Do("abort it", chromedp.Click(`//aside//button[text()="Abort…"]`))
	b.See("the question", `document.getElementById('sure').open && document.getElementById('sure-title').textContent === 'Abort this task?' &&
		document.getElementById('sure-text').textContent === 'Its 1 h of computing are discarded, and the project gives it to another computer. You can undo this for 5 minutes: resume it to keep it.'`)
	b.Do("rather not", chromedp.KeyEvent(kb.Enter))
	b.See("nothing is done", `!document.getElementById('sure').open`)
	b.Do("suspend it", chromedp.Click(`//aside//button[text()="Suspend"]`))
	b.See("it can be resumed", `[...document.querySelectorAll('#drawer button')].some(e => e.textContent === 'Resume' && !e.hidden)`)
	b.Do("close it", chromedp.KeyEvent(kb.Escape))
	b.See("it is closed", `document.getElementById('drawer').hidden && location.search === ''`)
	b.See("the focus is back", `document.activeElement.title === 'h1_0421.50_O4_3_0'`)
	b.Do("back", chromedp.NavigateBack())
	b.See("it is open again", `!document.getElementById('drawer').hidden`)
	a.change(func(p *view.Page) { p.Status.Tasks = p.Status.Tasks[10:] })
	b.See("it has gone", `document.querySelector('#drawer-body .empty:not([hidden])')?.textContent === 'This task was reported and has left the list. Show it in History.'`)
}

func TestProjectsTab(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(50)}
	a.page.Status.Projects[0].Own = []string{"einstein_O4 8.01 (avx512) <b>"}
	b, _ := open(t, a)
	tab(b, "Projects", "/projects")
	b.See("share and what it got", `[...document.querySelectorAll('#projects-list tr')].map(e => e.textContent)[0].startsWith('Einstein@Homeattached50 %53 %owed 1 h 30 min')`)
	b.Do("open one", testbrowser.Press(`#projects-list a`))
	b.See("its drawer", `document.getElementById('drawer-title').textContent === 'Einstein@Home' && document.getElementById('project-facts').textContent.includes('Computer ID4711')`)
	b.See("its messages", `document.getElementById('drawer-body').textContent.includes('The next run starts on Monday.')`)
	b.See("what it stores", `/Stored files2 files, .*of at most/.test(document.getElementById('project-facts').textContent)`)
	b.See("links to its pages, which tell nothing, and none that runs something", `[...document.querySelectorAll('#project-links a')].map(e => [e.textContent, e.href, e.title, e.rel, e.target].join(' ')).join('|') ===
		'Your account https://einstein.example/home.php?a=1&b=2 View your account information noopener noreferrer _blank|Forum <b> https://einstein.example/forum  noopener noreferrer _blank'`)
	b.See("the volunteer's own programs", `document.getElementById('project-own').textContent === 'einstein_O4 8.01 (avx512) <b>'`)
	b.See("what it does not", `(t => t.includes('Problem: h1_0500: no room') && t.includes(': h1_0300 (') && t.includes('because its time is over'))(document.getElementById('project-stored').textContent)`)
	b.See("what a reset and a detach do, apart from the rest", `document.querySelector('#drawer .end').textContent.startsWith('Reset…Detach…A reset drops its tasks')`)
	b.Do("reset it", chromedp.Click(`//aside//button[text()="Reset…"]`), testbrowser.Press("#sure-yes"))
	b.See("it is said", `document.getElementById('said').textContent.startsWith('Einstein@Home: resetting')`)
	a.wasAsked(t, "reset "+einstein)
	a.change(func(p *view.Page) {
		p.Status.Projects[0].Ending, p.Status.Projects[0].Disconnected = "The project is being detached.", true
	})
	b.Do("take it back", chromedp.WaitVisible(`//aside//button[text()="Undo"]`), chromedp.Click(`//aside//button[text()="Undo"]`))
	b.See("it is said", `document.getElementById('said').textContent === 'Einstein@Home: its tasks are kept.'`)
	a.wasAsked(t, "undo "+einstein)
}

func TestAttachByTheCards(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(0)}
	b, _ := open(t, a)
	tab(b, "Projects", "/projects")
	b.Do("attach", chromedp.Click("#attach-open"))
	b.See("one that is attached cannot be chosen", `[...document.querySelectorAll('#attach-known button')].some(e => e.disabled && e.textContent.includes('Einstein'))`)
	b.Do("choose one", testbrowser.Press("#attach-known li:first-child button"))
	b.See("what it needs", `document.getElementById('attach-needs').textContent.includes('It has applications for this computer (x86_64-pc-linux-gnu). Some of its applications need a GPU.')`)
	b.Do("log in", chromedp.SendKeys("#attach-email", "kim@example.org"), chromedp.SendKeys("#attach-password", "secret"+kb.Enter))
	b.See("there is no account", `document.getElementById('attach-fault').textContent === 'No account with this address. Create one?'`)
	b.Do("create one", testbrowser.Press("#attach-create-now"))
	b.See("the form for it", `document.getElementById('attach-create').checked && document.getElementById('attach-terms').textContent === 'Be kind.'`)
	b.Do("without the terms", chromedp.SendKeys("#attach-name", "Kim"+kb.Enter))
	b.See("the refusal", `document.getElementById('attach-fault').textContent === 'To create an account, accept the terms of use.'`)
	b.Do("with them", chromedp.Click("#attach-accept"), chromedp.SendKeys("#attach-name", kb.Enter))
	b.See("it is attached", `!document.getElementById('attach').open && document.getElementById('said').textContent === 'Attached. Contacting the project now.'`)
	if got := strings.Join(a.asked, "|"); got != "lookup kim@example.org|create kim@example.org Kim true|attach https://www.primegrid.example/ newkey" {
		t.Errorf("the agent was asked for %q", got)
	}
}

func TestComputerTab(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(50)}
	a.page.Status.Transfers = []control.Xfer{
		{Name: "in_7", Project: einstein, Active: true, Bytes: 5 << 20, Size: 20 << 20},
		{Name: "in_8", Project: einstein, Trouble: "This computer's disk is full.", TroubleCure: "Free some disk space.", TroubleDetail: "write in_8..part: no space left on device"},
	}
	a.page.Status.Coprocs = []string{"2 NVIDIA GPUs"}
	part := 0.98
	a.page.Status.GPUs = []control.GPU{{Type: "NVIDIA", Name: "Big", Celsius: 74, Busy: &part, MemoryUsed: 5 << 30, Memory: 12 << 30}, {Type: "ATI", Number: 1, Celsius: 40}}
	b, _ := open(t, a)
	b.See("coprocessors", `document.getElementById('figures').textContent.includes('8 of 82 NVIDIA GPUs, 24 GB of 32 GB of memory') && document.getElementById('figures').textContent.includes('GPU: 74 °C')`)
	b.See("their mode", `document.querySelector('#mode-gpu input[value="auto"]').checked && !document.getElementById('mode-gpu').hidden`)
	b.Do("suspend them for an hour", testbrowser.Press("#mode-gpu summary"), chromedp.SetValue("#mode-gpu select", "60"), chromedp.Focus(`#mode-gpu input[value="never"]`), chromedp.KeyEvent(" "))
	b.See("it is said", `document.getElementById('said').textContent === 'GPUs: never for 1 hour.' && document.querySelector('#mode-run input[value="auto"]').checked`)
	a.wasAsked(t, `mode "gpu" never 1h0m0s`)
	b.See("the mode stays", `document.querySelector('#mode-gpu input[value="never"]').checked`)
	tab(b, "Computers", "/computers")
	b.Do("open this one", testbrowser.Press("#computers-list h3 a"))
	b.See("it is shown, as one of the computers", `location.pathname === '/computer' && document.querySelector('nav [aria-current=page]').textContent === 'Computers'`)
	b.See("them here", `document.getElementById('computer-facts').textContent.includes('Coprocessors2 NVIDIA GPUs')`)
	b.See("what it is", `document.getElementById('computer-facts').textContent.includes('CPU temperature61 °C')`)
	b.See("what its GPUs' sensors read", `document.getElementById('computer-facts').textContent.includes('GPU sensorsBig (device 0): 74 °C, 98 % busy, 5 GB of 12 GB of memory in use; ATI (device 1): 40 °C')`)
	b.See("its disk by project", `document.querySelectorAll('#disk-list tr').length === 4 && document.querySelector('#disk-list tr').textContent === 'Einstein@Home5.1 GB'`)
	b.See("its transfers", `document.querySelector('#transfers-list li').textContent.includes('5 MB of 20 MB')`)
	b.See("why one waits", `document.querySelector('#transfers-list .bad:not([hidden])').textContent === "This computer's disk is full. You can: Free some disk space." && !document.getElementById('transfers-list').textContent.includes('..part')`)
	for _, id := range []string{"shares", "credit", "average"} {
		b.See("a chart of "+id, `document.querySelectorAll('#chart-`+id+` svg.chart text').length > 5 && document.querySelector('#chart-`+id+` svg.chart').getAttribute('aria-label').includes('Einstein@Home')`)
	}
	b.See("its axis is round", `[...document.querySelectorAll('#chart-average svg.chart text.y')].map(e => e.textContent).join(' ') === '0 1,000 2,000 3,000'`)
	b.Picture("computer")
	b.See("how hot it was", `document.querySelector('#chart-temperature svg.chart').getAttribute('aria-label') === 'Temperature, the highest of each 5 minutes. CPU, °C: 61; Hottest GPU, °C: 74.'`)
	b.See("at which times", `[...document.querySelectorAll('#chart-temperature svg.chart text:not(.y)')].every(e => /^[0-2]\d:[0-5]\d$/.test(e.textContent)) && document.querySelectorAll('#chart-temperature details tbody tr').length === 3 && document.querySelector('#chart-temperature details th').textContent === 'Time'`)
	b.See("its sensor is not missed", `document.getElementById('no-sensor').hidden`)
	b.See("its values can be read", `document.querySelectorAll('#chart-average details tbody tr').length === 21`)
	for _, n := range []int64{0, 1, 1023, 1024, 1_048_524, 1_048_525, 3 << 29, 5 << 40} {
		if got := testbrowser.Value[string](b, fmt.Sprintf(`import('/words.js').then(m => m.bytes(%d))`, n)); got != words.Bytes(n).String() {
			t.Errorf("%d bytes: the page writes %q, the command line %q", n, got, words.Bytes(n))
		}
	}
	ticks := testbrowser.Value[string](b, `import('/chart.js').then(m => JSON.stringify([m.ticks(0), m.ticks(1), m.ticks(7), m.ticks(0.3), m.ticks(2e6)]))`)
	if want := `[[0,1],[0,0.5,1],[0,2,4,6,8],[0,0.1,0.2,0.3],[0,500000,1000000,1500000,2000000]]`; ticks != want {
		t.Errorf("ticks: %s, want %s", ticks, want)
	}
}

func TestLogTab(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(10), seqno: 1500}
	b, _ := open(t, a)
	tab(b, "Log", "/log")
	rows := `document.querySelectorAll('#log-table tbody tr:not(.space)')`
	b.See("the last line", `[...`+rows+`].some(e => e.getAttribute('aria-rowindex') === '1501')`)
	if n := testbrowser.Value[int](b, rows+`.length`); n > 200 {
		t.Errorf("%d rows are on the page", n)
	}
	a.mu.Lock()
	a.seqno = 1501
	a.mu.Unlock()
	b.See("it follows", `[...`+rows+`].at(-1).textContent.includes('task_1501')`)
	b.Do("warnings alone", chromedp.SetValue("#log-level", "2"), chromedp.Evaluate[chromedp.Void](`document.getElementById('log-level').dispatchEvent(new Event('change'))`))
	b.See("they are fewer", `document.getElementById('log-count').textContent === '150 of 1,501 lines'`)
	b.Do("search", chromedp.SendKeys("#log-search", "einstein task_70_"))
	b.See("one is found", rows+`.length === 1`)
	b.Do("open it", testbrowser.Press("#log-table tbody a"))
	b.See("all of it", `document.querySelector('#drawer .whole').textContent === 'upload failed file=task_70_0 err="connection refused"'`)
}

func TestAgentGone(t *testing.T) {
	t.Parallel()
	served, stop := context.WithCancel(t.Context())
	b, _ := openUntil(t, served, &fake{page: busy(30)})
	tab(b, "Tasks", "/tasks")
	b.See("tasks", rowsShown+` > 10`)
	stop()
	b.See("the agent does not answer", `!document.getElementById('gone').hidden && document.getElementById('gone-text').textContent.includes('What you see below is from') && document.getElementById('tasks').inert`)
	b.See("it is grey", `getComputedStyle(document.getElementById('tasks')).opacity < 1`)
	b.Picture("stopped")
}

// A page shows its frame until the agent answers, and after a while that it waits.
func TestLoading(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(3), ready: make(chan struct{})}
	_, login := serve(t, a)
	b := testbrowser.New(t)
	b.Do("open the page", testbrowser.Media("light"), chromedp.Navigate(login.String()))
	b.See("the frame", `document.querySelectorAll('#loading i').length === 3 && document.querySelectorAll('nav a').length > 5 && !document.getElementById('overview').offsetHeight`)
	b.See("that it waits", `document.getElementById('loading').innerText.trim() === 'Connecting…'`)
	b.Accessible("a page that waits")
	close(a.ready)
	b.See("the overview", `!document.getElementById('loading') && document.getElementById('overview').offsetHeight && document.querySelectorAll('#running li').length === 3`)
}

func TestNothingYet(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(0)}
	a.page.Status.Projects, a.page.Status.Achieved, a.page.Credit, a.page.Disk.Used = nil, nil, nil, -1
	a.page.Temperature, a.page.Heat, a.page.GPUHeat = 0, nil, nil
	b, base := open(t, a)
	b.See("there is no project", `!document.getElementById('welcome').hidden && document.getElementById('figures').hidden`)
	b.Do("open the computer", chromedp.Navigate(base+"/computer"))
	b.See("that there is no sensor", `document.getElementById('no-sensor')?.offsetParent && document.getElementById('no-sensor').textContent.startsWith('No sensor of this computer')`)
	for path, text := range map[string]string{"/tasks": "No tasks. Attach a project to get some.", "/projects": "No projects yet.", "/history": "The timeline starts today.", "/computer": "Charts appear here once", "/log": "No messages."} {
		b.Do("open "+path, chromedp.Navigate(base+path))
		b.See(path+" says so", `document.querySelector('main > section:not([hidden]) .empty:not([hidden])')?.textContent.startsWith('`+text+`')`)
	}
}

// TestAccessible checks each tab, the drawers and the dialogs with axe-core, light and dark.
func TestAccessible(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(100), seqno: 40} // with tasks of all kinds
	a.page.Status.Coprocs = []string{"2 NVIDIA GPUs"}
	a.page.Status.Projects[1].Trouble, a.page.Status.Projects[1].TroubleCure = "The server is down.", "wait."
	a.page.Status.Tasks[3].Late = 90000
	a.page.Status.Transfers = []control.Xfer{{Name: "in_7", Project: einstein, Active: true, Bytes: 5 << 20, Size: 20 << 20}}
	b, base := open(t, a)
	for scheme, rules := range map[string][]string{"light": nil, "dark": {"color-contrast", "link-in-text-block"}} { // only colors differ
		b.Do("go "+scheme, testbrowser.Media(scheme))
		for _, path := range []string{"/", "/tasks", "/projects", "/notices", "/computer", "/computers", "/preferences", "/log", "/tasks?task=https%3A%2F%2Feinstein.example%2F%20h1_0421.50_O4_3_0", "/projects?project=https%3A%2F%2Flhc.example%2F"} {
			b.Do("open "+path, chromedp.Navigate(base+path))
			b.See("it is live", `document.getElementById('link')?.textContent === 'live' && document.querySelector('main > section:not([hidden]) h2').textContent !== '…'`)
			b.Accessible(scheme+" "+path, rules...)
		}
		b.Do("attach", chromedp.Navigate(base+"/projects"), testbrowser.Press("#attach-open"))
		b.See("the cards", `document.querySelectorAll('#attach-known li').length === 3`)
		b.Accessible(scheme+" attach", rules...)
		b.Do("choose", testbrowser.Press("#attach-known li:first-child button"))
		b.See("the account", `!document.getElementById('attach-account').hidden`)
		b.Accessible(scheme+" account", rules...)
	}
}

// TestPhone looks at each tab on a phone's width.
func TestPhone(t *testing.T) {
	t.Parallel()
	a := past(300)
	a.page, a.seqno = busy(100), 40
	b, base := open(t, a)
	b.Do("be a phone", chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2)))
	for _, path := range []string{"/", "/tasks", "/projects", "/history", "/notices", "/computer", "/computers", "/preferences", "/log", "/tasks?task=https%3A%2F%2Feinstein.example%2F%20h1_0421.50_O4_3_0"} {
		b.Do("open "+path, chromedp.Navigate(base+path))
		b.See("it is live", `document.getElementById('link')?.textContent === 'live' && document.querySelector('main > section:not([hidden]) h2').textContent !== '…'`)
		b.See(path+" is not wider than the phone", `document.documentElement.scrollWidth <= 320`)
		b.Picture(map[string]string{"/": "phone"}[path])
	}
}

// TestPhoneModes: the head has the button that pauses, and More the modes.
func TestPhoneModes(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(20)}
	b, base := open(t, a)
	b.Do("be a phone", chromedp.EmulateViewport(360, 740), chromedp.Navigate(base+"/tasks"))
	b.See("the name of the computer", `document.querySelector('.brand').innerText.trim() === 'workbench'`)
	b.Do("pause", testbrowser.Press("#pause"))
	b.See("it pauses", `document.getElementById('said').textContent === 'Paused for 1 hour.' && document.querySelector('.top #resume:not([hidden])')`)
	b.Do("look for the rest", chromedp.Click("#more > summary"))
	b.See("it is there", `[...document.querySelectorAll('#more a')].filter(e => e.offsetHeight).map(e => e.textContent).join() === 'Computers,Notices,Preferences,Log'`)
	b.Do("open the network", chromedp.Click("#mode-net summary"))
	b.See("its modes", `document.querySelector('#mode-net input').offsetHeight > 0 && document.getElementById('more').open`)
	b.Accessible("More")
	b.Do("never", chromedp.Focus(`#mode-net input[value="never"]`), chromedp.KeyEvent(" "))
	b.See("it is said", `document.getElementById('said').textContent === 'Network: never.'`)
	b.Do("go to the log", chromedp.Click(`//div/a[text()="Log"]`))
	b.See("More is closed", `location.pathname === '/log' && !document.getElementById('more').open`)
	b.Do("be broad", chromedp.EmulateViewport(1280, 800))
	b.See("all of it is on the overview", `document.querySelector('#modes #resume') && document.querySelector('#modes #mode-net')`)
}

// TestPhoneColumns: a column with two letters in a line would be useless, and the computing tasks
// must be visible at once.
func TestPhoneColumns(t *testing.T) {
	t.Parallel()
	b, base := open(t, &fake{page: busy(300), seqno: 40})
	b.Do("be a common phone", chromedp.EmulateViewport(360, 640, chromedp.EmulateScale(2)))
	const broad = `((e) => e && e.getBoundingClientRect().width >= 120)(document.querySelector('%s'))`
	const high = `((e) => e && e.getBoundingClientRect().bottom <= innerHeight)(document.querySelector('%s'))`
	for _, c := range []struct{ path, what, names, first string }{
		{"/", "projects", "#achieved th", "#running li"},
		{"/projects", "projects", "#projects-list th", "#projects-list tr"},
		{"/tasks", "tasks", "#tasks-table tbody td.c-name", "#tasks-table tbody td.c-name"},
	} {
		b.Do("open "+c.path, chromedp.Navigate(base+c.path))
		b.See("it is live", `document.getElementById('link')?.textContent === 'live' && document.querySelector('main > section:not([hidden]) h2').textContent !== '…'`)
		b.See(c.path+" has room for the names of "+c.what, fmt.Sprintf(broad, c.names))
		b.See(c.path+" shows the first of them without scrolling", fmt.Sprintf(high, c.first))
		b.See(c.path+" is not wider than the phone", `document.documentElement.scrollWidth <= 360`)
	}
}
