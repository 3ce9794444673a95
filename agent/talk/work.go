package talk

import (
	"errors"
	"fmt"
	"slices"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// work adopts new descriptions and results.
func (r *replier) work(tx *state.Tx) {
	u, db := r.project.MasterURL, r.t.DB
	versions := r.reply.AppVersions
	if r.project.Anonymous && len(versions) > 0 {
		r.say(true, "ignoring programs of the project: its tasks are computed with your own (app_info.xml)", "versions", len(versions))
		versions = nil
	}
	appFiles := make(map[string]bool)
	for _, v := range versions {
		for _, ref := range v.FileRefs {
			appFiles[ref.FileName] = true
		}
	}
	outputs := make(map[string]bool)
	for _, res := range r.reply.Results {
		for _, ref := range res.FileRefs {
			outputs[ref.FileName] = !appFiles[ref.FileName]
		}
	}
	for _, wu := range r.reply.Workunits {
		for _, ref := range wu.FileRefs {
			delete(outputs, ref.FileName)
		}
	}
	for _, app := range r.reply.Apps {
		db.Apps.Put(tx, state.Key(u, app.Name), state.App{Project: u, App: app})
	}
	used := needed(*r.reply)
	for _, f := range r.reply.Files {
		r.file(tx, f, filePart{appFiles[f.Name], outputs[f.Name], used[f.Name]})
	}
	r.deleteFiles(tx)
	for _, v := range versions {
		if v.Platform == "" {
			v.Platform, _ = hostinfo.Platform()
		}
		r.adopt(tx, state.AppVersion{Project: u, AppVersion: v})
	}
	for _, wu := range r.reply.Workunits {
		key := state.Key(u, wu.Name)
		if _, known := db.Units.Get(key); !known {
			db.Units.Put(tx, key, state.Workunit{Project: u, Workunit: wu})
		}
	}
	for _, res := range r.reply.Results {
		r.result(tx, res)
	}
}

// adopt saves an app version. The ratios that were learned are about the speed that the server stated
// before, which servers correct once they have seen results.
func (r *replier) adopt(tx *state.Tx, v state.AppVersion) {
	if old, known := r.t.DB.Versions.Get(v.ID()); known {
		v.Estimates = old.Estimates
		if cpu := r.t.Host.Fpops; old.Speed(cpu) != v.Speed(cpu) {
			restate := func(e *state.Estimates) {
				*e = state.Estimates(jobsched.Estimator(*e).Restated(v.Speed(cpu) / old.Speed(cpu)))
			}
			s := r.project.Stream(v.Kind())
			restate(&s.Estimates)
			restate(&v.Estimates)
			r.project.SetStream(v.Kind(), s)
		}
	}
	r.t.DB.Versions.Put(tx, v.ID(), v)
}

// result adopts a result. One that cannot be run here is not dropped silently, as by BOINC's
// client, but reported with the reason.
func (r *replier) result(tx *state.Tx, res protocol.Result) {
	u, db := r.project.MasterURL, r.t.DB
	key := state.Key(u, res.Name)
	if held, known := db.Results.Get(key); known {
		if !held.ReportDeadline.Equal(res.ReportDeadline) {
			held.ReportDeadline = res.ReportDeadline
			db.Results.Put(tx, key, held)
		}
		return
	}
	if res.Name == "" {
		r.say(true, "the project sent a result without a name")
		return
	}
	rec := state.Result{Project: u, Result: res, Slot: state.NoSlot, Received: r.now}
	version, err := r.version(res)
	if err == nil {
		rec.Version, rec.VersionNum, rec.Platform = version.ID(), version.VersionNum, version.Platform
		err = r.complete(res, version)
	}
	if err != nil {
		rec.ExitStatus, rec.Message = protocol.ExitDownloadFailed, err.Error()
		rec.Stderr = life.Report(err.Error(), "")
		rec.Ready(r.now)
		r.t.DB.End(tx, r.ended(rec))
		r.say(true, "result cannot be run", "result", res.Name, "err", err)
	} else {
		r.say(false, "result received", "result", res.Name, "deadline", res.ReportDeadline)
	}
	r.added++
	db.Results.Put(tx, key, rec)
	if err == nil {
		wu, _ := db.Units.Get(state.Key(u, res.WorkunitName))
		if s := r.project.Stream(version.Kind()); !db.NonCPUIntensive(version) {
			s.JobFpops, s.JobVersion, s.Latency = wu.RscFpopsEst, rec.Version, max(0, res.ReportDeadline.Add(r.ahead).Sub(r.now))
			r.project.SetStream(version.Kind(), s)
		}
		r.usable[version.Kind()]++
	}
}

// version finds the app version that a result is to be run with: the one named,
// or else the newest for its platform.
func (r *replier) version(res protocol.Result) (state.AppVersion, error) {
	u := r.project.MasterURL
	wu, ok := r.t.DB.Units.Get(state.Key(u, res.WorkunitName))
	if !ok {
		return state.AppVersion{}, fmt.Errorf("the project sent no workunit %.100q", res.WorkunitName)
	}
	var best state.AppVersion
	for _, v := range r.t.DB.Versions.Of(u) {
		named := res.VersionNum == 0 || v.VersionNum == res.VersionNum
		fits := res.Platform == "" || v.Platform == res.Platform
		if v.AppName == wu.AppName && v.PlanClass == res.PlanClass && named && fits && v.VersionNum >= best.VersionNum {
			best = v
		}
	}
	if best.Project == "" && r.project.Anonymous {
		return best, fmt.Errorf("your app_info.xml has no version %d of application %.100q for %s %s", res.VersionNum, wu.AppName, res.Platform, res.PlanClass)
	}
	if best.Project == "" {
		return best, fmt.Errorf("the project sent no version %d of application %.100q for %s", res.VersionNum, wu.AppName, res.Platform)
	}
	primary, alternatives := r.t.Platforms()
	if r.project.Anonymous || slices.Contains(append(alternatives, primary), best.Platform) {
		return best, nil
	}
	return best, fmt.Errorf("the application is for platform %.60q, which this computer does not support", best.Platform)
}

// complete checks that everything a result refers to has been described.
func (r *replier) complete(res protocol.Result, v state.AppVersion) error {
	u := r.project.MasterURL
	wu, _ := r.t.DB.Units.Get(state.Key(u, res.WorkunitName))
	var errs []error
	for i, refs := range [][]protocol.FileRef{v.FileRefs, wu.FileRefs, res.FileRefs} {
		for _, ref := range refs {
			switch f, ok := r.t.DB.Files.Get(state.Key(u, ref.FileName)); {
			case !ok:
				errs = append(errs, fmt.Errorf("the project did not describe file %.100q", ref.FileName))
			case i == 0 && f.Output:
				errs = append(errs, fmt.Errorf("file %.100q of the application is an output of a task", ref.FileName))
			case i == 2 && !f.Output: // a task must not replace what others run or read
				errs = append(errs, fmt.Errorf("output %.100q has the name of a file that is no output", ref.FileName))
			}
			if err := protocol.ValidFileName(ref.Logical()); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
