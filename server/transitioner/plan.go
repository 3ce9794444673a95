// Package transitioner moves workunits through their life: it times results out, asks for
// validation, makes further results while they are needed, gives workunits up, and decides when
// files may be deleted.
//
// Decide computes the plan from one workunit, its results and the time. The rest of the package
// loads, applies and stores. The package does not compare results (the validator does) and does not
// touch files.
package transitioner

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

const (
	// safetyNet is the time between looks at a workunit that waits only for events. A lost event
	// costs that much time and no more.
	safetyNet = 10 * 24 * time.Hour

	minLate = time.Minute
	maxLate = 24 * time.Hour
)

// A Plan has the changes to be made to one workunit. Result fields have IDs.
type Plan struct {
	TimedOut     []int64 // in progress → over, no reply
	TooLate      []int64 // success that came after the canonical files were deleted
	DidntNeed    []int64 // unsent → over, as the workunit has its outcome
	NoCheck      []int64 // successes of a workunit that is given up
	DeleteOutput []int64 // output files may go

	NewResults      int // to create
	NeedValidate    bool
	ErrorMask       store.ErrorMask
	AssimilateReady bool
	DeleteInput     bool
	FreeSuccessors  bool   // there is an outcome for which other workunits wait
	Uncommit        bool   // forget homogeneous class and app version: only errors so far
	LastChance      bool   // one more failure gives the workunit up
	Lost            string // a file held only by computers not heard from for long, or ""
	TransitionTime  time.Time
}

// why returns the reason of a plan in a few words.
func (p Plan) why() string {
	var why []string
	say := func(is bool, what string) {
		if is {
			why = append(why, what)
		}
	}
	say(len(p.TimedOut) > 0, "the deadline has passed")
	say(len(p.DidntNeed) > 0 && p.ErrorMask == 0, "it has a canonical result")
	say(p.Lost != "", "no computer that has "+p.Lost+", which an earlier task made, has made a request for affinity_gone_days")
	say(p.ErrorMask != 0, strings.Join(p.ErrorMask.Reasons(), " and "))
	say(len(p.TooLate) > 0, "the canonical files are gone")
	say(p.NewResults > 0, "more results are needed")
	say(p.NeedValidate, "enough results to compare")
	say(len(p.DeleteOutput) > 0 || p.DeleteInput, "its files are no longer needed")
	return strings.Join(why, "; ")
}

// The workunit's limits, by the letters of BOINC's papers:
// N target_nresults, M min_quorum, A max_error_results, B max_total_results.
//
// Source: BOINC sched/transitioner.cpp, handle_wu. Different here: a workunit
// that has a canonical result is never given up afterwards, and when all is
// over the output files of results that failed validation or were never
// reported may go too.

// Decide returns the plan for a workunit at the time now. deleteDelay is the time that files are
// kept after the workunit was assimilated and its last result was reported or due. made is a file
// that a computer must have to compute its unsent results.
func Decide(wu store.Workunit, results []store.Result, now time.Time, deleteDelay time.Duration, made Made) Plan {
	d := decision{wu: wu, now: now, deleteDelay: deleteDelay, made: made}
	d.plan.NeedValidate, d.plan.ErrorMask, d.plan.LastChance = wu.NeedValidate, wu.ErrorMask, wu.LastChance
	d.results = append(d.results, results...) // moved below as planned
	d.timeOut()
	d.look()
	d.judge()
	if wu.CanonicalResultID != 0 || d.plan.ErrorMask != 0 {
		d.dropUnsent()
	}
	if d.plan.ErrorMask != 0 {
		d.giveUp()
	}
	d.plan.FreeSuccessors = wu.HasSuccessor && (wu.CanonicalResultID != 0 || d.plan.ErrorMask != 0)
	d.finish()
	d.plan.TransitionTime = d.next()
	return d.plan
}

type decision struct {
	wu          store.Workunit
	results     []store.Result
	now         time.Time
	deleteDelay time.Duration
	made        Made
	plan        Plan

	unsent, inProgress, success, errors, noReply, couldntSend, total int
	toValidate                                                       bool
	canonicalGone                                                    bool // its files are deleted, or will be
	filesLater                                                       bool // not before filesAt
	filesAt                                                          time.Time
}

