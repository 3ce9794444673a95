// Package workfetch decides which project is asked for work and for how much,
// and says of every other project why it is not asked. It is policy: values in,
// values out.
//
// Each project has an entitlement: its debt, plus its resource share of all the
// computer does until the high-water mark, less what it has queued. Entitlements
// add up to the room in the queue, so a project that is asked for its own never
// takes another's place. Room that is owed to a project without work just now is
// kept free for it as far as the low-water mark allows.
package workfetch

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/contact"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
)

// A Snapshot is all that work fetch looks at.
type Snapshot struct {
	Now      time.Time
	CPUs     int           // that may be used
	OnFrac   float64       // part of the time that the computer computes; 0 means 1
	Low      time.Duration // low-water mark: wall time for which each CPU is to be supplied
	High     time.Duration // high-water mark
	Projects []Project
	Jobs     []jobsched.Job // unfinished results, of all projects
}

// A Project is what work fetch needs to know of one.
type Project struct {
	URL       string
	Share     float64 // resource share
	Debt      float64 // CPU-seconds; positive: it is owed
	Counts    bool    // the volunteer wants work from it
	NoWorkWhy string  // why it does not count, if the volunteer did not ask for that
	Suspended bool    // the volunteer suspended it
	NoCPUApps bool    // it told that it has no applications for the CPU
	Uploads   int     // results waiting for their files to be uploaded
	Uploading bool    // one is being uploaded just now
	// Stuck are results that wait for their files for long or cannot start here. They
	// are not among the jobs of the Snapshot.
	Stuck int
	// Overdrawn: it owes so much that its jobs are not among those of the Snapshot.
	Overdrawn bool
	// Talking: it is being asked something just now, since TalkingSince.
	Talking      bool
	TalkingSince time.Time
	Held         int // results here, those that are to be reported included
	// Asked: the volunteer wants it contacted now, whatever it was waited for.
	Asked      bool
	MinRPCTime time.Time
	Trouble    contact.Trouble // of the last contact
	Backoff    time.Time       // no request for work before, since the last brought none
	BackoffWhy string          // why, as a sentence for people; "": the last brought none, or tasks fail
	Failures   int             // tasks that failed here since one was good
	Failed     Failure         // the last of them

	// What its results are like, from those it sent; zero: none yet.
	JobTime time.Duration // estimated computing time of one, corrected
	Latency time.Duration // from sending to the deadline
	// Unreachable: its servers have not answered for a while; its queued results
	// run last and are no supply to count on.
	Unreachable bool
	// Proved: its estimates have been compared with a result's progress.
	Proved bool
	// Correction is actual over stated computing time, where the server does not
	// know of it; 0 means 1.
	Correction float64
}

// A Code tells one reason from another.
type Code string

// The reasons.
const (
	Ask           Code = "ask"
	BufferFull    Code = "buffer_full"
	OtherFirst    Code = "other_project_first"
	Overserved    Code = "got_more_than_its_share"
	Deadlines     Code = "deadlines_in_danger"
	Unproved      Code = "estimates_unproved"
	Stuck         Code = "tasks_cannot_begin"
	TooMany       Code = "too_many_tasks"
	NoMoreWork    Code = "no_more_work"
	Suspended     Code = "project_suspended"
	NoCPUApps     Code = "no_cpu_apps"
	TooManyUpload Code = "upload_backlog"
	UploadFirst   Code = "upload_under_way"
	RequestDelay  Code = "request_delay"
	NoWorkBackoff Code = "no_work_backoff"
	TasksFail     Code = "tasks_fail"

	// What holds for all projects alike.
	Network    Code = "network_suspended"
	Computing  Code = "computing_suspended"
	Conversing Code = "session_under_way"
)

