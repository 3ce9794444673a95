package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// mayHaveWork reports whether the host asks for work and may have it. If it may not, the reply has the reasons.
func (r *rpc) mayHaveWork() bool {
	if match.Anonymous(r.req) {
		if !r.ownPrograms() {
			return false
		}
	} else if !r.catalog.Supports(match.Platforms(r.req)) && len(r.catalog.Versions) > 0 && !r.catalog.Stopped() {
		code := protocol.RefusedPlatform
		if r.catalog.Images() {
			code = protocol.RefusedImages
		}
		r.deny(protocol.Refusal{Code: code}, protocol.PriorityNotice,
			`_("This project doesn't support computers of type") `+r.req.Platform)
		r.reply.RequestDelay = delayUnsupported
		return false
	}
	if !r.processors() || !r.req.WantsWork() && !r.req.WantsCoprocWork() {
		return false
	}
	if !r.keys() {
		return false
	}
	if wait := r.tooRecent(); wait > 0 {
		least := r.s.Config.MinSendworkInterval.Duration()
		r.deny(protocol.Refusal{Code: protocol.RefusedTooRecent, Need: least.Seconds(), Have: (least - wait).Seconds(), Until: r.now.Add(wait + time.Second)},
			protocol.PriorityLow, fmt.Sprintf(
				"Not sending work. Last request too recent. Please wait %d seconds.", int(math.Ceil(wait.Seconds()))))
		return false
	}
	if r.user.Banned() {
		r.deny(protocol.Refusal{Code: protocol.RefusedExcluded, Detail: banned(r.user)}, protocol.PriorityNotice, banned(r.user))
		r.reply.RequestDelay = delayUnsupported
		return false
	}
	if r.s.Config.ConfirmEmail && r.user.ConfirmedTime.IsZero() {
		why := protocol.Refusal{Code: protocol.RefusedUnconfirmed}
		r.deny(why, protocol.PriorityNotice, sentence(why))
		return false
	}
	if r.host.MaxResultsDay < 0 {
		r.deny(protocol.Refusal{Code: protocol.RefusedExcluded}, protocol.PriorityNotice,
			"This computer gets no tasks: the project has excluded it")
		r.reply.RequestDelay = delayUnsupported
		return false
	}
	return true
}

// tooRecent returns the time that the host has to wait. Clients honor request_delay except when
// their user presses a button.
func (r *rpc) tooRecent() time.Duration {
	if r.s.Config.MinSendworkInterval <= 0 || r.last.IsZero() || r.last.After(r.now) { // the clock was set back
		return 0
	}
	return r.s.Config.MinSendworkInterval.Duration() - r.now.Sub(r.last)
}

// send gives out new results until the request is filled or a limit is met. If the host gets none, the reply has the
// reasons.
func (r *rpc) send() error {
	m := r.match()
	if !m.Full() {
		if err := r.fill(m); err != nil {
			return err
		}
		for _, c := range m.TooSmall() {
			if err := r.infeasible(c); err != nil {
				return err
			}
		}
	}
	if len(m.Assigned()) == 0 {
		r.refuse(r.waiting(m.Refusals()))
	}
	return nil
}

// wantsWork reports whether the host asks for work, and neither it nor its account is excluded.
func (r *rpc) wantsWork() bool {
	return (r.req.WantsWork() || r.req.WantsCoprocWork()) && r.host.MaxResultsDay >= 0 && !r.user.Banned()
}

// fill gives the host the results that were kept or found for it, as far as it may still have them.
func (r *rpc) fill(m *match.Match) error {
	if o := r.offer; o != nil {
		m.Recall(o.refusals, o.tooSmall)
	}
	if len(r.list) == 0 {
		return nil
	}
	m.Had(r.hadKept)
	var offered []store.Candidate
	for i, k := range r.look.kept {
		if m.Full() {
			break
		}
		if !k.holds { // then it is kept no longer
			if err := r.tx.DropAffinity(r.host.ID, k.WorkunitID); err != nil {
				return err
			}
			continue
		}
		offered = append(offered, r.list[i])
		m.Assign(r.list[i:i+1], r.write)
	}
	found := r.list[len(r.look.kept):]
	m.Assign(found, r.write)
	if r.s.Decided != nil {
		r.s.Decided(m.Case(append(offered, found...)), m.Assigned())
	}
	assigned := m.Assigned()
	r.sent = make([]store.Result, 0, len(assigned))
	for i := range assigned {
		r.give(&assigned[i])
	}
	return nil
}

