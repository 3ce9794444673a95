// Package sim runs the agent's own policies in virtual worlds, to evaluate them: how much time is
// idle or wasted, how exactly shares are kept, how often servers are asked.
//
// It simulates a computer and servers, but no policy: packages decide and those it combines make
// all decisions, as in the agent.
package sim

import (
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/starling-grid/starling/debt"
	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/resource"
)

// A Scenario is a world: a computer and the projects it is attached to. Times
// count from midnight of day 0.
type Scenario struct {
	Format       int       `toml:"format"`
	Name         string    `toml:"name"`
	DurationDays float64   `toml:"duration_days"`
	Seed         int64     `toml:"seed"`
	Host         Host      `toml:"host"`
	Prefs        Prefs     `toml:"prefs"`
	Projects     []Project `toml:"project"`
}

// A Host is the computer.
type Host struct {
	NCPUs       int     `toml:"ncpus"`
	FlopsPerCPU float64 `toml:"flops_per_cpu"`
	MemMB       float64 `toml:"mem_mb"`
	On          On      `toml:"on"`

	Coprocs []Coproc `toml:"coproc"`
}

// A Coproc is a kind of coprocessor.
type Coproc struct {
	Kind  resource.Kind `toml:"kind"`
	Count int           `toml:"count"`
	Flops float64       `toml:"flops"` // of one
	On    On            `toml:"on"`    // when tasks may use them, while the computer is on (absent: always)
}

func (h Host) coproc(k resource.Kind) (c Coproc) {
	for _, c := range h.Coprocs {
		if c.Kind == k {
			return c
		}
	}
	return c
}

// On has the times when the computer is on.
type On struct {
	Kind  string  `toml:"kind"` // "always" or "daily"
	FromH float64 `toml:"from_h"`
	ToH   float64 `toml:"to_h"`
	// ForecastH is the number of hours for which the agent has a forecast of these times, as of a
	// [[power]] source. It has not learned the habit then. 0: it has.
	ForecastH float64 `toml:"forecast_h"`
}

// Prefs are the volunteer's preferences, with BOINC's names.
type Prefs struct {
	WorkBufMinDays        float64 `toml:"work_buf_min_days"`
	WorkBufAdditionalDays float64 `toml:"work_buf_additional_days"`
	SwitchIntervalMin     float64 `toml:"switch_interval_min"`
	MaxNCPUsPct           float64 `toml:"max_ncpus_pct"`
}

// A Project is one server and its stream of jobs.
type Project struct {
	Name       string   `toml:"name"`
	Share      float64  `toml:"share"`
	MayCorrect bool     `toml:"client_may_correct_estimates"`
	Jobs       Jobs     `toml:"jobs"`
	Outages    []Outage `toml:"outage"`

	Coprocs []CoprocJobs `toml:"coproc_jobs"`
}

// CoprocJobs are a project's jobs for coprocessors.
type CoprocJobs struct {
	Jobs
	Kind    resource.Kind `toml:"kind"`
	Devices float64       `toml:"devices"` // that one uses (0 means 1)
	CPUs    float64       `toml:"cpus"`    // that one uses in addition
}

// Jobs are a project's jobs: endless, one CPU each. A project with jobs for coprocessors may lack
// jobs for the CPUs.
type Jobs struct {
	FlopsEst         float64 `toml:"flops_est"`
	FlopsActualMean  float64 `toml:"flops_actual_mean"`
	FlopsActualStdev float64 `toml:"flops_actual_stdev"`
	LatencyBoundH    float64 `toml:"latency_bound_h"`
	MemMB            float64 `toml:"mem_mb"`
}

// An Outage is a time during which a server is down or without work.
type Outage struct {
	Kind    string  `toml:"kind"` // "down" or "no_work"
	StartH  float64 `toml:"start_h"`
	LengthH float64 `toml:"length_h"`
	RepeatH float64 `toml:"repeat_h"` // 0: once
}

