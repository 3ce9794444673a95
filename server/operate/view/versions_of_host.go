package view

import (
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/hostversion"
	"github.com/starling-grid/starling/server/speed"
	"github.com/starling-grid/starling/server/store"
)

// A HostVersion is a host's record with an app version, and its speed with it.
type HostVersion struct {
	AppVersionID     int64   `json:"app_version_id"`
	App              string  `json:"app"`
	VersionNum       int     `json:"version_num"`
	Platform         string  `json:"platform"`
	PlanClass        string  `json:"plan_class"`
	MaxJobsPerDay    int     `json:"max_jobs_per_day"`
	NJobsToday       int     `json:"n_jobs_today"`
	ConsecutiveValid int     `json:"consecutive_valid"`
	ErrorRate        float64 `json:"error_rate"`
	TurnaroundN      int64   `json:"turnaround_n"`
	Turnaround       float64 `json:"turnaround_avg"` // seconds

	Samples        int64        `json:"et_n"`
	Elapsed        float64      `json:"et_avg"` // seconds per estimated operation
	Variance       float64      `json:"et_var"`
	Vote           float64      `json:"stretch,omitempty"` // over the time by the benchmark, as the host votes
	BenchmarkFlops float64      `json:"benchmark_flops"`
	Flops          float64      `json:"flops,omitempty"` // as sent to the host
	From           speed.Source `json:"flops_from,omitempty"`
	Version        VersionSpeed `json:"version"`
}

// A VersionSpeed is the speed of a version on all hosts.
type VersionSpeed struct {
	Hosts   int     `json:"hosts"`
	Stretch float64 `json:"stretch"`
	Spread  float64 `json:"spread"`
}

// hostVersions shows a host's record with each app version. kind returns the kind of processor of a
// plan class.
func hostVersions(tx *store.View, hostID int64, kind func(planClass string) string) ([]HostVersion, error) {
	list, err := tx.HostAppVersions(hostID)
	if err != nil {
		return nil, err
	}
	votes, err := tx.VersionVotes()
	if err != nil {
		return nil, err
	}
	apps, err := tx.Apps()
	if err != nil {
		return nil, err
	}
	all, err := tx.AllAppVersions()
	if err != nil {
		return nil, err
	}
	names := make(map[int64]string)
	for _, a := range apps {
		names[a.ID] = a.Name
	}
	versions := make(map[int64]store.AppVersion)
	for _, v := range all {
		versions[v.ID] = v
	}
	earned := make(map[int64]store.HostAppVersion)
	for _, h := range list {
		earned[h.AppVersionID] = h
	}
	speeds := hostversion.NewSpeeds(votes, kind)
	out := []HostVersion{}
	for _, h := range list {
		app := versions[h.AppVersionID]
		of := hostversion.Group{AppID: app.AppID, Kind: kind(app.PlanClass)}
		if appID, device, own := store.Anonymous(h.AppVersionID); own {
			app.AppID, app.Platform.Name = appID, protocol.PlatformAnonymous
			of = hostversion.Group{Kind: device} // the project's versions do not apply to it
		}
		v := HostVersion{
			AppVersionID: h.AppVersionID, App: names[app.AppID], VersionNum: app.VersionNum, Platform: app.Platform.Name,
			PlanClass: app.PlanClass, MaxJobsPerDay: h.MaxJobsPerDay, NJobsToday: h.NJobsToday,
			ConsecutiveValid: h.ConsecutiveValid, ErrorRate: h.ErrorRate, TurnaroundN: h.TurnaroundN, Turnaround: h.Turnaround,
			Samples: h.Elapsed.N, Elapsed: h.Elapsed.Mean, Variance: h.Elapsed.Var,
			BenchmarkFlops: h.BenchmarkFlops, Version: VersionSpeed(speeds.Version(h.AppVersionID)),
		}
		if h.Vote > 0 {
			v.Vote = h.Vote.Stretch()
		}
		if h.BenchmarkFlops > 0 {
			v.Flops, v.From = speed.Flops(speeds.Known(h.AppVersionID, of, h.BenchmarkFlops, earned))
		}
		out = append(out, v)
	}
	return out, nil
}
