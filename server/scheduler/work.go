package scheduler

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

const (
	// maxAsked bounds the seconds that a host may ask for at once, as in BOINC.
	maxAsked = 28 * 86400
	// unmeasured is the speed BOINC's clients tell before they have measured.
	unmeasured = 1e9
)

// work gives the host results to compute, if it asks and may have them; if it
// gets none, the reply says why.
func (r *rpc) work() error {
	if !r.catalog.supports(r.platforms()) && len(r.catalog.versions) > 0 {
		r.deny(protocol.Refusal{Code: protocol.RefusedPlatform}, protocol.PriorityNotice,
			`_("This project doesn't support computers of type") `+r.req.Platform)
		r.reply.RequestDelay = delayUnsupported
		return nil
	}
	r.noGPUs()
	if !r.req.WantsWork() {
		return nil
	}
	if !r.keys() {
		return nil
	}
	if wait := r.tooRecent(); wait > 0 {
		least := r.s.Config.MinSendworkInterval
		r.deny(protocol.Refusal{Code: protocol.RefusedTooRecent, Need: least.Seconds(), Have: (least - wait).Seconds()},
			protocol.PriorityLow, fmt.Sprintf(
				"Not sending work. Last request too recent. Please wait %d seconds.", int(math.Ceil(wait.Seconds()))))
		return nil
	}
	if r.host.MaxResultsDay < 0 {
		r.deny(protocol.Refusal{Code: protocol.RefusedExcluded}, protocol.PriorityNotice,
			"This computer gets no tasks: the project has excluded it")
		r.reply.RequestDelay = delayUnsupported
		return nil
	}
	resent, err := r.resendLost()
	if err != nil || resent > 0 {
		return err
	}
	return r.send()
}

// tooRecent returns how long the host has to wait. Clients honour request_delay
// except when their user presses a button.
func (r *rpc) tooRecent() time.Duration {
	if r.s.Config.MinSendworkInterval <= 0 || r.last.IsZero() {
		return 0
	}
	return r.s.Config.MinSendworkInterval - r.now.Sub(r.last)
}

// send gives out new results until the request is filled or a limit is met.
func (r *rpc) send() error {
	room, err := r.room(0)
	if err != nil {
		return err
	}
	if room <= 0 {
		r.refuse()
		return nil
	}
	bag := r.bag(room)
	// give sends a candidate if this host may have it, and reports whether the
	// request is filled.
	give := func(c store.Candidate) (full bool, err error) {
		if bag.full() {
			return true, nil
		}
		v, err := r.fit(c)
		if err != nil || v == nil {
			return false, err
		}
		had, err := r.had([]int64{c.WorkunitID})
		if err != nil {
			return false, err
		}
		if had[c.WorkunitID] {
			r.passOver(c.AppID, lack{code: protocol.RefusedHasOne})
			return false, nil
		}
		sent, err := r.give(c, v)
		if err != nil {
			return false, err
		}
		if !sent {
			r.passOver(c.AppID, lack{code: protocol.RefusedOther})
			return false, nil
		}
		bag.add(c, v)
		return false, nil
	}
	if full, err := r.sendKept(give); full || err != nil {
		return err
	}
	if o := r.look.offer; o != nil {
		r.declined, r.unfit = append(slices.Clone(o.declined), r.declined...), append(slices.Clone(o.unfit), r.unfit...)
		for _, c := range o.list {
			if full, err := give(c); full || err != nil {
				return err
			}
		}
	}
	for _, c := range r.unfit {
		if err := r.infeasible(c); err != nil {
			return err
		}
	}
	if len(r.reply.Results) == 0 {
		if len(r.declined) == 0 {
			r.decline(protocol.Refusal{Code: protocol.RefusedNoTasks})
		}
		r.refuse()
	}
	return nil
}

// room returns how many results the host may get now, and notes why, if none. back is
// how many of those that are on record as in progress it is about to report.
func (r *rpc) room(back int) (int, error) {
	c, cpus := &r.s.Config, r.ncpus()
	n := math.MaxInt
	if c.MaxWusToSend > 0 {
		n = c.MaxWusToSend * cpus
	}
	if c.MaxWusInProgress > 0 {
		have, err := r.tx.CountInProgress(r.host.ID)
		if err != nil {
			return 0, err
		}
		have -= back
		most := c.MaxWusInProgress * cpus
		if have >= most {
			r.decline(protocol.Refusal{Code: protocol.RefusedInProgress, Need: float64(have + 1), Have: float64(most)})
		}
		n = min(n, most-have)
	}
	return n, nil
}

