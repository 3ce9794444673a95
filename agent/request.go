package agent

import (
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// request says to a project's scheduler how things stand here.
func (a *Agent) request(p state.Project, fetch workfetch.Reason, busy time.Duration, now time.Time) *protocol.SchedulerRequest {
	platform, alternatives := a.platforms()
	if free, ok := hostinfo.DiskFree(a.cfg.DataDir); ok {
		a.host.DiskFree = free
	}
	acc := a.accounts[p.MasterURL]
	share := a.shareFraction(p.MasterURL)
	r := &protocol.SchedulerRequest{
		Authenticator: acc.Authenticator, HostID: p.HostID, Client: protocol.CompatVersion,
		ResourceShareFraction: share, RRSFraction: share, PRRSFraction: share,
		DurationCorrectionFactor: 1,
		AllowMultipleClients:     a.settings.AllowMultipleClients,
		DontSendWork:             acc.NoMoreWork,
		Platform:                 platform, AltPlatforms: alternatives,
		CodeSignKey:  p.CodeSignKey,
		WorkingPrefs: a.prefs.XML(),
		Host:         a.host,
		TimeStats:    a.timeStats(now),
		Disk:         a.diskReport(p.MasterURL),
	}
	if p.HostID != 0 {
		r.RPCSeqno = p.RPCSeqno
	}
	if h, ok := a.db.Hosts.Get(state.Self); ok {
		source, _ := a.db.Projects.Get(h.Prefs.Project)
		r.CrossProjectID, r.GlobalPrefs, r.PrefsEmailHash = h.CrossProject, h.Prefs.XML, source.EmailHash
	}
	switch {
	case fetch.Code == workfetch.Ask:
		r.CPUReqSeconds, r.CPUReqInstances = fetch.Seconds, fetch.Instances
	case fetch.Could > 0: // the session is held anyway
		r.CPUReqSeconds = fetch.Could
	}
	r.EstimatedDelay = busy
	a.listHeld(r, p.MasterURL)
	r.Trickles = a.trickles(p.MasterURL)
	return r
}

// listHeld lists app versions and results: those to report, and the others, from
// which the server learns what it must resend or may have aborted.
func (a *Agent) listHeld(r *protocol.SchedulerRequest, project string) {
	index := make(map[string]int)
	for key, v := range a.db.Versions.Of(project) {
		index[key] = len(r.AppVersions)
		r.AppVersions = append(r.AppVersions, v.AppVersion)
	}
	for _, res := range a.db.Results.Of(project) {
		if res.ReadyToReport {
			r.Results = append(r.Results, a.reported(res))
			continue
		}
		n, ok := index[res.Version]
		if !ok {
			n = -1
		}
		r.OtherResults = append(r.OtherResults, protocol.OtherResult{Name: res.Name, AppVersion: n, PlanClass: res.PlanClass})
	}
}

func (a *Agent) reported(res state.Result) protocol.ReportedResult {
	r := protocol.ReportedResult{
		Name: res.Name, FinalCPUTime: res.CPUTime, FinalElapsedTime: res.Elapsed,
		ExitStatus: res.ExitStatus, State: res.State, Platform: res.Platform,
		VersionNum: res.VersionNum, PlanClass: res.PlanClass,
		PeakWorkingSet: res.PeakRSS, StderrOut: res.Stderr,
	}
	for _, ref := range res.FileRefs {
		f, ok := a.db.Files.Get(state.Key(res.Project, ref.FileName))
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

// timeStats tells how much this computer computes.
func (a *Agent) timeStats(now time.Time) protocol.TimeStats {
	t := a.up.times
	h, _ := a.db.Hosts.Get(state.Self)
	return protocol.TimeStats{
		OnFrac: t.On, ConnectedFrac: t.Connected, CPUAndNetworkAvailableFrac: min(t.Active, t.Connected), ActiveFrac: t.Active,
		ClientStart: a.since, TotalStart: h.InstalledAt, Now: now,
		TotalDuration: a.up.total, TotalActiveDuration: a.up.busy, SessionActiveDuration: a.up.busy,
	}
}

// shareFraction is a project's resource share among all.
func (a *Agent) shareFraction(project string) float64 {
	sum := 0.0
	for _, acc := range a.accounts {
		sum += acc.ResourceShare
	}
	if sum <= 0 {
		return 1
	}
	return a.accounts[project].ResourceShare / sum
}
