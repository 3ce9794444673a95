package workfetch

import (
	"math"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
)

// A fetcher decides for one kind of processor. In its Snapshot, CPUs, OnFrac and Forecast are for that kind,
// Jobs are the jobs that compute on it, and each project's debt is in seconds of one such
// processor.
type fetcher struct {
	Snapshot
	kind      resource.Kind
	factor    float64   // CPU-seconds that a second of one counts for
	low, high float64   // seconds of all of them
	queued    float64   // likewise
	supply    float64   // the reliable part of queued
	of        []float64 // queued of each project
	held      []int     // unfinished results of each project
	share     []float64 // fraction
	claim     []float64 // entitlement
	idle      float64   // processors with nothing to run
	room      float64   // up to the high-water mark
	fill      float64   // how far between the marks a project may fill in for others
}

func newFetcher(s Snapshot, kind resource.Kind, factor float64) *fetcher {
	n := len(s.Projects)
	f := &fetcher{
		Snapshot: s, kind: kind, factor: factor, of: make([]float64, n), held: make([]int, n),
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
		if d := j.Devices(); d > 0 {
			c = min(d, float64(max(s.CPUs, 1)))
		}
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
		if p.competes() {
			shares += p.Share
		}
	}
	f.room = f.high - f.queued
	f.fill = 0.5
	for i, p := range s.Projects {
		if p.competes() && shares > 0 {
			f.share[i] = p.Share / shares
		}
		f.claim[i] = max(-f.high, min(p.Debt, f.high)) + f.share[i]*min(f.high, f.horizon(i, cpus)) - f.of[i]
		if p.Counts && s.Now.Before(p.Backoff) && p.Debt > f.of[i]+p.JobTime.Seconds()*p.uses() {
			// The project is owed time and has no work now. When it has some again, perhaps not for
			// long, there must be room.
			f.fill = 1.0 / 8
		}
	}
	return f
}

// horizon returns how much all processors, which compute like so many CPUs that are always on, do in
// the time for which a project may have work queued, in seconds of them: half of the time that its
// results have, if others compete. With more, the results would be in danger as soon as they are
// here, and the others would wait until all are finished.
func (f *fetcher) horizon(i int, cpus float64) float64 {
	p := f.Projects[i]
	if p.Latency <= p.JobTime || f.share[i] == 1 {
		return math.Inf(1) // unknown, or too short for even one, or it is alone
	}
	return p.Latency.Seconds() / 2 * cpus
}

// judge decides for one project as if it were the only one.
func (f *fetcher) judge(i int) Decision {
	r := because(f.barred(f.Projects[i]))
	switch r.Code {
	case "":
		return f.weigh(i)
	case reason.NoWorkBackoff:
		return f.along(i, r)
	}
	return r
}

// along adds to r, a reason to wait, the amount to request in a session that takes place anyway.
// The wait saves the server requests, and asking along causes no additional one.
//
// Source: BOINC client/work_fetch.cpp, WORK_FETCH::piggyback_work_request, RSC_REASON_BACKED_OFF.
func (f *fetcher) along(i int, r Decision) Decision {
	if of := f.weigh(i); of.Code == reason.Ask {
		r.Could, r.Instances, r.Along = of.Seconds, of.Instances, true
	}
	return r
}