// fit returns the version with which this host may compute a candidate, or nil
// when the host may not have it, which is noted.
func (r *rpc) fit(c store.Candidate) (*version, error) {
	if c.ReservedUntil.After(r.now) {
		r.passOver(c.AppID, lack{code: protocol.RefusedReserved})
		return nil, nil
	}
	v := r.version(c.AppID)
	if v == nil {
		// Other hosts may have a version, and the project may add one: that this host
		// has none says nothing about the result.
		r.passOver(c.AppID, *r.noVersion(c.AppID))
		return nil, nil
	}
	if v = r.commitment(r.catalog.apps[c.AppID], c.HRClass, c.AppVersionID, v); v == nil {
		r.passOver(c.AppID, lack{code: protocol.RefusedCommitted})
		return nil, nil
	}
	u, _ := r.usage(v)
	if why := r.feasible(c, u); why != nil {
		r.passOver(c.AppID, *why)
		r.tooSmall(c, *why)
		return nil, nil
	}
	if c.RscDiskBound > r.limits.disk { // once what this reply brings is there
		r.passOver(c.AppID, lack{code: protocol.RefusedDisk, need: c.RscDiskBound, have: r.limits.disk})
		return nil, nil
	}
	over, err := r.overQuota(v)
	if err != nil {
		return nil, err
	}
	if over {
		r.passOver(c.AppID, lack{code: protocol.RefusedQuota, need: float64(r.quota + 1), have: float64(r.quota)})
		return nil, nil
	}
	return v, nil
}

// had returns of which workunits the host, or its user, was ever sent a result and so may
// have no other.
func (r *rpc) had(workunits []int64) (map[int64]bool, error) {
	switch c := &r.s.Config; {
	case c.OneResultPerUserPerWU:
		return r.tx.HadByUser(r.user.ID, workunits)
	case c.OneResultPerHostPerWU && r.host.ID != 0:
		return r.tx.HadByHost(r.host.ID, workunits)
	}
	return nil, nil
}

// feasible returns what a candidate needs and this host does not have, or nil if
// it can compute it in time. What this reply brings counts for the time only.
//
// A host whose CPUs are idle gets something, however slow it is: estimates are
// what they are.
func (r *rpc) feasible(c store.Candidate, u usage) *lack {
	switch {
	case c.RscMemoryBound > r.limits.memory:
		return &lack{code: protocol.RefusedMemory, need: c.RscMemoryBound, have: r.limits.memory}
	case c.RscDiskBound > r.disk:
		return &lack{code: protocol.RefusedDisk, need: c.RscDiskBound, have: r.disk}
	case c.RscBandwidthBound > r.limits.bandwidth:
		return &lack{code: protocol.RefusedBandwidth, need: c.RscBandwidthBound, have: r.limits.bandwidth}
	}
	if start := r.queue.start(u.ncpus); start > 0 {
		if done := start + r.duration(c.RscFpopsEst, u); done > c.DelayBound {
			return &lack{code: protocol.RefusedDeadline, need: done.Seconds(), have: c.DelayBound.Seconds()}
		}
	}
	return nil
}

func (r *rpc) version(appID int64) *version {
	for _, v := range r.versions {
		if v.AppID == appID {
			return v
		}
	}
	return nil
}

// duration estimates how long a result takes on this host, the time included in
// which the host is off or may not compute.
func (r *rpc) duration(fpops float64, u usage) time.Duration {
	t := r.req.TimeStats
	available := 1.0
	if t.OnFrac > 0 && t.ActiveFrac > 0 {
		available = min(max(0.1, t.OnFrac*t.ActiveFrac), 1)
	}
	return protocol.Seconds(fpops / u.flops / available)
}

// flops returns the operations a second of one CPU by the host's benchmark.
func (r *rpc) flops() float64 {
	if f := r.req.Host.Fpops; f > 0 {
		return f
	}
	return unmeasured
}