// Load reads a scenario file. The error names every fault.
func Load(path string) (Scenario, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return Scenario{}, err
	}
	var s Scenario
	lines, err := tomlfile.Decode(path, src, &s)
	if err != nil {
		return s, err
	}
	var errs []error
	positive := func(key string, v float64) {
		if !(v > 0) {
			errs = append(errs, lines.Errorf(key, "%v must be above 0", v))
		}
	}
	if s.Format != 1 {
		errs = append(errs, lines.Errorf("format", "format %d is not supported; this version supports format 1", s.Format))
	}
	positive("duration_days", s.DurationDays)
	positive("host.ncpus", float64(s.Host.NCPUs))
	positive("host.flops_per_cpu", s.Host.FlopsPerCPU)
	positive("prefs.switch_interval_min", s.Prefs.SwitchIntervalMin)
	positive("prefs.max_ncpus_pct", s.Prefs.MaxNCPUsPct)
	if len(s.Host.Coprocs) >= debt.MaxKinds {
		errs = append(errs, lines.Errorf("host.coproc", "at most %d kinds are supported", debt.MaxKinds-1))
	}
	for i, c := range s.Host.Coprocs {
		key := fmt.Sprintf("host.coproc %d (%s)", i+1, string(c.Kind))
		positive(key+" count", float64(c.Count))
		positive(key+" flops", c.Flops)
		if c.Kind == "" || c.Kind == resource.CPU {
			errs = append(errs, lines.Errorf(key, "kind must name a kind of coprocessor"))
		}
	}
	if k := s.Host.On.Kind; k != "always" && k != "daily" {
		errs = append(errs, lines.Errorf("host.on.kind", "%q is not one of always, daily", k))
	}
	if s.Host.On.Kind == "daily" && !(0 <= s.Host.On.FromH && s.Host.On.FromH < s.Host.On.ToH && s.Host.On.ToH <= 24) {
		errs = append(errs, lines.Errorf("host.on.from_h", "%v to %v is not a valid part of a day", s.Host.On.FromH, s.Host.On.ToH))
	}
	if h := s.Host.On.ForecastH; !(0 <= h && h <= 168) {
		errs = append(errs, lines.Errorf("host.on.forecast_h", "%v is not between 0 and 168", h))
	}
	if len(s.Projects) == 0 {
		errs = append(errs, lines.Errorf("project", "at least one project is required"))
	}
	seen := make(map[string]bool)
	for i, p := range s.Projects {
		key := fmt.Sprintf("project %d (%s)", i+1, p.Name)
		if !projectName.MatchString(p.Name) || seen[p.Name] {
			errs = append(errs, lines.Errorf(key, "the name must consist of a-z and 0-9, and be unique"))
		}
		seen[p.Name] = true
		positive(key+" share", p.Share)
		if len(p.Coprocs) == 0 || p.Jobs != (Jobs{}) {
			positive(key+" flops_est", p.Jobs.FlopsEst)
			positive(key+" flops_actual_mean", p.Jobs.FlopsActualMean)
			positive(key+" latency_bound_h", p.Jobs.LatencyBoundH)
		}
		for _, c := range p.Coprocs {
			positive(key+" coproc_jobs flops_est", c.FlopsEst)
			positive(key+" coproc_jobs flops_actual_mean", c.FlopsActualMean)
			positive(key+" coproc_jobs latency_bound_h", c.LatencyBoundH)
			if s.Host.coproc(c.Kind).Count == 0 {
				errs = append(errs, lines.Errorf(key+" coproc_jobs kind", "the computer has no %q; add it as [[host.coproc]]", string(c.Kind)))
			}
		}
		for _, o := range p.Outages {
			if o.Kind != "down" && o.Kind != "no_work" {
				errs = append(errs, lines.Errorf(key+" outage", "%q is not one of down, no_work", o.Kind))
			}
			positive(key+" outage length_h", o.LengthH)
		}
	}
	return s, errors.Join(errs...)
}

var projectName = regexp.MustCompile(`^[a-z0-9]+$`)
