package dashboard

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testbrowser"
)

func (a *fake) History(_ context.Context, q control.HistoryQuery) (control.History, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := control.History{Tasks: []control.HistoryTask{}}
	if q.Limit == 0 {
		q.Limit = control.MaxHistoryPage
	}
	for i := int(q.Before); i < len(a.ended); i++ {
		if len(h.Tasks) == q.Limit {
			h.Next = uint64(i)
			break
		}
		if k := a.ended[i]; (q.Project == "" || k.Project == q.Project) && (q.Task == "" || k.Name == q.Task) && k.Matches(q.Search) {
			h.Tasks = append(h.Tasks, k)
		}
	}
	return h, nil
}

func (a *fake) Timeline(_ context.Context, q control.HistoryQuery) (control.Timeline, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := control.Timeline{Spans: []control.Span{}}
	for i := int(q.Before); i < len(a.spans); i++ {
		if len(t.Spans) == 10 {
			t.Next = uint64(i)
			break
		}
		if !a.spans[i].End.Before(q.Since) {
			t.Spans = append(t.Spans, a.spans[i])
		}
	}
	return t, nil
}

// past returns a computer on which so many tasks have ended, and which has been on for some days.
func past(tasks int) *fake {
	a := &fake{page: busy(30)}
	for i := range tasks {
		end := started.Add(-time.Duration(i) * 20 * time.Minute)
		k := control.HistoryTask{
			Name: fmt.Sprintf("h1_0398.20_O4_%d_0", tasks-i), Project: einstein, ProjectName: "Einstein@Home", Workunit: fmt.Sprintf("h1_0398.20_O4_%d", tasks-i),
			App: "einstein_O4", AppTitle: "All-sky pulsar search", AppVersion: 104, PlanClass: "avx2", Outcome: "finished", Received: end.Add(-50 * time.Hour), Started: end.Add(-2 * time.Hour),
			Finished: end, Reported: end.Add(10 * time.Minute), Deadline: end.Add(72 * time.Hour), Elapsed: 7200, CPUTime: 7050, PeakMemory: 530 << 20,
			Stderr: "12:00:01 reading the input\n12:00:04 <b>template</b> 17 of 4000\n",
		}
		switch i {
		case 1:
			k.Outcome, k.By, k.Exit, k.ExitStatus, k.Reported = "aborted", "user", "You aborted this task.", 203, time.Time{}
		case 3:
			k.Outcome, k.Exit, k.ExitStatus = "failed", "The application crashed (segmentation violation).", 193
			k.Energy = control.Energy{Wh: 1234, CO2: 98.76, CO2Of: 400}
		case 5:
			k.Deadline, k.Late = end.Add(-3*time.Hour), 11400
		}
		a.ended = append(a.ended, k)
	}
	now := time.Now()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.Local)
	at := func(days, hour, minute int) time.Time {
		return day.AddDate(0, 0, -days).Add(time.Duration(hour*60+minute) * time.Minute)
	}
	for d := 6; d >= 1; d-- {
		for _, s := range []control.Span{
			{State: "off", Code: "stopped", Why: "The agent was stopped.", Start: at(d, 6, 40), End: at(d, 8, 0)},
			{State: "computing", Start: at(d, 8, 0), End: at(d, 17, 30)},
			{State: "suspended", Code: "user_active", Why: "The computer is in use, or was in the last 3 minutes (run_if_user_active, idle_time_to_run).", Start: at(d, 17, 30), End: at(d, 19, 5)},
			{State: "waiting", Start: at(d, 19, 5), End: at(d, 20, 0)},
			{State: "computing", Start: at(d, 20, 0), End: at(d, 23, 10)},
			{State: "suspended", Code: "on_battery", Why: "The computer is running on battery power (run_on_batteries).", Start: at(d, 23, 10), End: at(d-1, 6, 40)},
		} {
			a.spans = append([]control.Span{s}, a.spans...)
		}
	}
	a.spans[0].End = day // of yesterday
	a.spans = append([]control.Span{{State: "computing", Start: day, End: now, Open: true}}, a.spans...)
	return a
}