// write puts a result that is sent into the reply. It returns false for a result that cannot be
// described, which would probably fail for other hosts as well.
func (r *rpc) write(a match.Assignment) bool {
	if err := r.add(a.WorkunitName, a.XMLDoc, r.inProgressAs(&a), a.Version); err != nil {
		r.s.Log.Error("result cannot be sent", "result", a.Name, "err", err)
		return false
	}
	return true
}

// inProgressAs is a result as it is in progress on the host.
func (r *rpc) inProgressAs(a *match.Assignment) store.Result {
	return store.Result{
		ID: a.ID, Name: a.Name, XMLDocIn: a.XMLDocIn,
		HostID: r.host.ID, UserID: r.user.ID, SentTime: r.now, ReportDeadline: r.now.Add(a.Within),
		AppVersionID: a.Version.ID, VersionNum: int64(a.Version.VersionNum), FlopsEstimate: a.Usage.Flops,
	}
}

// give sends a result to the host.
func (r *rpc) give(a *match.Assignment) {
	x := r.inProgressAs(a)
	if a.Target.Alone() {
		r.sentAlone = append(r.sentAlone, x)
	} else {
		r.sent = append(r.sent, x)
	}
	r.commit(a)
	r.countSent(a)
	r.host.NResultsToday++
	r.s.infeasible.forget(a.ID)
	r.reply.sent = append(r.reply.sent, a.ID)
	r.transitionBy(a.WorkunitID, x.ReportDeadline)
}

// saveSent stores the results that the host gets, unless some of them were sent to others, or others of their
// workunits to the host, in the meantime.
func (r *rpc) saveSent(to *store.Changes) error {
	send := to.Send
	switch rule := &r.s.Config.Once; {
	case rule.OneResultPerUserPerWU:
		send = to.SendToUser
	case rule.OneResultPerHostPerWU:
		send = to.SendToHost
	}
	to.SetCause(r.now, "scheduler", "")
	if err := cmp.Or(to.Send(r.sentAlone...), send(r.sent...)); err != nil {
		if errors.Is(err, store.ErrLost) {
			err = fmt.Errorf("results were sent to other hosts in the meantime: %w", err)
		}
		return err
	}
	return r.saveCommitments(to)
}

// add puts a result and all that it refers to into the reply, each thing once.
// workunit is its workunit's name, doc that one's description.
func (r *rpc) add(workunit, doc string, x store.Result, v *store.AppVersion) error {
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
		// The program does not understand the links that clients put into a slot.
		copyAll(w.FileRefs)
		copyAll(res.FileRefs)
	}
	u, _ := r.ability().Usage(v)
	if v.ID >= 0 { // else the client has it
		r.addVersion(v, u)
	}
	if r.first("workunit", w.Name) {
		w.RscFpopsEst, w.RscFpopsBound = operations(w, u)
		w.RscMemoryBound = cmp.Or(u.Memory, w.RscMemoryBound)
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

// addVersion puts an app version, with its application and files, into the reply.
func (r *rpc) addVersion(v *store.AppVersion, u match.Usage) {
	written := r.catalog.written[v.ID]
	if r.first("app", written.app.Name) {
		r.reply.Apps = append(r.reply.Apps, written.app)
	}
	if !r.first("app_version", strconv.FormatInt(v.ID, 10)) {
		return
	}
	r.addFiles(written.files)
	wire := written.wire
	wire.Flops, wire.AvgNCPUs = u.Flops, u.NCPUs
	if u.Coproc != "" {
		wire.Coproc, wire.CoprocCount, wire.GPURAM = u.Coproc, u.Count, u.GPURAM
	}
	wire.Cmdline = strings.TrimSpace(wire.Cmdline + " " + u.Cmdline)
	r.reply.AppVersions = append(r.reply.AppVersions, wire)
}

// operations returns the estimate and the bound of a workunit as they are sent to the host. A
// client that computes with its own speed gets both scaled, so that it arrives at the same times.
//
// Source of the scaling: BOINC sched/sched_version.cpp, estimate_flops_anon_platform.
func operations(w protocol.Workunit, u match.Usage) (est, most float64) {
	est, most = w.RscFpopsEst, bound(w.RscFpopsBound, u)
	if u.Declared > 0 {
		scale := u.Declared / u.Flops
		est, most = est*scale, most*scale
	}
	return est, most
}

// bound raises the bound of a workunit so that learned speeds make no time limit shorter. A client
// ends a task after rsc_fpops_bound / flops seconds. Learned speeds may be higher than the
// benchmark's, since most results end early or the estimate is far too high. A task that takes the
// time that the operator has allowed would then be ended.
//
// Different from BOINC, whose clients end such tasks as exceeding the elapsed time limit.
func bound(fpops float64, u match.Usage) float64 {
	if u.Flops > u.Benchmark {
		return fpops * (u.Flops / u.Benchmark)
	}
	return fpops
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