// A Reason is what was decided for one project, and why.
type Reason struct {
	Code      Code      `json:"code"`
	Text      string    `json:"text"`                // one sentence for people
	Cure      string    `json:"cure,omitempty"`      // what a person can do about it; "": nothing is wrong
	Until     time.Time `json:"until,omitzero"`      // when it changes; zero: not known
	Seconds   float64   `json:"seconds,omitempty"`   // Ask: CPU seconds wanted
	Instances float64   `json:"instances,omitempty"` // Ask: idle CPUs to fill
	Could     float64   `json:"could,omitempty"`     // CPU seconds that could be asked for along with a report
}

// firstRequest is what an unknown project is asked for: one result, to see what
// its results are like.
const firstRequest = 1

// Choose returns a reason for each of s.Projects, in their order; at most one is
// Ask.
func Choose(s Snapshot) []Reason {
	f := newFetcher(s)
	reasons := make([]Reason, len(s.Projects))
	best := -1
	for i := range s.Projects {
		r := f.pause(i, f.judge(i))
		reasons[i] = r
		if r.Code == Ask && (best < 0 || f.before(i, best)) {
			best = i
		}
	}
	for i := range reasons {
		if reasons[i].Code == Ask && i != best {
			reasons[i].Code, reasons[i].Text = OtherFirst, s.Projects[best].URL+" is owed more, so it is asked first."
			reasons[i].Seconds, reasons[i].Instances = 0, 0
		}
	}
	return reasons
}

type fetcher struct {
	Snapshot
	low, high float64   // CPU-seconds of all CPUs
	queued    float64   // likewise
	supply    float64   // of that, what can be counted on
	of        []float64 // queued of each project
	held      []int     // unfinished results of each project
	share     []float64 // fraction
	claim     []float64 // entitlement
	idle      float64   // CPUs with nothing to run
	room      float64   // up to the high-water mark
	fill      float64   // how far between the marks a project may fill in for others
}

func newFetcher(s Snapshot) *fetcher {
	n := len(s.Projects)
	f := &fetcher{
		Snapshot: s, of: make([]float64, n), held: make([]int, n),
		share: make([]float64, n), claim: make([]float64, n),
	}
	if f.OnFrac <= 0 || f.OnFrac > 1 {
		f.OnFrac = 1
	}
	cpus := float64(max(s.CPUs, 1)) * f.OnFrac
	f.low, f.high = s.Low.Seconds()*cpus, s.High.Seconds()*cpus
	used := 0.0
	for _, j := range s.Jobs {
		c := min(max(j.CPUs, 1), float64(max(s.CPUs, 1)))
		f.of[j.Project] += j.Remaining.Seconds() * c
		f.queued += j.Remaining.Seconds() * c
		f.held[j.Project]++
		if !s.Projects[j.Project].Unreachable {
			f.supply += j.Remaining.Seconds() * c
		}
		used += c
	}
	f.idle = max(0, float64(s.CPUs)-used)
	shares := 0.0
	for _, p := range s.Projects {
		if p.Counts {
			shares += p.Share
		}
	}
	f.room = f.high - f.queued
	f.fill = 0.5
	for i, p := range s.Projects {
		if p.Counts && shares > 0 {
			f.share[i] = p.Share / shares
		}
		f.claim[i] = max(-f.high, min(p.Debt, f.high)) + f.share[i]*f.high - f.of[i]
		if p.Counts && s.Now.Before(p.Backoff) && p.Debt > f.of[i]+p.JobTime.Seconds() {
			// It is owed and has no work now; when it has, perhaps not for long,
			// there must be room.
			f.fill = 1.0 / 8
		}
	}
	return f
}

