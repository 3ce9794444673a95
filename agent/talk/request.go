package talk

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// request builds the scheduler request that describes this computer and its results.
func (t *Talk) request(p state.Project, d decide.Decision, now time.Time) *protocol.SchedulerRequest {
	fetch := d.Project(p.MasterURL).Fetch
	platform, alternatives := t.Platforms()
	if free, ok := hostinfo.DiskFree(t.Dir); ok {
		t.Host.DiskFree = free
	}
	if p.Anonymous {
		platform, alternatives = protocol.PlatformAnonymous, nil
	}
	acc := t.Accounts[p.MasterURL]
	share := t.ShareFraction(p.MasterURL)
	r := &protocol.SchedulerRequest{
		Authenticator: acc.Authenticator, HostID: p.HostID, Client: protocol.CompatVersion,
		ResourceShareFraction: share, RRSFraction: share, PRRSFraction: share,
		DurationCorrectionFactor: 1,
		AllowMultipleClients:     t.Settings.AllowMultipleClients,
		DontSendWork:             acc.NoMoreWork,
		Platform:                 platform, AltPlatforms: alternatives,
		CodeSignKey:  p.CodeSignKey,
		WorkingPrefs: t.Prefs.XML(),
		Host:         t.Host,
		TimeStats:    t.Uptime.Stats(now),
		Disk:         t.Disk.Report(p.MasterURL, now),
	}
	if p.HostID != 0 {
		r.RPCSeqno = p.RPCSeqno
	}
	if h, ok := t.DB.Hosts.Get(state.Self); ok {
		source, _ := t.DB.Projects.Get(h.Prefs.Project)
		r.NetStats = usage.Lines(h)
		r.CrossProjectID, r.GlobalPrefs, r.PrefsEmailHash = h.CrossProject, h.Prefs.XML, source.EmailHash
	}
	r.CPUReqSeconds, r.CPUReqInstances = fetch.Wanted()
	r.EstimatedDelay = d.Plan.Busy
	for _, c := range d.Snapshot.Coprocs {
		w, _ := t.Coprocs.Describe(c.Kind)
		w.Kind, w.Count, w.PeakFlops, w.Delay = string(c.Kind), len(c.Devices), c.Factor()*t.Host.Fpops, d.Plan.BusyOf(c.Kind)
		w.ReqSeconds, w.ReqInstances = fetch.Of(c.Kind).Wanted()
		if t.Images {
			_, err := t.Coprocs.InImage(c.Kind)
			w.NoImages = err != nil
		}
		r.Coprocs = append(r.Coprocs, w)
		r.Host.Coprocs += w.Count
	}
	t.listHeld(r, p)
	t.listStored(r, p.MasterURL)
	r.Trickles = t.Life.Trickles(p.MasterURL)
	return r
}

// along returns the kinds of processors for which a session asks along with other things, during
// the wait after a request that brought no work for them.
func along(fetch workfetch.Decision) map[resource.Kind]bool {
	kinds := make(map[resource.Kind]bool)
	if fetch.Along {
		kinds[resource.CPU] = true
	}
	for _, c := range fetch.Coprocs {
		if c.Along {
			kinds[c.Kind] = true
		}
	}
	return kinds
}

// coprocSeconds returns the requested time of each kind of coprocessor, for the log.
func coprocSeconds(req *protocol.SchedulerRequest) slog.Attr {
	var kinds []any
	for _, c := range req.Coprocs {
		kinds = append(kinds, slog.Float64(c.Kind, c.ReqSeconds))
	}
	return slog.Group("coproc_seconds", kinds...) // nothing is written of an empty one
}

// listHeld lists app versions and results: those to report, and the others. From the latter the
// server learns which results it must resend or may abort.
func (t *Talk) listHeld(r *protocol.SchedulerRequest, p state.Project) {
	index := make(map[string]int)
	for key, v := range t.DB.Versions.Of(p.MasterURL) {
		index[key] = len(r.AppVersions)
		sent := v.AppVersion
		if p.Anonymous { // the server identifies it by this alone
			sent.Flops, sent.AvgNCPUs = v.Speed(t.Host.Fpops), cmp.Or(v.AvgNCPUs, 1)
		}
		r.AppVersions = append(r.AppVersions, sent)
	}
	for _, res := range t.DB.Results.Of(p.MasterURL) {
		if res.ReadyToReport {
			r.Results = append(r.Results, t.reported(p, res))
			continue
		}
		n, ok := index[res.Version]
		if !ok {
			n = -1
		}
		r.OtherResults = append(r.OtherResults, protocol.OtherResult{Name: res.Name, AppVersion: n, PlanClass: res.PlanClass})
	}
}

func (t *Talk) reported(p state.Project, res state.Result) protocol.ReportedResult {
	r := protocol.ReportedResult{
		Name: res.Name, FinalCPUTime: res.CPUTime, FinalElapsedTime: res.Elapsed,
		ExitStatus: res.ExitStatus, State: res.State, Platform: res.Platform,
		VersionNum: res.VersionNum, PlanClass: res.PlanClass,
		PeakWorkingSet: res.PeakRSS, PeakSwap: res.PeakSwap, PeakDisk: res.PeakDisk,
		StderrOut: protocol.CompatVersion.StderrOut(res.Stderr),
	}
	if t.Settings.ShareEnergy && p.TakesEnergy {
		r.EnergyWh = res.Energy.Joules / state.JoulesPerWh
	}
	for _, ref := range res.FileRefs {
		f, ok := t.DB.Files.Get(state.Key(res.Project, ref.FileName))
		if ok && (f.Done && f.Local == state.FilePresent || f.Local == state.FileFailed) {
			info := f.FileInfo
			if f.Local == state.FileFailed {
				info.ErrorMsg = f.Error
			}
			r.Files = append(r.Files, info)
		}
	}
	return r
}

// listStored lists the sticky files with their state. A file that is not listed is not here, so the
// server learns which files were removed.
//
// Source: BOINC client/cs_scheduler.cpp, make_scheduler_request.
func (t *Talk) listStored(r *protocol.SchedulerRequest, project string) {
	for _, f := range t.DB.Files.Of(project) {
		if !f.Sticky {
			continue
		}
		info := protocol.FileInfo{Name: f.Name, NBytes: f.NBytes}
		switch f.Local {
		case state.FilePresent:
			info.Status = 1
		case state.FileFailed:
			info.Status = min(f.ErrNum, -1)
		}
		r.Files = append(r.Files, info)
	}
}
