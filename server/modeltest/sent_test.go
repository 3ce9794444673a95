package modeltest

import (
	"fmt"
	"slices"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/store"
)

// decideAgain sees that a decision follows from its case alone, keeps the limits, and
// gives the host nothing that is not for it.
func (w *world) decideAgain(c match.Case, given []match.Assignment) {
	again := c.Decide().Assigned()
	name := func(list []match.Assignment) (out []string) {
		for _, a := range list {
			out = append(out, fmt.Sprint(a.Name, " with version ", a.Version.ID))
		}
		return out
	}
	if got, want := name(again), name(given); !slices.Equal(got, want) {
		w.failf("host %d is given %v; decided again %v", c.Facts.Host.ID, want, got)
	}
	n := min(max(1, c.Facts.Request.Host.NCPUs), w.cfg.MaxNCPUs)
	gpus := devices(c.Facts.Request)
	if most := (n + gpus*max(1, w.cfg.GPUMultiplier)) * w.cfg.MaxWusToSend; most > 0 && len(given) > most {
		w.failf("host %d is given %d results, at most %d", c.Facts.Host.ID, len(given), most)
	}
	w.checkInProgress(c, given, n*w.cfg.MaxWusInProgress, gpus*w.cfg.MaxWusInProgressGPU)
	clear(w.given)
	disk := 0.0
	for _, a := range given {
		w.given[a.Name] = a
		disk += a.RscDiskBound
		w.mayHave(c.Facts.Request, c.Facts.Host, a)
	}
	if has := c.Facts.Request.Host.DiskFree; has > 0 && disk > has {
		w.failf("host %d with %g bytes of disk is given what needs %g", c.Facts.Host.ID, has, disk)
	}
}

// checkInProgress checks that a host does not get more work than it may have, on its CPUs and on
// its GPUs, in addition to its results in the database.
func (w *world) checkInProgress(c match.Case, given []match.Assignment, cpu, gpu int) {
	fresh, had := make(map[bool]int), make(map[bool]int)
	for _, a := range given {
		fresh[onGPU(a.Version.PlanClass)]++
	}
	for class, n := range c.Standing.InProgress {
		had[onGPU(class)] += n
	}
	for on, most := range map[bool]int{false: cpu, true: gpu} {
		if most > 0 && fresh[on] > 0 && fresh[on]+had[on] > most {
			w.failf("host %d is given %d results beside %d, at most %d, on a GPU: %v", c.Facts.Host.ID, fresh[on], had[on], most, on)
		}
	}
	if fresh[true] > 0 && (gpus(c.Facts.Request) == nil || !gpus(c.Facts.Request).WantsWork()) {
		w.failf("host %d is given work for a GPU that it lacks or asks nothing for", c.Facts.Host.ID)
	}
	if fresh[false] > 0 && c.Facts.Request.CPUReqSeconds <= 0 {
		w.failf("host %d is given work for CPUs and asks for none", c.Facts.Host.ID)
	}
}

// checkRoom checks in the database that a host does not have too many results on a kind of
// processor, after it was sent one for it.
func (w *world) checkRoom(req *protocol.SchedulerRequest, name string, a match.Assignment) {
	most := w.cfg.MaxWusInProgress * min(max(1, req.Host.NCPUs), w.cfg.MaxNCPUs)
	on := onGPU(a.Version.PlanClass)
	if on {
		most = w.cfg.MaxWusInProgressGPU * gpus(req).Count
	}
	if most <= 0 {
		return
	}
	w.view(func(tx *store.View) error {
		sent, err := tx.ResultByName(name)
		if err != nil {
			return err
		}
		all, err := tx.InProgressOf(sent.HostID)
		n := 0
		for _, r := range all {
			if v := w.version(r.AppVersionID); v != nil && onGPU(v.class) == on || r.AppVersionID < 0 && !on {
				n++
			}
		}
		if n > most {
			w.failf("host %d has %d results, at most %d, on a GPU: %v", sent.HostID, n, most, on)
		}
		return err
	})
}