// judge decides for one project as if it were the only one.
func (f *fetcher) judge(i int) Reason {
	p := f.Projects[i]
	if r, barred := p.barred(f.Snapshot); barred {
		return r
	}
	if p.Held >= MaxHeld {
		return Reason{Code: TooMany, Text: fmt.Sprintf(
			"This computer already has %d of its tasks, the most allowed for one project. More are requested once some are reported.", p.Held)}
	}
	if p.Stuck > 2*max(f.CPUs, 1) {
		return Reason{Code: Stuck, Text: fmt.Sprintf(
			"%d tasks of this project cannot start: they have been waiting for files for hours, need more memory than tasks may use (ram_max_used_busy_pct, ram_max_used_idle_pct), or asked to be started later. More work is requested once they can start or are aborted (starling task abort).", p.Stuck)}
	}
	if p.Overdrawn && p.Held > 0 {
		return Reason{Code: Overserved, Text: fmt.Sprintf("This project has received far more than its share: it owes %s.", span(-p.Debt))}
	}
	if p.Uploading && f.idle == 0 {
		return Reason{Code: UploadFirst, Text: "A result is being uploaded. The next request will report it."}
	}
	if f.held[i] == 0 && p.JobTime == 0 {
		// Nothing is known of its results yet.
		if f.room <= 0 && f.idle == 0 {
			return f.full()
		}
		return Reason{Code: Ask, Text: "Requesting a first task.", Seconds: firstRequest}
	}
	job := p.JobTime.Seconds()
	owed := f.claim[i] >= job/2
	// Work is fetched by the batch, or every hour of computing would cost an RPC.
	batch := min(max(job, (f.high-f.low)/3), (f.high-f.low)*2/3)
	starving := f.idle > 0 || f.supply < f.low && (f.room >= batch || f.supply < f.low/2)
	dry := f.of[i] < f.share[i]*f.low && f.room >= min(batch, f.claim[i])
	wanting := p.Debt-f.of[i] > job && f.room >= max(job, (f.high-f.low)/8)
	switch {
	case f.room <= 0 && f.idle == 0:
		return f.full()
	case !starving && !owed:
		return Reason{Code: Overserved, Text: fmt.Sprintf(
			"This project has enough work for its share: %s of CPU time queued, %s.", span(f.of[i]), balance(p.Debt))}
	}
	amount := f.claim[i] + job/2
	if starving && !owed {
		// Nobody who is owed more can be asked. It fills in.
		amount = f.low - f.supply + (f.high-f.low)*f.fill
	}
	amount = min(amount, f.room)
	if !p.Proved {
		limit := float64(f.CPUs-f.held[i]) * job
		if limit <= 0 {
			return Reason{Code: Unproved, Text: "Learning how long this project's tasks really take before fetching more."}
		}
		amount = min(amount, limit)
	}
	n := f.fits(i, amount)
	if n == 0 {
		return Reason{Code: Deadlines, Text: "More of its tasks could not be finished before their deadlines."}
	}
	if job > 0 {
		amount = min(amount, (float64(n)-0.5)*job)
	}
	amount = max(amount, firstRequest)
	r := Reason{
		Code: Ask, Text: fmt.Sprintf("Requesting %s of CPU time.", span(amount)),
		Instances: min(f.idle, float64(n)),
	}
	r.Seconds = amount / f.OnFrac
	if p.Correction > 0 {
		r.Seconds /= p.Correction
	}
	r.Seconds = min(r.Seconds, mostSeconds)
	r.Could = r.Seconds
	if !starving && !dry && !wanting {
		r.Code, r.Seconds, r.Instances = BufferFull, 0, 0
		r.Text = f.full().Text
	}
	return r
}

// mostSeconds bounds what is asked for, which knows no bound on a computer that was hardly
// ever on, by its clock. Servers take no more than 28 days for meant.
const mostSeconds = 365 * 86400

// before reports whether project a is asked before project b.
func (f *fetcher) before(a, b int) bool {
	if f.claim[a] != f.claim[b] {
		return f.claim[a] > f.claim[b]
	}
	return f.Projects[a].URL < f.Projects[b].URL
}

func (f *fetcher) full() Reason {
	return Reason{Code: BufferFull, Text: fmt.Sprintf(
		"Enough work is queued: %s of CPU time. More is fetched when less than %s is left (work_buf_min_days).", span(f.queued), span(f.low))}
}