func TestHistoryTab(t *testing.T) {
	t.Parallel()
	a := past(1000)
	b, base := open(t, a)
	tab(b, "History", "/history")
	rows := `document.querySelectorAll('#history-table tbody tr:not(.space)')`
	b.See("a page of the tasks that ended", `document.getElementById('history-count').textContent === '200+'`)
	b.See("how they did, the last first", `[...`+rows+`].slice(0, 6).map(e => e.children[1].textContent).join('|') === 'Finished|Aborted by you|Finished|Failed|Finished|Finished, 3 h late'`)
	b.See("a row", rows+`[0].children[0].textContent === 'Einstein@Home All-sky pulsar searchh1_0398.20_O4_1000_0' && [...`+rows+`[3].children].map(e => e.textContent).join('|').replace(/\d\d\d\d-\d\d-\d\d|\d+ (min|h) ago/, 'then') === 'Einstein@Home All-sky pulsar searchh1_0398.20_O4_997_0|Failed|The application crashed (segmentation violation).|then|2 h|1 h 57 min'`)
	b.See("why one was late", `/^The deadline was .* at \d\d:\d\d\.$/.test(`+rows+`[5].children[2].textContent)`)
	b.See("a band for each day, of one height", `document.querySelectorAll('.band').length === 7 && new Set([...document.querySelectorAll('.band .span')].map(e => e.offsetHeight)).size === 1`)
	b.See("its hours", `[...document.querySelectorAll('.hours span')].map(e => e.textContent).join(' ') === '00:00 03:00 06:00 09:00 12:00 15:00 18:00 21:00 24:00'`)
	b.See("the hours of computing on a day", `[...document.querySelectorAll('.days > .num')][1].textContent === '12 h 40 min'`)
	b.See("shares that add up", `/^Computing \d+ %No task to run \d+ %Suspended \d+ %Off \d+ %$/.test(document.querySelector('#history .legend').textContent) &&
		document.querySelector('#history .legend').textContent.match(/\d+/g).reduce((a, b) => a + Number(b), 0) === 100`)
	b.See("its label", `/^What the computer did in the last 7 days\. Computing \d+ %, No task to run \d+ %, Suspended \d+ %, Off \d+ %\. Arrow keys/.test(document.querySelector('.bands').getAttribute('aria-label'))`)
	line := `document.getElementById('chosen-span').textContent`
	b.See("the last suspended time", line+` === 'Yesterday, 23:10–00:00Suspended for 50 minThe computer is running on battery power.Change'`)
	b.Picture("history")
	b.Do("go back in time", chromedp.Focus(".bands"), chromedp.KeyEvent(kb.ArrowLeft))
	b.See("the time before", line+` === 'Yesterday, 20:00–23:10Computing for 3 h 10 minChange' && document.querySelector('#chosen-span a').hidden`)
	b.Do("go to the day before", chromedp.KeyEvent(kb.ArrowDown))
	b.See("the same time of that day", line+`.includes(', 20:00–23:10Computing') && !`+line+`.startsWith('Yesterday')`)
	b.Do("go to the night after it", chromedp.KeyEvent(kb.ArrowRight))
	b.See("a night on two bands", line+`.includes(', 23:10–06:40Suspended for 7 h 30 min') && document.querySelectorAll('.band .marked').length === 2`)
	b.Do("point at another", chromedp.Evaluate[chromedp.Void](`document.querySelector('.band .computing').dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))`))
	b.See("a preview of it", line+`.startsWith('Today, since 00:00Computing')`)
	b.Do("point elsewhere", chromedp.Evaluate[chromedp.Void](`document.querySelector('.bands').dispatchEvent(new PointerEvent('pointerleave'))`))
	b.See("the night again", line+`.includes(', 23:10–06:40Suspended')`)
	b.See("the hidden list of it, the last first", `document.querySelectorAll('#spans li').length === 37 && document.querySelector('#spans li').textContent.startsWith('Computing since 00:00') && document.getElementById('spans').className === 'unseen'`)
	b.See("by days", `[...document.querySelectorAll('#spans h3')].map(e => e.textContent).slice(0, 2).join() === 'Today,Yesterday' && document.querySelectorAll('#spans h3').length === 7`)
	b.See("a reason in full", `[...document.querySelectorAll('#spans li')].some(e => e.textContent === 'On battery 23:10–06:40 7 h 30 min. The computer is running on battery power (run_on_batteries).')`)

	b.Do("change the preference", testbrowser.Press("#chosen-span a"))
	b.See("the field of it", `location.pathname === '/preferences' && document.activeElement.id === 'pref-run_on_batteries'`)
	b.Do("go back", chromedp.NavigateBack())
	b.See("the history", rows+`.length > 1`)
	b.Do("scroll to the end of the page", chromedp.Evaluate[chromedp.Void](`document.getElementById('history-table').scrollTop = 1e9`))
	b.See("further tasks", `document.getElementById('history-count').textContent === '400+'`)
	for _, n := range []string{"600+", "800+", "1,000"} {
		b.Do("scroll on", chromedp.Evaluate[chromedp.Void](`document.getElementById('history-table').scrollTop = 1e9`))
		b.See("still further ones", `document.getElementById('history-count').textContent === '`+n+`'`)
	}
	b.See("how many, for screen readers", `document.querySelector('#history-table table').getAttribute('aria-rowcount') === '1001'`)
	b.Do("scroll to the last", chromedp.Evaluate[chromedp.Void](`document.getElementById('history-table').scrollTop = 1e9`))
	b.See("the first task that ever ended", `[...`+rows+`].at(-1).textContent.includes('h1_0398.20_O4_1_0')`)
	if n := testbrowser.Value[int](b, rows+`.length`); n > 200 {
		t.Errorf("%d rows are on the page", n)
	}
	search := func(text string) {
		b.Do("search for "+text, testbrowser.Empty("history-search"), chromedp.SendKeys("#history-search", text))
	}
	search("CRASHED")
	b.See("the only one that crashed", `document.getElementById('history-count').textContent === '1' && `+rows+`.length === 1 && `+rows+`[0].textContent.includes('h1_0398.20_O4_997_0')`)
	search("o4_4_ einstein finished")
	b.See("one of the first, which no page had yet", rows+`.length === 1 && `+rows+`[0].textContent.includes('h1_0398.20_O4_4_0')`)
	search("nowhere")
	b.See("none", `document.getElementById('history-empty').textContent === 'No completed task matches “nowhere”.' && !document.getElementById('history-empty').hidden`)
	b.Do("search no more", testbrowser.Empty("history-search"), chromedp.Evaluate[chromedp.Void](`document.getElementById('history-search').dispatchEvent(new Event('input'))`))
	b.See("the first page again", `document.getElementById('history-count').textContent === '200+' && `+rows+`.length > 1`)

	a.mu.Lock()
	a.ended = append([]control.HistoryTask{{Name: "just_now", Project: lhc, Outcome: "finished", Finished: time.Now()}}, a.ended...)
	a.mu.Unlock()
	b.Do("look elsewhere and come back", chromedp.Click(`//nav//a[text()="Log"]`), chromedp.Click(`//nav//a[text()="History"]`))
	b.See("one more", rows+`[0].textContent.includes('just_now')`)

	b.Do("open one that failed", chromedp.Navigate("about:blank"), chromedp.Navigate(base+"/history"), chromedp.WaitVisible(`#history-table a[title="h1_0398.20_O4_997_0"]`), testbrowser.Press(`#history-table a[title="h1_0398.20_O4_997_0"]`))
	b.See("all of it", `document.getElementById('past-why').textContent === 'The application crashed (segmentation violation).' && document.getElementById('past-facts').textContent.includes('Exit status193') && document.getElementById('past-facts').textContent.includes('Energy1.23 kWh, 98.8 g CO2 for 400 Wh of it')`)
	b.See("its output is text", `document.getElementById('past-stderr').textContent.includes('<b>template</b> 17 of 4000')`)
	b.See("it has an address", `location.search.includes('h1_0398.20_O4_997_0')`)
	b.Do("close it", chromedp.KeyEvent(kb.Escape))
	b.See("it is closed", `document.getElementById('drawer').hidden && location.search === ''`)
	old := a.ended[900]
	address := `/history?task=` + strings.ReplaceAll(old.Project+" "+old.Name+" "+old.Finished.Format(time.RFC3339Nano), "+", "%2B")
	b.Do("open one that the table does not have yet", chromedp.Navigate(base+strings.ReplaceAll(address, " ", "%20")))
	b.See("it is found", `document.getElementById('past-facts')?.textContent.includes('Workunit`+old.Workunit+`Project')`)
	b.Do("open one that never was", chromedp.Navigate(base+"/history?task=x%20y%20z"))
	b.See("it is not there", `document.querySelector('#drawer-body .empty:not([hidden])')?.textContent === 'This task is not in the history.'`)
}