// mayHave checks that a host may have a result that it is given, apart from other results.
func (w *world) mayHave(req *protocol.SchedulerRequest, h store.Host, a match.Assignment) {
	if match.Anonymous(req) {
		w.mayHaveOwn(req, h, a)
	} else if v := w.version(a.Version.ID); v == nil || v.app.id != a.AppID || !v.runs(req) {
		w.failf("host %d is given %s with version %d, which it cannot run", h.ID, a.Name, a.Version.ID)
	}
	if has := req.Host.MemBytes; has > 0 && a.RscMemoryBound > has {
		w.failf("host %d with %g bytes of memory is given %s, which needs %g", h.ID, has, a.Name, a.RscMemoryBound)
	}
	k := w.wus[a.WorkunitName]
	if k == nil {
		return // purged since it was found, so that it cannot be sent
	}
	if a.Suspicious && !slices.ContainsFunc(w.users, func(u *user) bool { return u.id == h.UserID && u.trusted }) {
		w.failf("host %d of user %d, who is not trusted, is given %s", h.ID, h.UserID, a.Name)
	}
	switch t := k.target; {
	case t.Type == store.TargetHost && t.ID != h.ID, t.Type == store.TargetUser && t.ID != h.UserID,
		t.Type == store.TargetTeam && !slices.ContainsFunc(w.users, func(u *user) bool { return u.id == h.UserID && u.team }):
		w.failf("host %d of user %d is given %s, which is for %v %d", h.ID, h.UserID, a.Name, t.Type, t.ID)
	}
	if m := machineOf(&req.Host); m != nil && w.appOf(a.AppID).hr != 0 && m.class(w.appOf(a.AppID)) == "" {
		w.failf("host %d of no class is given %s", h.ID, a.Name)
	}
}

// checkSent checks that the host that asked can run the work in a reply, and that results sent for
// the first time are consistent with the other results of their workunit.
func (w *world) checkSent(req *protocol.SchedulerRequest, reply *protocol.SchedulerReply) {
	for _, x := range reply.Results {
		k := w.wus[x.WorkunitName]
		if k == nil {
			w.failf("%s is sent, of a workunit that nobody made", x.Name)
			continue
		}
		if match.Anonymous(req) {
			w.checkOwn(req, reply, x, k)
		} else if !slices.ContainsFunc(k.app.versions, func(v *version) bool {
			return v.platform == x.Platform && v.num == x.VersionNum && v.class == x.PlanClass && v.runs(req)
		}) {
			w.failf("%s is sent with version %d of %s for %s %s, which its host cannot run", x.Name, x.VersionNum, k.app.name, x.Platform, x.PlanClass)
		}
		a, first := w.given[x.Name]
		if !first {
			continue // it is sent again
		}
		w.sends++
		if onGPU(a.Version.PlanClass) {
			w.onGPUs++
		}
		w.checkRoom(req, x.Name, a)
		w.sent.add(k.app, a)
		if m := machineOf(&req.Host); m != nil && k.app.hr != 0 {
			w.sentTo[x.Name] = m.class(k.app)
			w.checkClass(x.Name, k)
		}
	}
	clear(w.given)
}

// checkClass checks that a result was sent to a computer of the class that its workunit is
// committed to, like all its results that count.
func (w *world) checkClass(name string, k *truth) {
	w.view(func(tx *store.View) error {
		j, err := tx.Job(k.id)
		if err != nil {
			return err
		}
		class := w.sentTo[name]
		if was, known := w.codes[j.Workunit.HRClass]; known && was != class || j.Workunit.HRClass == 0 {
			w.failf("%s goes to a computer of class %q while its workunit is of class %d, %q", name, class, j.Workunit.HRClass, was)
		}
		w.codes[j.Workunit.HRClass] = class
		for _, r := range j.Results {
			if other, known := w.sentTo[r.Name]; known && other != class && r.ID > j.Workunit.RetriedResultID && counts(r) {
				w.failf("%s goes to a computer of class %q while %s went to one of class %q", name, class, r.Name, other)
			}
		}
		return nil
	})
}

// counts reports whether a result is or may be compared with others of its workunit.
func counts(r store.Result) bool {
	return r.ServerState == store.InProgress || givenUp(r) ||
		r.Outcome == store.Success && r.ValidateState != store.Invalid && r.ValidateState != store.NoCheck
}
