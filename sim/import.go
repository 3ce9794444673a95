package sim

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// Assumptions about a project without a task here.
const (
	unknownJob     = time.Hour
	unknownLatency = 7 * 24 * time.Hour
)

// spread is the assumed variation of actual computing times, relative to their mean.
const spread = 0.1

// FromSnapshot makes a scenario from an agent's snapshot: the same computer and projects, with
// servers that always have more of the tasks they sent last. Queued tasks are not part of it.
func FromSnapshot(name string, s decide.Snapshot) Scenario {
	const flops = 1e9
	sc := Scenario{
		Format: 1, Name: name, DurationDays: 30, Seed: 1,
		Host: Host{NCPUs: s.CPUs, FlopsPerCPU: flops, MemMB: float64(s.Memory >> 20), On: onDaily(s.OnFrac)},
		Prefs: Prefs{
			WorkBufMinDays: s.Low.Hours() / 24, WorkBufAdditionalDays: (s.High - s.Low).Hours() / 24,
			SwitchIntervalMin: s.Slice.Minutes(), MaxNCPUsPct: 100,
		},
	}
	for i, p := range s.Projects {
		if p.Suspended || p.NoMoreWork || p.Leaving {
			continue
		}
		memory := 0.0
		for _, r := range s.Results {
			if r.Project == i {
				memory = max(memory, float64(r.Memory>>20))
			}
		}
		sc.Projects = append(sc.Projects, streamOf(sc, p.URL, p.Share, p.JobTime.Seconds()*flops, p.Estimates.Correction(0), p.Latency, memory))
	}
	return sc
}

// FromBOINC makes a scenario of a BOINC client's state and preferences.
func FromBOINC(name string, f *protocol.ClientStateFile, p prefs.Prefs) Scenario {
	flops := f.Host.Fpops
	if flops <= 0 {
		flops = 1e9
	}
	sc := Scenario{
		Format: 1, Name: name, DurationDays: 30, Seed: 1,
		Host: Host{NCPUs: max(f.Host.NCPUs, 1), FlopsPerCPU: flops, MemMB: f.Host.MemBytes / (1 << 20), On: onDaily(f.Times.OnFrac)},
		Prefs: Prefs{
			WorkBufMinDays: p.WorkBufMinDays, WorkBufAdditionalDays: p.WorkBufAdditionalDays,
			SwitchIntervalMin: p.SwitchMinutes, MaxNCPUsPct: p.MaxNCPUsPct,
		},
	}
	if sc.Prefs.MaxNCPUsPct == 0 {
		sc.Prefs.MaxNCPUsPct = 100
	}
	for _, pr := range f.Projects {
		if pr.Suspended || pr.NoMoreWork {
			continue
		}
		var fpops, memory float64
		for _, u := range pr.Workunits {
			fpops += u.RscFpopsEst / float64(len(pr.Workunits))
			memory = max(memory, u.RscMemoryBound/(1<<20))
		}
		var latency time.Duration
		for _, r := range pr.Held {
			if !r.Received.IsZero() {
				latency = max(latency, r.ReportDeadline.Sub(r.Received))
			}
		}
		sc.Projects = append(sc.Projects, streamOf(sc, pr.MasterURL, pr.ResourceShare, fpops, pr.DurationCorrectionFactor, latency, memory))
	}
	return sc
}

// streamOf describes a project's endless stream of the tasks it sent.
func streamOf(sc Scenario, url string, share, fpops, correction float64, latency time.Duration, memory float64) Project {
	if fpops <= 0 {
		fpops = unknownJob.Seconds() * sc.Host.FlopsPerCPU
	}
	if latency <= 0 {
		latency = unknownLatency
	}
	if correction <= 0 {
		correction = 1
	}
	if share <= 0 {
		share = 1e-6 // it gets only the time that no other project wants
	}
	return Project{
		Name: sc.unused(url), Share: share,
		Jobs: Jobs{
			FlopsEst: fpops, FlopsActualMean: fpops * correction, FlopsActualStdev: fpops * correction * spread,
			LatencyBoundH: latency.Hours(), MemMB: memory,
		},
	}
}

// unused makes a name for a project from its address.
func (s Scenario) unused(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToLower(rest))
	if name == "" {
		name = "project"
	}
	for n := 2; ; n++ {
		taken := false
		for _, p := range s.Projects {
			taken = taken || p.Name == name
		}
		if !taken {
			return name
		}
		name = fmt.Sprintf("%s%d", strings.TrimRight(name, "0123456789"), n)
	}
}

// onDaily returns the times of a computer that is on for a part of each day.
func onDaily(frac float64) On {
	if frac <= 0 || frac >= 0.99 {
		return On{Kind: "always", ToH: 24}
	}
	hours := max(1, math.Round(24*frac))
	from := math.Max(0, math.Min(9, 24-hours))
	return On{Kind: "daily", FromH: from, ToH: from + hours}
}

// TOML returns a scenario as its file.
func (s Scenario) TOML() (string, error) {
	var b bytes.Buffer
	e := toml.NewEncoder(&b)
	e.Indent = ""
	if err := e.Encode(s); err != nil {
		return "", err
	}
	return b.String(), nil
}
