package dashboard

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
)

func (a *fake) Notices(_ context.Context, project string) (all []control.Notice, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.page.Status.Notices {
		if project == "" || n.Project == project {
			n.Text = "Dear volunteers,\n\nwe <b>found</b> number " + strings.Repeat("9", n.Seqno) + "."
			all = append(all, n)
		}
	}
	return all, nil
}

// announced returns notices, one of them malicious.
func announced() []control.Notice {
	return []control.Notice{
		{Seqno: 3, Project: einstein, ProjectName: "Einstein@Home", Kind: control.News, Title: "A pulsar <img src=x onerror=alert(1)>", Link: "https://einstein.example/news?a=1&b=2", Time: started, Arrived: started},
		{Seqno: 2, Project: lhc, ProjectName: "LHC@home", Kind: control.Scheduler, Time: started, Arrived: started},
		{Seqno: 1, Project: wcg, ProjectName: wcgName, Kind: control.News, Title: "Old news", Link: "javascript:alert(1)", Time: started.AddDate(0, 0, -20), Arrived: started},
	}
}

func TestNoticesTab(t *testing.T) {
	t.Parallel()
	a := &fake{page: busy(3)}
	a.page.Status.Notices = announced()
	b, _ := open(t, a)
	b.See("the latest on the overview", `[...document.querySelectorAll('#news li')].map(e => e.textContent).join('|') === 'A pulsar <img src=x onerror=alert(1)> Einstein@Home|Notice from LHC@home LHC@home'`)
	links := `[...document.querySelectorAll('nav a')].map(e => e.textContent).join('|')`
	b.See("how many are new", links+`.includes('|Notices 3|')`)
	b.Do("open the notices", chromedp.Click(`//nav//a[text()="Notices"]`))
	b.See("none is new", `location.pathname === '/notices' && `+links+`.includes('|Notices|')`)
	b.See("all of them", `document.getElementById('notices-count').textContent === '3'`)
	b.See("titles as text", `[...document.querySelectorAll('#notices-list h3')].map(e => e.textContent).join('|') === 'A pulsar <img src=x onerror=alert(1)>|Notice from LHC@home|Old news'`)
	b.See("no markup of theirs", `!document.querySelector('#notices-list img, #notices-list b')`)
	b.See("paragraphs", `document.querySelector('#notices-list .whole').textContent === 'Dear volunteers,\n\nwe <b>found</b> number 999.' && getComputedStyle(document.querySelector('#notices-list .whole')).whiteSpace.startsWith('pre')`)
	b.See("links of the web only, which tell nothing", `(() => { const l = [...document.querySelectorAll('#notices-list a[target=_blank]')];
		return l.length === 1 && l[0].href === 'https://einstein.example/news?a=1&b=2' && l[0].rel === 'noopener noreferrer'; })()`)
	b.Accessible("the notices")
	a.change(func(p *view.Page) { p.Status.Notices = p.Status.Notices[1:] })
	b.See("one that is withdrawn is gone", `document.getElementById('notices-count').textContent === '2'`)
	b.Do("on a phone", chromedp.EmulateViewport(360, 740))
	b.See("nothing is cut off", `document.documentElement.scrollWidth <= 360`)
	b.Accessible("the notices on a phone")
}
