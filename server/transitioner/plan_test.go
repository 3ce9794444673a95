package transitioner_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
)

var (
	now  = time.Unix(1_800_000_000, 0)
	far  = now.Add(10 * 24 * time.Hour) // the safety net
	late = now.Add(-time.Hour)
	due  = now.Add(time.Hour)
)

// Results of each kind. IDs are given by position, from 1.
var (
	unsent       = store.Result{ServerState: store.Unsent}
	inProgress   = store.Result{ServerState: store.InProgress, ReportDeadline: due}
	overdue      = store.Result{ServerState: store.InProgress, ReportDeadline: late}
	fresh        = store.Result{ServerState: store.Over, Outcome: store.Success, ReceivedTime: late}
	valid        = with(fresh, func(r *store.Result) { r.ValidateState = store.Valid })
	invalid      = with(fresh, func(r *store.Result) { r.ValidateState = store.Invalid })
	inconclusive = with(fresh, func(r *store.Result) { r.ValidateState = store.Inconclusive })
	failed       = store.Result{ServerState: store.Over, Outcome: store.ClientError, ExitStatus: 1}
	aborted      = store.Result{ServerState: store.Over, Outcome: store.ClientError, ExitStatus: protocol.ExitAbortedByUser}
	noReply      = store.Result{ServerState: store.Over, Outcome: store.NoReply, ReportDeadline: late}
	detached     = store.Result{ServerState: store.Over, Outcome: store.ClientDetached, ReportDeadline: due}
	broken       = store.Result{ServerState: store.Over, Outcome: store.ValidateError, ValidateState: store.Invalid}
	takenBack    = store.Result{ServerState: store.Over, Outcome: store.DidntNeed, HostID: 7}
	couldntSend  = store.Result{ServerState: store.Over, Outcome: store.CouldntSend}
)

func with(r store.Result, change func(*store.Result)) store.Result {
	change(&r)
	return r
}

func deleted(r store.Result) store.Result {
	return with(r, func(r *store.Result) { r.FileDeleteState = store.DeleteDone })
}

func workunit(change func(*store.Workunit)) store.Workunit {
	wu := store.Workunit{
		Name: "wu", MinQuorum: 2, TargetNResults: 2, MaxErrorResults: 2, MaxTotalResults: 5, MaxSuccessResults: 4,
		DelayBound: time.Hour, TransitionTime: now,
	}
	if change != nil {
		change(&wu)
	}
	return wu
}

func canonical(state store.AssimilateState) func(*store.Workunit) {
	return func(w *store.Workunit) { w.CanonicalResultID, w.AssimilateState = 1, state }
}