func (d *decision) timeOut() {
	for i := range d.results {
		r := &d.results[i]
		if r.ServerState == store.InProgress && r.ReportDeadline.Before(d.now) {
			r.ServerState, r.Outcome = store.Over, store.NoReply
			d.plan.TimedOut = append(d.plan.TimedOut, r.ID)
		}
		if r.ID == d.wu.CanonicalResultID && d.wu.CanonicalResultID != 0 {
			d.canonicalGone = r.FileDeleteState != store.DeleteInit
		}
	}
}

// look counts the results and selects the ones for the validator.
func (d *decision) look() {
	for i := range d.results {
		r := &d.results[i]
		forgiven := r.ID <= d.wu.RetriedResultID                                                  // it came before the workunit was revived
		takenBack := r.ServerState == store.Over && r.Outcome == store.DidntNeed && r.HostID != 0 // with its app version
		if !forgiven && !takenBack {
			d.total++
		}
		switch r.ServerState {
		case store.Inactive, store.Unsent:
			d.unsent++
			continue
		case store.InProgress:
			d.inProgress++
			continue
		}
		switch r.Outcome {
		case store.Success:
			if d.unvalidated(r) {
				if d.canonicalGone {
					r.ValidateState = store.TooLate
					d.plan.TooLate = append(d.plan.TooLate, r.ID)
				} else {
					d.toValidate = true
				}
			}
			if r.ValidateState != store.Invalid && r.ValidateState != store.NoCheck {
				d.success++
			}
			continue
		case store.NoReply, store.ClientDetached:
			d.noReply++ // forgiven or not, it may be reported after all
			continue
		}
		if forgiven {
			continue
		}
		switch r.Outcome {
		case store.CouldntSend:
			d.couldntSend++
		case store.ValidateError:
			d.errors++
		case store.ClientError:
			if r.ExitStatus == protocol.ExitAbortedByUser {
				d.noReply++ // caused by the user, not by the workunit
			} else {
				d.errors++
			}
		}
	}
}

// unvalidated reports whether a success still has to be compared. This is so if it was never looked
// at. It is also so if it agreed with none while there was no canonical result yet, and could not
// be read when there was one.
func (d *decision) unvalidated(r *store.Result) bool {
	return r.ValidateState == store.ValidateInit ||
		r.ValidateState == store.Inconclusive && d.wu.CanonicalResultID != 0
}

// judge asks for validation, gives the workunit up or wants more results.
func (d *decision) judge() {
	switch {
	case d.canonicalGone:
		d.plan.NeedValidate = false // nothing is left to compare with
	case d.toValidate && (d.success >= d.wu.MinQuorum || d.wu.Suspicious):
		// A single result decides about a suspicious workunit, and the others are compared with it.
		d.plan.NeedValidate = true
	}
	if d.wu.CanonicalResultID != 0 || d.wu.ErrorMask != 0 {
		return // it has its outcome, which may have been assimilated
	}
	if d.unsent > 0 && d.made.lost(d.now) {
		d.plan.Lost = d.made.Name
	}
	if d.couldntSend > 0 || d.plan.Lost != "" {
		d.plan.ErrorMask |= store.ErrorCouldntSend
	}
	if d.errors > d.wu.MaxErrorResults {
		d.plan.ErrorMask |= store.ErrorTooManyErrors
	}
	if d.errors > 0 && d.success+d.inProgress+d.noReply == 0 {
		d.plan.Uncommit = d.wu.HRClass != 0 || d.wu.AppVersionID != 0
	}
	needed := max(0, d.wu.TargetNResults-d.unsent-d.inProgress-d.success)
	allowed := d.wu.MaxTotalResults - d.total
	if allowed < 0 || allowed == 0 && needed > 0 {
		d.plan.ErrorMask |= store.ErrorTooManyTotal
	}
	if d.plan.ErrorMask == 0 && d.wu.TransitionerFlags != 2 {
		d.plan.NewResults = min(needed, allowed)
	}
	if d.plan.ErrorMask == 0 {
		out := d.unsent + d.inProgress + d.plan.NewResults
		needsAll := d.success+out <= d.wu.TargetNResults // one that fails has to be replaced
		d.plan.LastChance = d.errors >= d.wu.MaxErrorResults || needsAll && allowed == d.plan.NewResults
	}
}