// weigh decides for a project that may be asked, by the queued and the owed time.
func (f *fetcher) weigh(i int) Decision {
	p := f.Projects[i]
	if p.Held >= MaxHeld {
		return because(reason.Explanation{Code: reason.TooManyTasks, Text: words.T(
			"This computer already has {n} of its tasks, the most allowed for one project. More are requested once some are reported.", "n", p.Held)})
	}
	if p.Stuck > 2*max(f.CPUs, 1) {
		return because(reason.Explanation{
			Code: reason.Stuck, Text: words.T(
				"{n} tasks of this project cannot start: they have been waiting for files for hours, need a GPU that they may not use or more memory than tasks may use (ram_max_used_busy_pct, ram_max_used_idle_pct), or asked to be started later. More work is requested once they can start or are aborted.", "n", p.Stuck),
			Cure: words.T("See what each waits for with: starling why. To give one up: starling task abort TASK"),
		})
	}
	if p.Overdrawn && p.Held > 0 {
		return because(reason.Explanation{Code: reason.Overserved, Text: words.T("This project has received far more than its share: it owes {span}.", "span", span(-p.Debt*f.factor))})
	}
	if p.Uploading && f.idle == 0 {
		return because(f.explain(p, reason.UploadFirst))
	}
	if f.held[i] == 0 && p.JobTime == 0 {
		// Nothing is known of its results yet.
		if f.room <= 0 && f.idle == 0 {
			return because(f.full())
		}
		return ask(words.T("Requesting a first task."), firstRequest)
	}
	job := p.JobTime.Seconds() * p.uses() // seconds of processors
	owed := f.claim[i] >= job/2
	// Work is fetched by the batch, or every hour of computing would cost an RPC.
	batch := min(max(job, (f.high-f.low)/3), (f.high-f.low)*2/3)
	starving := f.idle > 0 || f.supply < f.low && (f.room >= batch || f.supply < f.low/2)
	dry := f.of[i] < f.share[i]*f.low && f.room >= min(batch, f.claim[i])
	wanting := p.Debt-f.of[i] > job && f.room >= max(job, (f.high-f.low)/8)
	switch {
	case f.room <= 0 && f.idle == 0:
		return because(f.full())
	case !starving && !owed && p.Share == 0:
		return because(reason.Explanation{Code: reason.Overserved, Text: words.T(noShare), Cure: words.T(moreShare)})
	case !starving && !owed:
		return because(reason.Explanation{
			Code: reason.Overserved, Text: words.T("This project has enough work for its share: {queued} of {kind} time queued, {balance}.",
				"queued", span(f.of[i]), "kind", f.kind, "balance", balance(p.Debt*f.factor)),
			Cure: words.T(moreShare),
		})
	}
	amount := f.claim[i] + job/2
	if starving && !owed {
		// All projects that are owed more cannot be asked, so this one fills in.
		amount = f.low - f.supply + (f.high-f.low)*f.fill
	}
	// A task that takes longer than the buffer, as an overdue one may, leaves no room in the sum of
	// all processors, even if the others are idle.
	amount = max(min(amount, f.room), f.idle*job)
	if !p.Proved {
		limit := float64(f.CPUs-f.held[i]) * job
		if limit <= 0 {
			return because(f.unproved(i, job))
		}
		amount = min(amount, limit)
	}
	n := f.fits(i, amount)
	if n == 0 {
		return because(f.late(p))
	}
	if job > 0 {
		amount = min(amount, (float64(n)-0.5)*job)
	}
	amount = max(amount, firstRequest)
	r := ask(words.T("Requesting {span} of {kind} time.", "span", span(amount), "kind", f.kind), amount/f.OnFrac)
	r.Instances = min(f.idle, float64(n))
	if p.Correction > 0 {
		r.Seconds /= p.Correction
	}
	r.Seconds = min(r.Seconds, mostSeconds)
	r.Could = r.Seconds
	if !starving && !dry && !wanting {
		r.Code, r.Seconds, r.Instances = reason.BufferFull, 0, 0
		r.Text = f.full().Text
	}
	return r
}

// unproved returns the reason for which no more work of a project is fetched before its first task
// has shown its computing time: that this takes time, or why it is not possible.
func (f *fetcher) unproved(i int, job float64) reason.Explanation {
	p := f.Projects[i]
	switch w := p.Waits; {
	case f.fits(i, job) == 0:
		return f.late(p)
	case w.Code != "":
		return reason.Explanation{Code: reason.FirstWaits, Text: words.And(words.T("Its task {task} has to run before more is fetched.", "task", p.WaitsID), w.Text), Cure: w.Cure, Until: w.Until}
	}
	return f.explain(p, reason.Unproved)
}

// noShare is the reason for which a project with a share of 0 gets no work: it gets only the time
// that others leave.
const (
	noShare   = "Its resource_share is 0, so it gets work only when no other project has any."
	moreShare = "To prefer the project, give it a larger resource_share in its account file."
)

// mostSeconds is the maximum amount to request. Without it the amount would be unlimited on a
// computer that was hardly ever on, according to its clock. Servers do not accept more than 28
// days.
const mostSeconds = 365 * 86400

func (f *fetcher) full() reason.Explanation {
	return reason.Explanation{
		Code: reason.BufferFull, Text: words.T("Enough work is queued: {queued} of {kind} time. More is fetched when less than {least} is left (work_buf_min_days).",
			"queued", span(f.queued), "kind", f.kind, "least", span(f.low)),
		Cure: words.T("If tasks run out while a project is away, set work_buf_min_days and work_buf_additional_days higher."),
	}
}

// fits returns how many more results of a project, at most amount CPU-seconds of
// them, can be taken on without putting a deadline in danger.
func (f *fetcher) fits(i int, amount float64) int {
	p := f.Projects[i]
	if p.JobTime <= 0 || p.Latency <= 0 {
		return 1
	}
	extra := jobsched.Job{Project: i, Remaining: p.JobTime, Received: f.Now, Deadline: f.Now.Add(p.Latency)}
	if f.kind != resource.CPU {
		extra.Coproc = &resource.Coproc{Kind: f.kind, Count: p.Devices}
	}
	most := min(int(amount/(p.JobTime.Seconds()*p.uses()))+1, MaxAtOnce)
	// Room for error: estimates are wrong, and more urgent work may come.
	on := jobsched.Processors{Kind: f.kind, Now: f.Now, Count: f.CPUs, OnFrac: f.OnFrac, Habit: f.Habit, Forecast: f.Forecast}
	n := on.Fits(f.Jobs, extra, most, p.Latency/20)
	if n == 0 && f.idle > 0 && f.held[i] == 0 && !on.InVain(extra) {
		return 1 // better than an idle CPU
	}
	return n
}