func TestDecide(t *testing.T) {
	type plan = transitioner.Plan
	for _, tt := range []struct {
		name    string
		wu      func(*store.Workunit)
		results []store.Result
		want    plan
	}{
		{"a new workunit gets its results", nil, nil, plan{NewResults: 2, TransitionTime: far}},
		{
			"one more error is one too many", nil,
			[]store.Result{failed, failed, inProgress},
			plan{NewResults: 1, LastChance: true, TransitionTime: due.Add(time.Second)},
		},
		{
			"results that are out are waited for", nil,
			[]store.Result{unsent, inProgress},
			plan{TransitionTime: due.Add(time.Second)},
		},
		{
			"a result past its deadline is given up and replaced", nil,
			[]store.Result{overdue, inProgress},
			plan{TimedOut: []int64{1}, NewResults: 1, TransitionTime: due.Add(time.Second)},
		},
		{
			"a result is not late at its deadline", nil,
			[]store.Result{with(inProgress, func(r *store.Result) { r.ReportDeadline = now }), inProgress},
			plan{TransitionTime: now.Add(time.Second)},
		},
		{
			"one success of a quorum of two is not enough to compare", nil,
			[]store.Result{fresh, inProgress},
			plan{TransitionTime: due.Add(time.Second)},
		},
		{"a quorum is sent to validation", nil, []store.Result{fresh, fresh}, plan{NeedValidate: true, TransitionTime: far}},
		{
			"one result is enough to decide about a suspicious workunit", func(w *store.Workunit) { w.Suspicious = true },
			[]store.Result{broken, inProgress, fresh},
			plan{NeedValidate: true, TransitionTime: due.Add(time.Second)},
		},
		{
			"and the others are compared with it", func(w *store.Workunit) { w.Suspicious, w.CanonicalResultID, w.MinQuorum = true, 1, 3 },
			[]store.Result{valid, inconclusive},
			plan{NeedValidate: true, TransitionTime: store.Never},
		},
		{
			"successes without agreement count as results", nil,
			[]store.Result{inconclusive, inconclusive},
			plan{TransitionTime: far},
		},
		{
			"the raised target is filled", func(w *store.Workunit) { w.TargetNResults = 3 },
			[]store.Result{inconclusive, inconclusive},
			plan{NewResults: 1, TransitionTime: far},
		},
		{"an error is replaced", nil, []store.Result{failed, fresh}, plan{NewResults: 1, TransitionTime: far}},
		{
			"too many errors end the workunit", nil,
			[]store.Result{failed, failed, broken, fresh, unsent},
			plan{ErrorMask: store.ErrorTooManyErrors, NoCheck: []int64{4}, DidntNeed: []int64{5}, AssimilateReady: true, TransitionTime: store.Never},
		},
		{
			"what users abort is no error of the workunit", nil,
			[]store.Result{aborted, aborted, aborted, noReply, detached},
			plan{ErrorMask: store.ErrorTooManyTotal, AssimilateReady: true, TransitionTime: store.Never},
		},
		{
			"no more results than allowed are made", func(w *store.Workunit) { w.MaxTotalResults = 3 },
			[]store.Result{noReply, noReply},
			plan{LastChance: true, NewResults: 1, TransitionTime: far},
		},
		{
			"at the limit with what is out still hoped for", nil,
			[]store.Result{noReply, noReply, noReply, inProgress, inProgress},
			plan{LastChance: true, TransitionTime: due.Add(time.Second)},
		},
		{
			"a result that could not be sent ends the workunit", nil,
			[]store.Result{couldntSend, inProgress},
			plan{ErrorMask: store.ErrorCouldntSend, AssimilateReady: true, TransitionTime: due.Add(time.Second)},
		},
		{
			"a cancelled workunit drops what is unsent", func(w *store.Workunit) { w.ErrorMask = store.ErrorCancelled },
			[]store.Result{unsent, inProgress},
			plan{ErrorMask: store.ErrorCancelled, DidntNeed: []int64{1}, AssimilateReady: true, TransitionTime: due.Add(time.Second)},
		},
		{
			"a workunit that is given up needs no validation",
			func(w *store.Workunit) { w.ErrorMask, w.NeedValidate = store.ErrorCancelled, true },
			[]store.Result{fresh, inconclusive},
			plan{ErrorMask: store.ErrorCancelled, NoCheck: []int64{1, 2}, AssimilateReady: true, TransitionTime: store.Never},
		},
		{
			"no new results when told so", func(w *store.Workunit) { w.TransitionerFlags = 2 }, nil,
			plan{TransitionTime: far},
		},
		{
			"errors only set the homogeneous class free",
			func(w *store.Workunit) { w.HRClass = 7 },
			[]store.Result{failed},
			plan{NewResults: 2, Uncommit: true, TransitionTime: far},
		},
		{
			"what came before it was revived is no failure any more",
			func(w *store.Workunit) { w.Retries, w.RetriedResultID, w.HRClass = 1, 6, 7 },
			[]store.Result{couldntSend, failed, failed, failed, broken, overdue, inProgress},
			plan{TimedOut: []int64{6}, NewResults: 1, TransitionTime: due.Add(time.Second)},
		},
		{
			"a result that was overdue before it was revived may be reported, and binds the class",
			func(w *store.Workunit) { w.Retries, w.RetriedResultID, w.HRClass = 1, 1, 7 },
			[]store.Result{noReply, failed},
			plan{NewResults: 2, TransitionTime: far},
		},
		{
			"a revived success counts, and one that nobody will compare does not",
			func(w *store.Workunit) { w.Retries, w.RetriedResultID = 1, 2 },
			[]store.Result{fresh, with(fresh, func(r *store.Result) { r.ValidateState = store.NoCheck })},
			plan{NewResults: 1, TransitionTime: far},
		},
		{
			"failures after it was revived count",
			func(w *store.Workunit) { w.Retries, w.RetriedResultID = 1, 1 },
			[]store.Result{failed, failed, failed, failed},
			plan{ErrorMask: store.ErrorTooManyErrors, AssimilateReady: true, TransitionTime: store.Never},
		},
		{
			"with a canonical result nothing more is made and nothing given up", canonical(store.AssimilateReady),
			[]store.Result{valid, failed, failed, failed, failed},
			plan{TransitionTime: store.Never},
		},
		{
			"a late success is compared with the canonical result", canonical(store.AssimilateDone),
			[]store.Result{valid, valid, fresh},
			plan{NeedValidate: true, DeleteOutput: []int64{2}, TransitionTime: store.Never},
		},
		{
			"a success that agreed with none is compared with a canonical result found without it", canonical(store.AssimilateDone),
			[]store.Result{valid, valid, inconclusive},
			plan{NeedValidate: true, DeleteOutput: []int64{2}, TransitionTime: store.Never},
		},
		{
			"a success after the canonical files are gone is too late",
			func(w *store.Workunit) { canonical(store.AssimilateDone)(w); w.FileDeleteState = store.DeleteDone },
			[]store.Result{deleted(valid), deleted(valid), fresh},
			plan{TooLate: []int64{3}, DeleteOutput: []int64{3}, TransitionTime: store.Never},
		},
		{
			"what is unsent beside a canonical result is dropped", canonical(store.AssimilateReady),
			[]store.Result{valid, unsent, with(unsent, func(r *store.Result) { r.ServerState = store.Inactive })},
			plan{DidntNeed: []int64{2, 3}, TransitionTime: store.Never},
		},
		{
			"deferred assimilation waits for all results", canonical(store.AssimilateInit),
			[]store.Result{valid, valid, inProgress},
			plan{TransitionTime: due.Add(time.Second)},
		},
		{
			"deferred assimilation goes on when all are over", canonical(store.AssimilateInit),
			[]store.Result{valid, valid},
			plan{AssimilateReady: true, TransitionTime: store.Never},
		},
		{
			"all files go when all is over", canonical(store.AssimilateDone),
			[]store.Result{valid, invalid, failed, noReply, broken, detached},
			plan{DeleteInput: true, DeleteOutput: []int64{1, 2, 3, 4, 5, 6}, TransitionTime: store.Never},
		},
		{
			"what was taken back from a computer may have been uploaded before", canonical(store.AssimilateDone),
			[]store.Result{valid, takenBack, with(takenBack, func(r *store.Result) { r.HostID = 0 })},
			plan{DeleteInput: true, DeleteOutput: []int64{1, 2}, TransitionTime: store.Never},
		},
		{
			"what was taken back is no failure, and another is made", func(w *store.Workunit) { w.MinQuorum, w.TargetNResults, w.MaxErrorResults = 1, 1, 0 },
			[]store.Result{takenBack},
			plan{NewResults: 1, LastChance: true, TransitionTime: far},
		},
		{
			"the canonical files stay while a result is out", canonical(store.AssimilateDone),
			[]store.Result{valid, valid, failed, inProgress},
			plan{DeleteOutput: []int64{2, 3}, TransitionTime: due.Add(time.Second)},
		},
		{
			"a result given up before its deadline may still come", canonical(store.AssimilateDone),
			[]store.Result{valid, valid, with(noReply, func(r *store.Result) { r.ReportDeadline = due })},
			plan{DeleteOutput: []int64{2}, TransitionTime: due.Add(time.Second)},
		},
		{
			"files of a workunit that was given up go too",
			func(w *store.Workunit) {
				w.ErrorMask, w.AssimilateState = store.ErrorTooManyErrors, store.AssimilateDone
			},
			[]store.Result{failed, failed, failed},
			plan{ErrorMask: store.ErrorTooManyErrors, DeleteInput: true, DeleteOutput: []int64{1, 2, 3}, TransitionTime: store.Never},
		},
		{
			"nothing is deleted before assimilation", canonical(store.AssimilateReady),
			[]store.Result{valid, valid},
			plan{TransitionTime: store.Never},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wu := workunit(tt.wu)
			rs := append([]store.Result{}, tt.results...)
			for i := range rs {
				rs[i].ID = int64(i + 1)
			}
			if got := transitioner.Decide(wu, rs, now, 0, transitioner.Made{}); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestFilesStayForTheDelay(t *testing.T) {
	wu := workunit(canonical(store.AssimilateDone))
	rs := []store.Result{valid, valid}
	rs[0].ID, rs[1].ID = 1, 2
	got := transitioner.Decide(wu, rs, now, 3*time.Hour, transitioner.Made{})
	if want := (transitioner.Plan{TransitionTime: late.Add(3 * time.Hour)}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := transitioner.Decide(wu, rs, late.Add(3*time.Hour), 3*time.Hour, transitioner.Made{}); !got.DeleteInput {
		t.Errorf("after the delay: got %+v", got)
	}
	if got := transitioner.Decide(wu, rs, now, 3*time.Hour-time.Nanosecond, transitioner.Made{}); !got.TransitionTime.Equal(late.Add(3 * time.Hour)) {
		t.Errorf("a delay of hours that are not whole seconds: got %+v", got)
	}
	// The delay starts at the latest of these: the last result, the deadline of one that may be
	// late, and the assimilation.
	rs = append(rs, with(noReply, func(r *store.Result) { r.ID, r.ReportDeadline = 3, late.Add(10*time.Minute) }))
	for _, delayed := range []time.Duration{10 * time.Minute, 20 * time.Minute} {
		if got := transitioner.Decide(wu, rs, now, 3*time.Hour, transitioner.Made{}); !got.TransitionTime.Equal(late.Add(delayed + 3*time.Hour)) {
			t.Errorf("got %v, want %v later", got.TransitionTime, delayed)
		}
		wu.ModTime = late.Add(20 * time.Minute)
	}
}

// Whatever the state, a plan looks ahead, keeps to the limits, and gives up or
// makes results but not both.
func TestPlansAreSound(t *testing.T) {
	kinds := []store.Result{
		unsent, inProgress, overdue, fresh, valid, invalid, inconclusive, failed, aborted, noReply, detached, broken,
		couldntSend, deleted(valid),
	}
	rapid.Check(t, func(t *rapid.T) {
		wu := workunit(func(w *store.Workunit) {
			w.MinQuorum = rapid.IntRange(1, 4).Draw(t, "quorum")
			w.TargetNResults = w.MinQuorum + rapid.IntRange(0, 3).Draw(t, "extra")
			w.MaxTotalResults = w.TargetNResults + rapid.IntRange(0, 5).Draw(t, "spare")
			w.ErrorMask = store.ErrorMask(rapid.SampledFrom([]int64{0, 0, 16, 4}).Draw(t, "mask"))
			w.AssimilateState = store.AssimilateState(rapid.Int64Range(0, 2).Draw(t, "assimilate"))
			w.NeedValidate = rapid.Bool().Draw(t, "validate")
		})
		var rs []store.Result
		for i, k := range rapid.SliceOfN(rapid.IntRange(0, len(kinds)-1), 0, 8).Draw(t, "results") {
			r := kinds[k]
			r.ID = int64(i + 1)
			rs = append(rs, r)
			if r.ValidateState == store.Valid && wu.ErrorMask == 0 {
				wu.CanonicalResultID = r.ID
			}
		}
		p := transitioner.Decide(wu, rs, now, 0, transitioner.Made{})
		if !p.TransitionTime.After(now) {
			t.Fatalf("looks again at %v: it would spin", p.TransitionTime)
		}
		if p.NewResults > 0 && (p.ErrorMask != 0 || wu.CanonicalResultID != 0) {
			t.Fatal("makes results that nobody needs")
		}
		if p.NewResults < 0 || p.NewResults > 0 && len(rs)+p.NewResults > wu.MaxTotalResults {
			t.Fatalf("makes %d results, having %d of %d", p.NewResults, len(rs), wu.MaxTotalResults)
		}
		if wu.AssimilateState != store.AssimilateDone && (p.DeleteInput || len(p.DeleteOutput) > 0) {
			t.Fatal("deletes files of a workunit that is not assimilated")
		}
		if p.AssimilateReady && wu.AssimilateState != store.AssimilateInit {
			t.Fatal("assimilates twice")
		}
	})
}

// A workunit is on its last chance if and only if it is given up as soon as one more of
// its results fails.
func TestOneMoreFailureEndsTheLastChance(t *testing.T) {
	kinds := []store.Result{unsent, inProgress, overdue, fresh, invalid, inconclusive, failed, aborted, noReply, detached, broken}
	fail := func(r *store.Result) { r.ServerState, r.Outcome = store.Over, store.ClientError }
	rapid.Check(t, func(t *rapid.T) {
		wu := workunit(func(w *store.Workunit) {
			w.MinQuorum = rapid.IntRange(1, 4).Draw(t, "quorum")
			w.TargetNResults = w.MinQuorum + rapid.IntRange(0, 3).Draw(t, "extra")
			w.MaxTotalResults = w.TargetNResults + rapid.IntRange(0, 5).Draw(t, "spare")
			w.MaxErrorResults = rapid.IntRange(0, 4).Draw(t, "errors")
		})
		var rs []store.Result
		for i, k := range rapid.SliceOfN(rapid.IntRange(0, len(kinds)-1), 0, 8).Draw(t, "results") {
			rs = append(rs, with(kinds[k], func(r *store.Result) { r.ID = int64(i + 1) }))
		}
		wu.RetriedResultID = min(rapid.Int64Range(0, 2).Draw(t, "forgiven"), int64(len(rs)))
		p := transitioner.Decide(wu, rs, now, 0, transitioner.Made{})
		if p.ErrorMask != 0 {
			return
		}
		for range p.NewResults {
			rs = append(rs, with(unsent, func(r *store.Result) { r.ID = int64(len(rs) + 1) }))
		}
		for i, r := range rs {
			out := r.ServerState == store.Unsent || r.ServerState == store.InProgress && !r.ReportDeadline.Before(now)
			if !out || r.ID <= wu.RetriedResultID {
				continue
			}
			then := append([]store.Result{}, rs...)
			fail(&then[i])
			if got := transitioner.Decide(wu, then, now, 0, transitioner.Made{}).ErrorMask != 0; got != p.LastChance {
				t.Fatalf("last chance: %v; given up after result %d fails: %v", p.LastChance, r.ID, got)
			}
		}
	})
}