// dropUnsent ends results that need not be sent any more. If there is a canonical result, the
// validator has done so when it found it.
func (d *decision) dropUnsent() {
	for i := range d.results {
		r := &d.results[i]
		if r.ServerState == store.Unsent || r.ServerState == store.Inactive {
			r.ServerState, r.Outcome = store.Over, store.DidntNeed
			d.plan.DidntNeed = append(d.plan.DidntNeed, r.ID)
		}
	}
}

func (d *decision) giveUp() {
	d.plan.NeedValidate = false
	for i := range d.results {
		r := &d.results[i]
		if r.ServerState == store.Over && r.Outcome == store.Success &&
			(r.ValidateState == store.ValidateInit || r.ValidateState == store.Inconclusive) {
			r.ValidateState = store.NoCheck
			d.plan.NoCheck = append(d.plan.NoCheck, r.ID)
		}
	}
	d.plan.AssimilateReady = d.wu.AssimilateState == store.AssimilateInit
}

// finish decides what may be assimilated and deleted.
func (d *decision) finish() {
	over, validated := d.plan.NewResults == 0, true
	replied := true      // or it is too late for that
	last := d.wu.ModTime // when the project took its outcome
	for i := range d.results {
		r := &d.results[i]
		switch {
		case r.ServerState != store.Over:
			over = false
		case r.Outcome == store.Success && d.unvalidated(r):
			validated = false
		case r.Outcome == store.NoReply && r.ReportDeadline.After(d.now):
			replied = false
		}
		if r.ReceivedTime.After(last) {
			last = r.ReceivedTime
		}
		if r.Outcome == store.NoReply && r.ReportDeadline.After(last) {
			last = r.ReportDeadline // it may be late
		}
	}
	if d.wu.CanonicalResultID != 0 && d.wu.AssimilateState == store.AssimilateInit && over && validated {
		d.plan.AssimilateReady = true
	}
	if d.wu.AssimilateState != store.AssimilateDone {
		return
	}
	if at := last.Add(d.deleteDelay); d.deleteDelay > 0 && d.now.Before(at) {
		d.filesLater, d.filesAt = true, at
		return
	}
	all := over && validated && replied && !d.plan.NeedValidate
	d.plan.DeleteInput = all && d.wu.FileDeleteState == store.DeleteInit
	for i := range d.results {
		r := &d.results[i]
		if r.ServerState != store.Over || r.FileDeleteState != store.DeleteInit {
			continue
		}
		if d.mayDelete(r, all) {
			d.plan.DeleteOutput = append(d.plan.DeleteOutput, r.ID)
		}
	}
}

func (d *decision) mayDelete(r *store.Result, all bool) bool {
	if r.ID == d.wu.CanonicalResultID {
		return all // later results are compared with it
	}
	switch r.Outcome {
	case store.ClientError, store.ValidateError:
		return true
	case store.Success:
		return r.ValidateState != store.ValidateInit && r.ValidateState != store.Inconclusive
	case store.NoReply, store.ClientDetached:
		return all // perhaps uploaded, and not reported yet
	case store.DidntNeed:
		return all && r.HostID != 0 // perhaps uploaded before it was taken back
	}
	return false
}

// next returns the time of the next look. Events make a workunit due earlier.
func (d *decision) next() time.Time {
	at := store.Never
	if d.wu.CanonicalResultID == 0 && d.plan.ErrorMask == 0 {
		at = d.now.Add(max(safetyNet, d.wu.DelayBound*3/2))
		if (d.unsent > 0 || d.plan.NewResults > 0) && !d.made.Until.IsZero() && d.made.Until.Before(at) {
			at = d.made.Until
		}
	}
	for i := range d.results {
		r := &d.results[i]
		waits := r.ServerState == store.InProgress ||
			r.Outcome == store.NoReply && r.ReportDeadline.After(d.now) && d.wu.AssimilateState == store.AssimilateDone
		if waits && r.ReportDeadline.Before(at) {
			at = r.ReportDeadline.Add(time.Second) // a result is late after its deadline
		}
	}
	if d.filesLater && d.filesAt.Before(at) {
		at = d.filesAt
	}
	if !at.After(d.now) {
		// Far behind: look again, but leave time for other workunits.
		at = d.now.Add(min(max(2*d.now.Sub(at), minLate), maxLate))
	}
	// The database stores whole seconds. An earlier look would find that it is too early, again and again.
	if whole := at.Truncate(time.Second); whole.Before(at) {
		return whole.Add(time.Second)
	}
	return at
}