// The day on which a clock is changed has another length, and the bands keep to days.
func TestMidnights(t *testing.T) {
	t.Parallel()
	b, _ := open(t, past(1))
	got := testbrowser.Value[string](b, `import('/bands.js').then(m => m.midnights(new Date(2026, 4, 4, 15, 30).getTime(), 2).map(x => { const d = new Date(x); return [d.getDate(), d.getHours(), d.getMinutes()].join(':'); }).join(' '))`)
	if want := "3:0:0 4:0:0 5:0:0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Shares in whole percent add up to 100.
func TestShares(t *testing.T) {
	t.Parallel()
	b, _ := open(t, past(1))
	got := testbrowser.Value[string](b, `import('/bands.js').then(m => [{}, {computing: 1, waiting: 1, off: 1}, {computing: 7}].map(x => Object.values(m.shares(x)).map(v => Math.round(100 * v)).join(':')).join(' '))`)
	if want := "0:0:0:0 34:33:0:33 100:0:0:0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The page's requests for the history. The file for spreadsheets has all of it.
func TestHistoryRequests(t *testing.T) {
	a := past(1200)
	a.ended[7].Name = "=1+1"
	_, login := serve(t, a)
	base, cookie := "http://127.0.0.1:"+login.Port(), enter(t, login)
	for path, want := range map[string]string{
		"/api/history?limit=2":           `"next":2`,
		"/api/history?before=1190":       `"name":"h1_0398.20_O4_1_0"`,
		"/api/history?task=%3D1%2B1":     `{"tasks":[{"name":"=1+1"`,
		"/api/timeline":                  `"next":10`,
		"/api/timeline?before=30":        `"code":"on_battery"`,
		"/api/history?before=x":          `{"error":`,
		"/api/timeline?since=last+month": `{"error":`,
	} {
		resp, got := ask(t, http.MethodGet, base+path, "", "Cookie", cookie)
		if wrong := strings.Contains(want, "error"); !strings.Contains(got, want) || (resp.StatusCode == http.StatusBadRequest) != wrong {
			t.Errorf("%s: %s: %.200s, want %s", path, resp.Status, got, want)
		}
	}
	resp, got := ask(t, http.MethodGet, base+"/api/history.csv", "", "Cookie", cookie)
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/csv; charset=utf-8" || !strings.Contains(resp.Header.Get("Content-Disposition"), "starling-history.csv") {
		t.Errorf("%s %v", resp.Status, resp.Header)
	}
	if table, err := csv.NewReader(strings.NewReader(got)).ReadAll(); err != nil || len(table) != 1201 || table[0][0] != "name" || table[8][0] != "'=1+1" {
		t.Errorf("%d lines, %v: %.300s", len(table), err, got)
	}
	if resp, _ := ask(t, http.MethodGet, base+"/api/history.csv", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %s", resp.Status)
	}
}

// axe-core looks at the history as well, and at the drawer of a task of it.
func TestHistoryAccessible(t *testing.T) {
	t.Parallel()
	b, _ := open(t, past(300))
	tab(b, "History", "/history")
	for _, scheme := range []string{"light", "dark"} {
		b.Do("go "+scheme, testbrowser.Media(scheme), chromedp.WaitVisible(`#history-table tbody a`))
		b.See("the timeline", `document.querySelectorAll('#spans li').length === 37`)
		b.Accessible(scheme + " history")
		b.Do("open a task", testbrowser.Press(`#history-table a[title="h1_0398.20_O4_297_0"]`))
		b.See("its output", `document.getElementById('past-stderr').textContent !== ''`)
		b.Accessible(scheme + " task of the history")
		b.Do("close it", chromedp.KeyEvent(kb.Escape))
	}
}
