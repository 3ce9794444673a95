package scheduler

import (
	"slices"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// resendLost sends again the results that are on record as sent to this host but that the host does
// not have, because the reply was lost or the client dropped the result. It returns the number of
// results sent. A host that gets some of these gets no new work in the same reply.
//
// A lost result that is no longer of use, or that was lost for too long, gets a deadline in the past, so that the
// transitioner ends it.
func (r *rpc) resendLost() (int, error) {
	if !r.resends() {
		return 0, nil
	}
	have := make(map[string]bool, len(r.req.OtherResults)+len(r.req.Results))
	for _, o := range r.req.OtherResults {
		have[o.Name] = true
	}
	results, err := r.tx.InProgressOf(r.host.ID)
	if err != nil {
		return 0, err
	}
	results = slices.DeleteFunc(results, func(x store.Result) bool { return have[x.Name] || r.moved(x.ID) })
	ids := make([]int64, len(results))
	for i, x := range results {
		ids[i] = x.WorkunitID
	}
	workunits, err := r.tx.Workunits(ids)
	if err != nil {
		return 0, err
	}
	n := 0
	var list []store.ResultChange
	for _, old := range results {
		wu, x := workunits[old.WorkunitID], old
		v := r.ability().CanRun(old.AppVersionID)
		if v == nil && !r.catalog.Apps[old.AppID].HomogeneousAppVersion {
			v = r.ability().Version(old.AppID)
		}
		if v != nil && v.ID != old.AppVersionID && (v.ID < 0 || old.AppVersionID < 0) {
			v = nil // the record, which is not changed, shows whose program computes it
		}
		due := resendDeadline(old, wu.DelayBound, r.now)
		if v == nil || wu.ErrorMask != 0 || wu.CanonicalResultID != 0 || !due.After(r.now) {
			x.ReportDeadline = r.now.Add(-time.Second)
		} else {
			x.ReportDeadline = due
			if err := r.add(wu.Name, wu.XMLDoc, x, v); err != nil {
				r.s.Log.Error("result cannot be sent again", "result", x.Name, "err", err)
				continue
			}
			r.s.Log.Info("result sent again", "result", x.Name, "hostid", r.host.ID)
			n++
		}
		list = append(list, store.ResultChange{Old: old, Now: x})
		r.transitionBy(wu.ID, x.ReportDeadline)
	}
	if len(list) > 0 {
		r.moves = append(r.moves, moves{"the host does not have it", list})
	}
	return n, nil
}

// resends reports whether results have to be sent again. Clients before 6 do not list their results.
func (r *rpc) resends() bool {
	return r.look.lost && r.s.Config.ResendLostResults && r.req.Client.Major >= 6
}

// resendDeadline leaves the host half of the original time at least, until twice the delay bound after the result was
// sent. A host that loses it again and again would keep it from others for ever.
//
// Source: BOINC sched/sched_resend.cpp. The limit is ours.
func resendDeadline(old store.Result, bound time.Duration, now time.Time) time.Time {
	at := now.Add(old.ReportDeadline.Sub(old.SentTime) / 2)
	if old.ReportDeadline.After(at) {
		at = old.ReportDeadline
	}
	for _, last := range []time.Time{now.Add(bound), old.SentTime.Add(2 * bound)} {
		if at.After(last) {
			at = last
		}
	}
	return at
}
