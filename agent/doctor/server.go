package doctor

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/version"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
)

// clockSlack is the largest clock error that does not harm certificates and deadlines.
const clockSlack = 5 * time.Minute

// server fetches a project's master page as the agent does, and compares the clocks. It describes
// problems in the agent's own words.
func server(ctx context.Context, way *http.Transport, masterURL string, now func() time.Time) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	dates := &dated{next: way}
	client := &schedulerop.Client{HTTP: httpclient.New(dates), UserAgent: "Starling " + version.Version}
	client.HTTP.RetryMax = 0
	f := Finding{Check: masterURL, Grade: Good, Text: words.T("responds, and names its scheduler")}
	if _, err := client.MasterPage(ctx, masterURL); err != nil {
		t := schedulerop.Diagnose(err, masterURL, now())
		f.Grade, f.Text, f.Fix = Wrong, t.Text(now()), t.Cure(masterURL)
	}
	all := []Finding{f}
	if theirs := dates.last(); !theirs.IsZero() {
		if off := now().Sub(theirs).Round(time.Second); off.Abs() > clockSlack {
			all = append(all, Finding{"clock", Wrong, words.T("differs by {span} from the clock of {url}", "span", words.Span(off), "url", masterURL), words.T("set this computer's clock, or use NTP")})
		}
	}
	return all
}

// dated notes what time it is for a server.
type dated struct {
	next http.RoundTripper
	mu   sync.Mutex
	date time.Time
}

func (d *dated) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.next.RoundTrip(r)
	if err == nil {
		if t, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			d.mu.Lock()
			d.date = t
			d.mu.Unlock()
		}
	}
	return resp, err
}

func (d *dated) last() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.date
}

// waits reports whether a project gets no work for a reason that a person can remedy. It is false
// if the reason is normal or another finding already reports it.
func waits(p control.Project) bool {
	switch p.WorkCode {
	case reason.BufferFull, reason.Unproved, reason.Overserved, reason.RequestDelay, reason.TasksFail, reason.NetworkSuspended, reason.ComputingSuspended:
		return false
	}
	return p.WorkCure != "" && p.WorkCode != p.TroubleCode
}

// said judges a project's answers to the agent and the outcomes of its tasks, since a server may
// answer and still refuse work. seen are the findings about the project's server, which said does
// not repeat.
func said(p control.Project, seen []Finding) []Finding {
	check := p.MasterURL
	var all []Finding
	if x := p.Failing; x != nil {
		var wrote words.Text
		if x.Stderr != "" {
			wrote = words.T("Its application's last lines: {lines}", "lines", strings.ReplaceAll(x.Stderr, "\n", " | "))
		}
		all = append(all, Finding{check, Wrong, words.And(words.Plain(x.Text), wrote), words.Plain(x.Cure)})
	}
	if p.Ending != "" {
		all = append(all, Finding{Check: check, Grade: Note, Text: words.Plain(p.Ending)})
	} else if waits(p) {
		all = append(all, Finding{check, Note, words.Plain(p.Work), words.Plain(p.WorkCure)})
	}
	told := func(f Finding) bool { return f.Check == check && f.Grade == Wrong }
	if p.TroubleCode != "" && !slices.ContainsFunc(seen, told) {
		all = append(all, Finding{check, Wrong, words.Plain(p.Trouble), words.Plain(p.TroubleCure)})
	}
	return all
}