// late returns the reason why no more work is fetched: new tasks would miss their deadlines.
func (f *fetcher) late(p Project) reason.Explanation {
	r := reason.Explanation{Code: reason.Deadlines, Text: words.T("More of its tasks could not be finished before their deadlines.")}
	clock, known := jobsched.NewClock(f.Now, f.Habit, f.OnFrac, f.Forecast)
	if !known {
		return r
	}
	if on := clock.Within(p.Latency); on < p.JobTime {
		text, cure := "Its tasks compute for about {needs} and are due after {latency}, in which this computer usually computes for {on}.",
			"leave the computer on for longer, or allow computing at more hours."
		if len(f.Forecast.Closed) > 0 {
			text, cure = "Its tasks compute for about {needs} and are due after {latency}, in which this computer will probably compute for {on}, by the forecast of [[power]] in starling.toml.",
				"wait for the forecast to change, or allow computing at more hours."
		}
		r.Text = words.T(text, "needs", span(p.JobTime.Seconds()), "latency", span(p.Latency.Seconds()), "on", span(on.Seconds()))
		r.Cure = words.T(cure)
	}
	return r
}

// uses returns the number of processors of its kind that one of the results uses.
func (s Stream) uses() float64 {
	if s.Devices > 0 {
		return s.Devices
	}
	return 1
}

// barred returns why a project cannot be asked for work of this kind, no matter how much is queued.
// Its code is "" if it can be asked.
func (f *fetcher) barred(p Project) reason.Explanation {
	switch {
	case p.NoApps && f.kind == resource.CPU:
		return f.explain(p, reason.NoCPUApps)
	case p.NoApps:
		return f.explain(p, reason.NoGPUApps)
	case p.Excluded:
		return f.explain(p, reason.GPUExcluded)
	case f.Now.Before(p.Backoff) && !p.Asked:
		until, paused := p.Backoff, p.MinRPCTime.After(p.Backoff)
		if paused {
			until = p.MinRPCTime
		}
		if p.BackoffWhy == "" && p.Failed.Is() {
			return reason.Explanation{
				Code: reason.TasksFail, Until: until, Cure: p.Failed.Cure(p.URL),
				Text: words.And(p.Failed.Failing(p.Failures), words.T("More work is requested {when}.", "when", words.When(until, f.Now))),
			}
		}
		if p.Woken {
			return reason.Explanation{}
		}
		if paused {
			return f.requestDelay(p)
		}
		text := words.T("The last request brought no work.")
		if p.BackoffWhy != "" {
			text = words.T("{sentence}.", "sentence", words.Plain(p.BackoffWhy))
		}
		reasons, cure := refused(p.Refused, f.Now)
		if reasons.Is() {
			text = words.And(words.T("The last request brought no work."), reasons)
		}
		if enough := f.enough(p.Stream); enough.Is() {
			cure = enough
		}
		if !cure.Is() {
			cure = words.T("To keep the computer busy, attach to another project: starling attach. To ask this one now: starling update {url}", "url", p.URL)
		}
		return reason.Explanation{Code: reason.NoWorkBackoff, Until: until, Cure: cure, Text: words.And(text, words.T("Trying again {when}.", "when", words.When(until, f.Now)))}
	}
	return reason.Explanation{}
}

// explain returns a reason about a project with a fixed sentence.
func (f *fetcher) explain(p Project, code reason.Code) reason.Explanation {
	return reason.Reason{Code: code, Kind: f.kind.String()}.Explain(p.URL, f.Now)
}

// pause makes a project wait that is to be asked for work but wants no contact yet. If there is no
// reason to ask the project, its own reason r stays.
func (f *fetcher) pause(i int, r Decision) Decision {
	p := f.Projects[i]
	if r.Code != reason.Ask || !p.pauses(f.Now) {
		return r
	}
	r.Explanation = f.requestDelay(p)
	r.Seconds, r.Instances = 0, 0
	return r
}

// pauses reports whether the project wants no contact yet.
func (p Project) pauses(now time.Time) bool { return now.Before(p.MinRPCTime) && !p.Asked }

// requestDelay returns the reason of a project that waits because it asked for a pause.
func (f *fetcher) requestDelay(p Project) reason.Explanation {
	return reason.Explanation{
		Code: reason.RequestDelay, Until: p.MinRPCTime, Cure: words.T("To contact it all the same: starling update {url}", "url", p.URL),
		Text: words.T("More work will be requested {when}: the project asked for this pause between contacts.", "when", words.When(p.MinRPCTime, f.Now)),
	}
}

// balance describes the time that a project is owed, or owes, in CPU-seconds.
func balance(debt float64) words.Text {
	if debt < 0 {
		return words.T("{span} ahead", "span", span(debt))
	}
	return words.T("{span} owed", "span", span(debt))
}

func span(seconds float64) string { return words.Span(time.Duration(seconds * float64(time.Second))) }
