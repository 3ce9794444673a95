package scheduler

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

const (
	// maxAsked bounds the seconds that a host may ask for at once, as in BOINC.
	maxAsked = 28 * 86400
	// An RPC looks down the queue for results that this host may have, a page at
	// a time, each larger than the one before: most hosts may have the first.
	firstPage = 2
	growth    = 8
	maxPages  = 5 // 9 362 results in all
	// unmeasured is the speed BOINC's clients tell before they have measured.
	unmeasured = 1e9
)

// work gives the host results to compute, if it asks and may have them; if it
// gets none, the reply says why.
func (r *rpc) work() error {
	if !r.catalog.supports(r.platforms()) && len(r.catalog.versions) > 0 {
		r.reply.message(protocol.PriorityNotice,
			`_("This project doesn't support computers of type") `+r.req.Platform)
		r.reply.RequestDelay = delayUnsupported
		return nil
	}
	if !r.req.WantsWork() {
		return nil
	}
	if !r.keys() {
		return nil
	}
	if wait := r.tooRecent(); wait > 0 {
		r.reply.message(protocol.PriorityLow, fmt.Sprintf(
			"Not sending work. Last request too recent. Please wait %d seconds.", int(math.Ceil(wait.Seconds()))))
		return nil
	}
	if r.host.MaxResultsDay < 0 {
		r.reply.message(protocol.PriorityNotice, "This computer gets no tasks: the project has excluded it")
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

// A refusal counts why candidates were passed over.
type refusal struct{ noVersion, memory, disk, deadline, taken, quota, other int }

// send gives out new results until the request is filled or a limit is met.
func (r *rpc) send() error {
	room, why, err := r.room()
	if err != nil {
		return err
	}
	if room <= 0 {
		r.noWork(why)
		return nil
	}
	seconds, instances := min(r.req.CPUReqSeconds, maxAsked), r.req.CPUReqInstances
	var ref refusal
	found := false
	priority, after := int64(math.MaxInt64), int64(0)
	for page, n := firstPage, 0; n < maxPages; page, n = page*growth, n+1 {
		list, err := r.tx.Unsent(priority, after, page)
		if err != nil {
			return err
		}
		for _, c := range list {
			if room == 0 || seconds <= 0 && instances <= 0 {
				return nil
			}
			found = true
			before := ref.infeasible()
			v, err := r.fit(c, &ref)
			if err != nil {
				return err
			}
			if v == nil {
				if ref.infeasible() > before {
					if err := r.refuse(c); err != nil {
						return err
					}
				}
				continue
			}
			sent, err := r.give(c, v)
			if err != nil {
				return err
			}
			if sent {
				room--
				seconds -= r.duration(c.RscFpopsEst).Seconds()
				instances--
			}
		}
		if len(list) < page {
			break
		}
		last := list[len(list)-1]
		priority, after = last.Priority, last.ID
	}
	if len(r.reply.Results) == 0 {
		r.explain(found, ref)
	}
	return nil
}

// room returns how many results the host may get now, and if none, why.
func (r *rpc) room() (n int, why string, err error) {
	c, cpus := &r.s.Config, r.ncpus()
	n = math.MaxInt
	if c.MaxWusToSend > 0 {
		n = c.MaxWusToSend * cpus
	}
	if c.MaxWusInProgress > 0 {
		have, err := r.tx.CountInProgress(r.host.ID)
		if err != nil {
			return 0, "", err
		}
		if left := c.MaxWusInProgress*cpus - have; left <= 0 {
			return 0, "This computer has reached a limit on tasks in progress", nil
		} else if left < n {
			n = left
		}
	}
	return n, "", nil
}

func (r *rpc) noWork(why string) {
	r.reply.message(protocol.PriorityLow, "No tasks sent")
	r.reply.message(protocol.PriorityLow, why)
}

// explain says why a host that asked gets nothing.
func (r *rpc) explain(found bool, ref refusal) {
	if !found {
		r.reply.message(protocol.PriorityLow, "No tasks sent")
		r.reply.message(protocol.PriorityLow, "Project has no tasks available")
		return
	}
	why := "Tasks are committed to other computers"
	for _, x := range []struct {
		n    int
		text string
	}{
		{ref.other, "Tasks are committed to computers of another kind"},
		{ref.taken, "Tasks are left only of jobs of which you have one already"},
		{ref.deadline, "Tasks would not finish in time on this computer"},
		{ref.disk, "Tasks need more disk space than this computer allows"},
		{ref.memory, "Tasks need more memory than this computer allows"},
		{ref.quota, fmt.Sprintf("This computer has finished a daily quota of %d tasks", r.quota)},
		{ref.noVersion, "Tasks are left only of applications that have no version for this computer"},
	} {
		if x.n > 0 {
			why = x.text
		}
	}
	r.noWork(why)
}

// fit returns the version with which this host may compute a candidate, or nil.
func (r *rpc) fit(c store.Candidate, ref *refusal) (*version, error) {
	v := r.version(c.AppID)
	if v != nil {
		if v = r.commitment(r.catalog.apps[c.AppID], c.HRClass, c.AppVersionID, v); v == nil {
			ref.other++
			return nil, nil
		}
	}
	h := r.req.Host
	switch {
	case v == nil:
		ref.noVersion++
		return nil, nil
	case h.MemBytes > 0 && c.RscMemoryBound > h.MemBytes:
		ref.memory++
		return nil, nil
	case h.DiskFree > 0 && c.RscDiskBound > h.DiskFree:
		ref.disk++
		return nil, nil
	case r.req.EstimatedDelay > 0 && r.req.EstimatedDelay+r.duration(c.RscFpopsEst) > c.DelayBound:
		// A host with nothing queued always gets something.
		ref.deadline++
		return nil, nil
	}
	if over, err := r.overQuota(v); err != nil || over {
		ref.quota++
		return nil, err
	}
	has := false
	var err error
	if r.s.Config.OneResultPerUserPerWU {
		has, err = r.tx.UserHas(c.WorkunitID, r.user.ID)
	} else if r.s.Config.OneResultPerHostPerWU {
		has, err = r.tx.HostHas(c.WorkunitID, r.host.ID)
	}
	if err != nil {
		return nil, err
	}
	if has {
		ref.taken++
		return nil, nil
	}
	return v, nil
}

func (r *rpc) version(appID int64) *version {
	for _, v := range r.versions {
		if v.AppID == appID {
			return v
		}
	}
	return nil
}

// duration estimates how long a result keeps one CPU of this host.
func (r *rpc) duration(fpops float64) time.Duration {
	t := r.req.TimeStats
	available := 1.0
	if t.OnFrac > 0 && t.ActiveFrac > 0 {
		available = min(max(0.1, t.OnFrac*t.ActiveFrac), 1)
	}
	return protocol.Seconds(fpops / r.flops() / available)
}

func (r *rpc) flops() float64 {
	if f := r.req.Host.Fpops; f > 0 {
		return f
	}
	return unmeasured
}

// give sends one result, unless it is gone or its workunit needs it no more.
func (r *rpc) give(c store.Candidate, v *version) (bool, error) {
	wu, err := r.tx.Workunit(c.WorkunitID)
	if err != nil {
		return false, err
	}
	if wu.ErrorMask != 0 || wu.CanonicalResultID != 0 || wu.TransitionerFlags != 0 {
		return false, nil // the transitioner will clear it away
	}
	committed, v, err := r.commit(wu, v)
	if err != nil || v == nil {
		return false, err
	}
	x, err := r.tx.Result(c.ID)
	if err != nil {
		return false, err
	}
	x.HostID, x.UserID, x.SentTime, x.ReportDeadline = r.host.ID, r.user.ID, r.now, r.now.Add(wu.DelayBound)
	x.AppVersionID, x.VersionNum, x.FlopsEstimate = v.ID, int64(v.VersionNum), r.flops()
	if err := r.add(wu, x, v); err != nil {
		r.s.Log.Error("result cannot be sent", "result", x.Name, "err", err)
		return false, nil
	}
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
	return true, r.tx.TransitionBy(wu.ID, x.ReportDeadline)
}

// add puts a result and all that it refers to into the reply, each thing once.
func (r *rpc) add(wu store.Workunit, x store.Result, v *version) error {
	we, err := protocol.ParseElements([]byte(wu.XMLDoc))
	if err != nil || len(we.Workunits) != 1 {
		return fmt.Errorf("description of workunit %s: %d workunits in it, %w", wu.Name, len(we.Workunits), err)
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
		wire := v.wire
		wire.Flops, wire.AvgNCPUs = r.flops(), 1
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
		if f := &xe.Files[i]; len(f.UploadURLs) == 0 {
			f.UploadURLs = []string{r.s.Config.UploadURL}
		}
	}
	r.addFiles(xe.Files)
	res.Name, res.WorkunitName, res.ReportDeadline = x.Name, wu.Name, x.ReportDeadline
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