// give sends one result, unless its workunit was committed to others meanwhile.
func (r *rpc) give(c store.Candidate, v *version) (bool, error) {
	var wu, committed store.Workunit // where sending it changes the workunit
	if commits(r.catalog.apps[c.AppID]) {
		var err error
		if wu, err = r.tx.Workunit(c.WorkunitID); errors.Is(err, store.ErrNotFound) {
			return false, fmt.Errorf("workunit %d was purged meanwhile: %w", c.WorkunitID, store.ErrLost)
		} else if err != nil {
			return false, err
		}
		if committed, v, err = r.commit(wu, v); err != nil || v == nil {
			return false, err
		}
	}
	u, _ := r.usage(v)
	x := store.Result{
		ID: c.ID, Name: c.Name, XMLDocIn: c.XMLDocIn,
		HostID: r.host.ID, UserID: r.user.ID, SentTime: r.now, ReportDeadline: r.now.Add(c.DelayBound),
		AppVersionID: v.ID, VersionNum: int64(v.VersionNum), FlopsEstimate: u.flops,
	}
	if err := r.add(c.WorkunitName, c.XMLDoc, x, v); err != nil {
		r.s.Log.Error("result cannot be sent", "result", x.Name, "err", err)
		return false, nil
	}
	r.because("")
	if err := r.tx.Send(x); err != nil {
		if errors.Is(err, store.ErrLost) {
			err = fmt.Errorf("result %s was sent meanwhile: %w", x.Name, err)
		}
		return false, err
	}
	if committed != wu {
		if err := r.tx.SaveWorkunit(wu, committed); err != nil {
			return false, err
		}
	}
	r.host.NResultsToday++
	if err := r.countSent(x); err != nil {
		return false, err
	}
	r.s.infeasible.forget(x.ID)
	r.reply.sent = append(r.reply.sent, x.ID)
	return true, r.tx.TransitionBy(c.WorkunitID, x.ReportDeadline)
}

// add puts a result and all that it refers to into the reply, each thing once.
// workunit is its workunit's name, doc that one's description.
func (r *rpc) add(workunit, doc string, x store.Result, v *version) error {
	we, err := protocol.ParseElements([]byte(doc))
	if err != nil || len(we.Workunits) != 1 {
		return fmt.Errorf("description of workunit %s: %d workunits in it, %w", workunit, len(we.Workunits), err)
	}
	xe, err := protocol.ParseElements([]byte(x.XMLDocIn))
	if err != nil || len(xe.Results) != 1 {
		return fmt.Errorf("description of result %s: %d results in it, %w", x.Name, len(xe.Results), err)
	}
	w, res := we.Workunits[0], xe.Results[0]
	if v.Plain {
		// The program knows nothing of the links that clients put into a slot.
		copyAll(w.FileRefs)
		copyAll(res.FileRefs)
	}
	if r.first("app", v.app.Name) {
		r.reply.Apps = append(r.reply.Apps, v.app)
	}
	if r.first("app_version", fmt.Sprint(v.ID)) {
		r.addFiles(v.files)
		u, _ := r.usage(v)
		wire := v.wire
		wire.Flops, wire.AvgNCPUs = u.flops, u.ncpus
		wire.Cmdline = strings.TrimSpace(wire.Cmdline + " " + u.cmdline)
		r.reply.AppVersions = append(r.reply.AppVersions, wire)
	}
	if r.first("workunit", w.Name) {
		for i := range we.Files {
			r.s.setDownload(&we.Files[i])
		}
		r.addFiles(we.Files)
		r.reply.Workunits = append(r.reply.Workunits, w)
	}
	for i := range xe.Files {
		if f := &xe.Files[i]; len(f.UploadURLs) == 0 && f.XMLSignature != "" {
			f.UploadURLs = []string{r.s.Config.UploadURL}
		}
	}
	r.addFiles(xe.Files)
	res.Name, res.WorkunitName, res.ReportDeadline = x.Name, workunit, x.ReportDeadline
	res.Platform, res.VersionNum, res.PlanClass = v.Platform.Name, v.VersionNum, v.PlanClass
	r.reply.Results = append(r.reply.Results, res)
	return nil
}

func copyAll(refs []protocol.FileRef) {
	for i := range refs {
		refs[i].CopyFile = true
	}
}

func (r *rpc) addFiles(files []protocol.FileInfo) {
	for _, f := range files {
		if r.first("file", f.Name) {
			r.reply.Files = append(r.reply.Files, f)
		}
	}
}

// first reports whether a thing is named for the first time in this reply.
func (r *rpc) first(kind, name string) bool {
	key := kind + " " + name
	if r.reply.seen[key] {
		return false
	}
	r.reply.seen[key] = true
	return true
}