// fits returns how many more results of a project, at most amount CPU-seconds of
// them, can be taken on without putting a deadline in danger.
func (f *fetcher) fits(i int, amount float64) int {
	p := f.Projects[i]
	if p.JobTime <= 0 || p.Latency <= 0 {
		return 1
	}
	extra := jobsched.Job{Project: i, Remaining: p.JobTime, Received: f.Now, Deadline: f.Now.Add(p.Latency)}
	most := min(int(amount/p.JobTime.Seconds())+1, MaxAtOnce)
	// Room for error: estimates are wrong, and more urgent work may come.
	n := jobsched.Fits(f.Now, f.CPUs, f.OnFrac, f.Jobs, extra, most, p.Latency/20)
	if n == 0 && f.idle > 0 && f.held[i] == 0 {
		return 1 // an idle CPU has nothing better to do
	}
	return n
}

// barred tells why a project cannot be asked, whatever is queued.
func (p Project) barred(s Snapshot) (Reason, bool) {
	switch {
	case p.Suspended:
		return Reason{Code: Suspended, Text: "You suspended the project."}, true
	case !p.Counts && p.NoWorkWhy != "":
		return Reason{Code: NoMoreWork, Text: p.NoWorkWhy}, true
	case !p.Counts:
		return Reason{Code: NoMoreWork, Text: "This project is set to fetch no more work."}, true
	case p.NoCPUApps:
		return Reason{Code: NoCPUApps, Text: "The project says it has no applications for this computer's CPU."}, true
	case p.Uploads > 2*max(s.CPUs, 1):
		return Reason{Code: TooManyUpload, Text: fmt.Sprintf("%s waiting for files to be uploaded.", words.Count(p.Uploads, "result"))}, true
	case p.Talking:
		return Reason{Code: Conversing, Text: "Waiting for the project's reply since " + words.Time(p.TalkingSince, s.Now) + "."}, true
	case s.Now.Before(p.MinRPCTime) && p.Trouble.Is() && !p.Asked:
		return Reason{
			Code: Code(p.Trouble.Code), Until: p.MinRPCTime, Cure: p.Trouble.Cure(p.URL),
			Text: p.Trouble.Cause() + " Next try " + words.When(p.MinRPCTime, s.Now) + ".",
		}, true
	case s.Now.Before(p.Backoff) && !p.Asked:
		until := p.Backoff
		if p.MinRPCTime.After(until) {
			until = p.MinRPCTime
		}
		if p.BackoffWhy == "" && p.Failed.Is() {
			return Reason{
				Code: TasksFail, Until: until, Cure: p.Failed.Cure(p.URL),
				Text: p.Failed.Failing(p.Failures) + " More work is requested " + words.When(until, s.Now) + ".",
			}, true
		}
		text := "The last request brought no work"
		if p.BackoffWhy != "" {
			text = strings.TrimSuffix(p.BackoffWhy, ".")
		}
		return Reason{Code: NoWorkBackoff, Until: until, Text: text + ". Trying again " + words.When(until, s.Now) + "."}, true
	}
	return Reason{}, false
}

// pause has a project wait that is to be asked for work but wants no contact yet. Whoever
// has no reason to ask anyway does not wait for that.
func (f *fetcher) pause(i int, r Reason) Reason {
	p := f.Projects[i]
	if r.Code != Ask || !f.Now.Before(p.MinRPCTime) || p.Asked {
		return r
	}
	r.Code, r.Until = RequestDelay, p.MinRPCTime
	r.Text = "More work will be requested " + words.When(p.MinRPCTime, f.Now) + ": the project asked for this pause between contacts."
	r.Seconds, r.Instances = 0, 0
	return r
}

// balance says what a project is owed, or owes, in CPU-seconds.
func balance(debt float64) string {
	if debt < 0 {
		return span(debt) + " ahead"
	}
	return span(debt) + " owed"
}

func span(seconds float64) string { return words.Span(time.Duration(seconds * float64(time.Second))) }
