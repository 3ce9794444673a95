package transitioner

import (
	"time"

	"github.com/starling-grid/starling/server/store"
)

// A Refusal is the reason why a workunit is not revived. The empty string means that it may be.
type Refusal string

// The reasons, in words for the operator.
const (
	NotGivenUp   Refusal = "it was not given up"
	Cancelled    Refusal = "it was cancelled: work cancel --undo takes that back"
	NotCancelled Refusal = "it was not cancelled"
	FilesGone    Refusal = "its files are deleted or about to be: create it again"
	Taken        Refusal = "its failure was already passed on to the project; --again retries it anyway"
)

// MayRetry returns whether a workunit may be revived. If again is set, its outcome may be handed to
// the project a second time.
func MayRetry(wu store.Workunit, again bool) Refusal {
	switch {
	case wu.ErrorMask == 0:
		return NotGivenUp
	case wu.ErrorMask&store.ErrorCancelled != 0:
		return Cancelled
	case wu.FileDeleteState != store.DeleteInit:
		return FilesGone
	case wu.AssimilateState != store.AssimilateInit && !again:
		return Taken
	}
	return ""
}

// MayUncancel returns whether the cancellation of a workunit may be taken back.
func MayUncancel(wu store.Workunit) Refusal {
	switch {
	case wu.ErrorMask&store.ErrorCancelled == 0:
		return NotCancelled
	case wu.FileDeleteState != store.DeleteInit:
		return FilesGone
	}
	return ""
}

// Uncancel revives a cancelled workunit, if MayUncancel allows it, for the operator's reason why.
// It continues as after Retry: results that computers have and were not ordered to abort still
// count. If the project was already told that the workunit was given up, it gets the outcome all
// the same.
func Uncancel(tx *store.Tx, id int64, now time.Time, why string) (Refusal, error) {
	j, err := tx.Job(id)
	if err != nil {
		return "", err
	}
	if no := MayUncancel(j.Workunit); no != "" {
		return no, nil
	}
	return "", revive(tx, j, now, why)
}

// Retry revives a workunit that was given up, if MayRetry allows it, for the operator's reason why.
// Earlier failures of its results do not count any more, and the transitioner makes new results.
// Successes that were not compared are compared, unless there were too many without agreement. Then
// everything starts over. If no result is left, the workunit is not committed to a kind of host.
func Retry(tx *store.Tx, id int64, again bool, now time.Time, why string) (Refusal, error) {
	j, err := tx.Job(id)
	if err != nil {
		return "", err
	}
	if no := MayRetry(j.Workunit, again); no != "" {
		return no, nil
	}
	return "", revive(tx, j, now, why)
}

func revive(tx *store.Tx, j store.Job, now time.Time, why string) error {
	old := j.Workunit
	tx.SetCause(now, "operator", why)
	anew := old.ErrorMask&store.ErrorTooManySuccesses != 0
	wu := old
	wu.ErrorMask, wu.AssimilateState, wu.TransitionTime = 0, store.AssimilateInit, now
	wu.Retries++
	kept := false
	for _, r := range j.Results {
		wu.RetriedResultID = max(wu.RetriedResultID, r.ID)
		x := r
		switch {
		case r.ServerState != store.Over, r.Outcome == store.NoReply, r.Outcome == store.ClientDetached:
			kept = true // or it may be reported after all
		case r.Outcome != store.Success:
		case anew && waits(r):
			x.ValidateState = store.NoCheck
		case !anew && r.FileDeleteState == store.DeleteInit && (waits(r) || r.ValidateState == store.NoCheck):
			x.ValidateState, kept = store.ValidateInit, true
			if r.ValidateState == store.Inconclusive {
				x.ValidateState = store.Inconclusive
			}
		}
		if x != r {
			if err := tx.SaveResult(r, x); err != nil {
				return err
			}
		}
	}
	if anew {
		wu.TargetNResults = wu.MinQuorum // it was raised for want of agreement
	}
	if !kept {
		wu.HRClass, wu.AppVersionID = 0, 0
	}
	return tx.SaveWorkunit(old, wu)
}

// waits reports whether a success has yet to be compared.
func waits(r store.Result) bool {
	return r.ValidateState == store.ValidateInit || r.ValidateState == store.Inconclusive
}
