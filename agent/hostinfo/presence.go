package hostinfo

import (
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/host"
	"github.com/shirou/gopsutil/v3/process"

	"github.com/starling-grid/starling/prefs"
)

// smoothing is the time constant of the average CPU use by other programs. A short burst must not
// stop tasks.
const smoothing = 10 * time.Second

// slowly is the interval between measurements that are more expensive.
const slowly = 10 * time.Second

// Helpers are programs in desktop sessions that report their input.
type Helpers interface {
	// Idle returns the shortest time without input, and its source. ok is false if no helper
	// reports.
	Idle(now time.Time) (idle time.Duration, by string, ok bool)
	// Lines describes each session.
	Lines(now time.Time) []string
}

// A Presence observes the current state of the computer. It is not safe for concurrent use. The
// zero value is ready to use.
type Presence struct {
	Helpers Helpers // nil: none

	times    cpu.TimesStat
	at       time.Time
	otherCPU float64

	power       sensed[prefs.Sense]
	exclusive   sensed[[]string]
	temperature sensed[float64]
	metered     sensed[prefs.Sense]
}

// sensed is a value that is determined now and then.
type sensed[T any] struct {
	v  T
	at time.Time
}

func (s *sensed[T]) get(now time.Time, find func() T) T {
	if s.at.IsZero() || now.Sub(s.at) >= slowly {
		s.v, s.at = find(), now
	}
	return s.v
}

// Sample observes the computer. programs are programs that need the whole computer while they run,
// and onGPU programs that need the GPUs.
func (p *Presence) Sample(now time.Time, programs, onGPU []string) prefs.Conditions {
	c := prefs.Conditions{Now: now.Round(0), OtherCPU: p.sampleCPU(now)}
	p.senseInput(now, &c)
	c.Battery = p.power.get(now, onBattery)
	c.Temperature = p.temperature.get(now, temperature)
	c.Metered = p.metered.get(now, metered)
	if len(programs)+len(onGPU) > 0 {
		names := p.exclusive.get(now, running)
		c.Exclusive, c.ExclusiveGPU = oneOf(names, programs), oneOf(names, onGPU)
	}
	return c
}

// senseInput combines the observation of this process with the helpers' reports. The shortest time
// counts.
func (p *Presence) senseInput(now time.Time, c *prefs.Conditions) {
	c.Idle, c.IdleBy, c.IdleKnown = Idle(now)
	c.Unseen = Unseen()
	if p.Helpers == nil {
		return
	}
	idle, by, ok := p.Helpers.Idle(now)
	if !ok {
		return
	}
	if !c.IdleKnown || idle <= c.Idle {
		c.Idle, c.IdleBy, c.IdleKnown = idle, by, true
	}
	c.Unseen, c.Helpers = false, p.Helpers.Lines(now)
}

// sampleCPU returns the average CPU use of programs of normal priority, in percent, or a value
// below 0 if it is not known yet. Tasks of any agent have the lowest priority, so they do not
// count: they give way anyway.
func (p *Presence) sampleCPU(now time.Time) float64 {
	all, err := cpu.Times(false)
	if err != nil || len(all) == 0 {
		return -1
	}
	t, before, dt := all[0], p.times, now.Sub(p.at)
	first := p.at.IsZero()
	p.times, p.at = t, now
	if first {
		p.otherCPU = -1
		return -1
	}
	total := sum(t) - sum(before)
	busy := t.User - before.User + t.System - before.System + t.Irq - before.Irq + t.Softirq - before.Softirq
	if total <= 0 {
		return p.otherCPU
	}
	percent := max(0, min(100*busy/total, 100))
	if p.otherCPU < 0 {
		p.otherCPU = percent
		return percent
	}
	w := min(1, dt.Seconds()/smoothing.Seconds())
	p.otherCPU += (percent - p.otherCPU) * w
	return p.otherCPU
}

// sum returns all time that was counted. The time of guests is part of User.
func sum(t cpu.TimesStat) float64 {
	return t.User + t.System + t.Nice + t.Iowait + t.Irq + t.Softirq + t.Steal + t.Idle
}

// temperature returns the temperature at the hottest CPU sensor in °C, or 0 without one.
func temperature() float64 {
	sensors, _ := host.SensorsTemperatures() // some sensors may fail, others work
	hottest := 0.0
	for _, s := range sensors {
		key := strings.ToLower(s.SensorKey)
		if strings.Contains(key, "core") || strings.Contains(key, "k10") || strings.Contains(key, "cpu") || strings.Contains(key, "package") || strings.Contains(key, "zenpower") {
			hottest = max(hottest, s.Temperature)
		}
	}
	return hottest
}

// running returns the names of all running programs.
func running() (names []string) {
	all, err := process.Processes()
	if err != nil {
		return nil
	}
	for _, p := range all {
		if name, err := p.Name(); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// oneOf returns the first of names that is also in programs, or "" if there is none.
func oneOf(names, programs []string) string {
	i := slices.IndexFunc(names, func(name string) bool {
		return slices.ContainsFunc(programs, func(want string) bool {
			return strings.EqualFold(strings.TrimSuffix(name, ".exe"), strings.TrimSuffix(want, ".exe"))
		})
	})
	if i < 0 {
		return ""
	}
	return names[i]
}
