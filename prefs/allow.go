package prefs

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/reason"
)

// A Permission is given unless it has a Why, the reason against it.
type Permission struct {
	Code  reason.Code `json:"code,omitempty"`  // identifies the reason
	Why   words.Text  `json:"why,omitzero"`    // a sentence for each reason, naming the preference
	Cure  words.Text  `json:"cure,omitzero"`   // the cure
	Until time.Time   `json:"until,omitzero"`  // when it changes, zero if unknown
	Asked bool        `json:"asked,omitempty"` // a person wants it so, rather than a preference just now
	// Despite is the Why by the preferences alone. It is set if a mode overrules them.
	Despite words.Text `json:"despite,omitzero"`
}

// As returns the reason for a denial, with a code.
func (p Permission) As(code reason.Code) reason.Explanation {
	return reason.Explanation{Code: code, Text: p.Why, Cure: p.Cure, Until: p.Until}
}

// In returns the permission with its texts in a language.
func (p Permission) In(l words.Language) Permission {
	p.Why, p.Cure, p.Despite = p.Why.Only(l), p.Cure.Only(l), p.Despite.Only(l)
	return p
}

// Denied reports whether it is not given.
func (p Permission) Denied() bool { return p.Why.Is() }

// A Mode is a person's choice for now, which overrules the preferences.
type Mode struct {
	Kind  ModeKind
	Until time.Time // then Auto again, zero: until changed
}

// A ModeKind is one of BOINC's modes.
type ModeKind int

// The modes. The zero value follows the preferences. GUI RPC numbers them 1 to 3 as always, auto,
// never.
const (
	Auto ModeKind = iota
	Always
	Never
)

// ModeFor is a mode from now on, for a while or, if d is 0, until changed.
func ModeFor(kind ModeKind, d time.Duration, now time.Time) Mode {
	m := Mode{Kind: kind}
	if d > 0 && kind != Auto {
		m.Until = now.Add(d).Round(0)
	}
	return m
}

// At is the mode as of a time.
func (m Mode) At(now time.Time) ModeKind {
	if !m.Until.IsZero() && !now.Before(m.Until) {
		return Auto
	}
	return m.Kind
}

// A Sense is the reading of a sensor. Without the sensor it is Unknown, which differs from No.
type Sense int

// The states of a Sense.
const (
	Unknown Sense = iota
	No
	Yes
)

// Conditions is the present state of the computer.
type Conditions struct {
	Now       time.Time // in the time zone of the volunteer
	Idle      time.Duration
	IdleKnown bool     // Idle is known: time without input
	IdleBy    string   // the source of Idle, for people
	Helpers   []string // the sessions whose helpers report input, for people
	// Unseen is set if there is a desktop that does not report its use: even without known input, a
	// person may be using the computer.
	Unseen  bool
	Battery Sense
	// OtherCPU is the percentage of the CPUs that other programs use, averaged so that it does not
	// flap. It is negative if unknown.
	OtherCPU     float64
	Exclusive    string  // a running program that needs the computer for itself, or ""
	ExclusiveGPU string  // likewise one that wants the GPUs
	Temperature  float64 // °C of the hottest CPU sensor, 0 if unknown
	// GPUTemperature is the highest temperature in the last GPUCooling of the GPUs that tasks may
	// use, in °C, or 0 if unknown.
	GPUTemperature float64
	Metered        Sense
	Powers         []Power // numbers from outside that keep tasks from running
	Transferred    float64 // MB in the period of daily_xfer_period_days
}

// A Power is a number from outside the computer that keeps tasks from running now: see [[power]]
// in starling.toml.
type Power struct {
	Why, Cure words.Text // sentences
	OnlyGPUs  bool
	Until     time.Time // when it ends, by a forecast (zero: not known)
}

// powers are the limbs of numbers that are about GPUs alone, or not.
func (c Conditions) powers(onlyGPUs bool) (all []limb) {
	for _, p := range c.Powers {
		if p.OnlyGPUs == onlyGPUs {
			all = append(all, limb{true, reason.PowerLimit, p.Why, p.Cure, p.Until})
		}
	}
	return all
}

// GPUCooling is the time for which a GPU that was too hot has to stay below the limit. Tasks on it
// may lose their work since the last checkpoint, so they should not stop often.
const GPUCooling = 2 * time.Minute

// InUse reports whether a person uses the computer. Where that cannot be known it
// counts as not in use, or nothing would ever be computed there.
func (p Prefs) InUse(c Conditions) bool {
	return c.IdleKnown && c.Idle < time.Duration(p.IdleTimeToRun*float64(time.Minute))
}

// stillThere is the time after the last input within which a person is probably still there.
const stillThere = 30 * time.Second

// idleAt returns the time at which the computer will count as idle, without further input. It
// returns zero while there is input, which would put it off again and again.
func (p Prefs) idleAt(c Conditions) time.Time {
	if c.Idle < stillThere {
		return time.Time{}
	}
	return c.Now.Add(time.Duration(p.IdleTimeToRun*float64(time.Minute)) - c.Idle)
}

// A limb of a permission is one thing that the preferences look at: they deny it, or not.
type limb struct {
	denied    bool
	code      reason.Code
	why, cure words.Text
	until     time.Time
}

// join makes one permission of all limbs that deny it. The first gives the code. The time when
// several change is unknown, unless the first is about the time of day. flag is the option with
// which the command in the cure sets the mode of this activity.
func join(limbs []limb, flag string) (p Permission) {
	var whys, cures []words.Text
	temporary := words.T("For a while: {command}", "command", "starling mode always --for 2h"+flag)
	for _, l := range limbs {
		if !l.denied {
			continue
		}
		if p.Code == "" {
			p.Code, p.Until = l.code, l.until
		} else if p.Code != reason.TimeOfDay {
			p.Until = time.Time{}
		}
		if l.code == reason.TooHot || l.code == reason.GPUTooHot {
			temporary = words.Text{} // no person should overrule it
		}
		whys, cures = append(whys, l.why), append(cures, l.cure)
	}
	if p.Code != "" {
		p.Why, p.Cure = words.And(whys...), words.And(append(cures, temporary)...)
	}
	return p
}

// under returns the permission of an activity under a mode, given the permission by the
// preferences. command sets the mode.
func (m Mode) under(prefs Permission, now time.Time, suspended, until words.Text, command string) Permission {
	switch m.At(now) {
	case Always:
		return Permission{Despite: prefs.Why}
	case Never:
		why := suspended
		if !m.Until.IsZero() {
			why = until
		}
		return Permission{Code: reason.ByUser, Why: why, Cure: words.T("Resume with: {command}", "command", command), Until: m.Until, Asked: true}
	case Auto:
	}
	return prefs
}

// MayCompute returns whether tasks may run.
func (p Prefs) MayCompute(c Conditions, m Mode) Permission {
	inUse := p.InUse(c)
	limit, key := p.SuspendCPUUsage, "suspend_cpu_usage"
	if !inUse && p.NiuSuspendCPUUsage != limit {
		limit, key = p.NiuSuspendCPUUsage, "niu_suspend_cpu_usage"
	}
	open, change := within(c.Now, p.computing)
	return m.under(join(append([]limb{
		{
			!open, reason.TimeOfDay, hours(change, c.Now, "Computing is not allowed at any time (start_hour, end_hour).", "Computing is not allowed at this time of day until {time} (start_hour, end_hour)."),
			words.T("Change start_hour and end_hour."), change,
		},
		{
			c.Battery == Yes && !p.RunOnBatteries, reason.OnBattery, words.T("The computer is running on battery power (run_on_batteries)."),
			words.T("Plug the computer in, or set run_on_batteries = true."),
			time.Time{},
		},
		{
			inUse && !p.RunIfUserActive, reason.UserActive, words.T("The computer is in use, or was {lately} (run_if_user_active, idle_time_to_run).", "lately", lately(p.IdleTimeToRun)),
			words.T("Leave the computer alone, or set run_if_user_active = true."), p.idleAt(c),
		},
		{
			p.SuspendIfNoRecentInput > 0 && c.IdleKnown && !c.Unseen && c.Idle > time.Duration(p.SuspendIfNoRecentInput*float64(time.Minute)),
			reason.NoRecentInput, words.T("There has been no input for more than {span} (suspend_if_no_recent_input).", "span", words.Span(time.Duration(p.SuspendIfNoRecentInput*float64(time.Minute)))),
			words.T("Use the computer, or set suspend_if_no_recent_input = 0."),
			time.Time{},
		},
		{
			c.Exclusive != "", reason.Exclusive, words.T("{program} is running (exclusive_apps in starling.toml).", "program", c.Exclusive),
			words.T("End the program, or take it off exclusive_apps."),
			time.Time{},
		},
		{
			limit > 0 && c.OtherCPU > limit, reason.CPUBusy, words.T("Other programs are using {percent}% of the CPUs, more than the limit of {limit}% ({key}).", "percent", fmt.Sprintf("%.0f", c.OtherCPU), "limit", limit, "key", key),
			words.T("End those programs, or set {key} higher (0: no limit).", "key", key),
			time.Time{},
		},
		{
			p.TemperatureCeiling > 0 && c.Temperature > p.TemperatureCeiling, reason.TooHot, words.T("The CPU is at {now} °C, above the limit of {limit} °C (max_cpu_temperature).", "now", fmt.Sprintf("%.0f", c.Temperature), "limit", p.TemperatureCeiling),
			words.T("Clean the fan, use fewer CPUs (max_ncpus_pct), or set max_cpu_temperature higher."),
			time.Time{},
		},
	}, c.powers(false)...), ""), c.Now, words.T("You suspended computing."), words.T("You suspended computing until {time}.", "time", words.Time(m.Until, c.Now)), "starling mode auto")
}

// MayUseGPUs returns whether tasks may run on coprocessors, where they may run at all.
func (p Prefs) MayUseGPUs(c Conditions, m Mode) Permission {
	return m.under(join(append([]limb{
		{
			p.InUse(c) && !p.RunGPUIfUserActive, reason.UserActive, words.T("GPUs are not used: the computer is in use, or was {lately} (run_gpu_if_user_active, idle_time_to_run).", "lately", lately(p.IdleTimeToRun)),
			words.T("Leave the computer alone, or set run_gpu_if_user_active = true."), p.idleAt(c),
		},
		{
			c.ExclusiveGPU != "", reason.ExclusiveGPU, words.T("GPUs are not used: {program} is running (exclusive_gpu_apps in starling.toml).", "program", c.ExclusiveGPU),
			words.T("End the program, or take it off exclusive_gpu_apps."),
			time.Time{},
		},
		{
			p.GPUTemperatureCeiling > 0 && c.GPUTemperature > p.GPUTemperatureCeiling, reason.GPUTooHot, words.T("GPUs are not used: one was at {most} °C {lately}, above the limit of {limit} °C (max_gpu_temperature).",
				"most", fmt.Sprintf("%.0f", c.GPUTemperature), "lately", lately(GPUCooling.Minutes()), "limit", p.GPUTemperatureCeiling),
			words.T("Clean the fan, or set max_gpu_temperature higher."),
			time.Time{},
		},
	}, c.powers(true)...), " --gpu"), c.Now, words.T("You suspended computing on GPUs."), words.T("You suspended computing on GPUs until {time}.", "time", words.Time(m.Until, c.Now)), "starling mode auto --gpu")
}

// MayTransfer returns whether servers may be contacted and files moved.
func (p Prefs) MayTransfer(c Conditions, m Mode) Permission {
	open, change := within(c.Now, p.network)
	return m.under(join([]limb{
		{
			!open, reason.TimeOfDay, hours(change, c.Now, "Network activity is not allowed at any time (net_start_hour, net_end_hour).", "Network activity is not allowed at this time of day until {time} (net_start_hour, net_end_hour)."),
			words.T("Change net_start_hour and net_end_hour."), change,
		},
		{
			c.Metered == Yes && p.NetworkWifiOnly, reason.Metered, words.T("The network connection is metered (network_wifi_only)."),
			words.T("Use another network, or set network_wifi_only = false."),
			time.Time{},
		},
		{
			p.DailyXferLimitMB > 0 && p.DailyXferPeriodDays > 0 && c.Transferred >= p.DailyXferLimitMB,
			reason.XferLimit, words.T("The transfer limit is reached: {used} MB in {days}, of {limit} MB (daily_xfer_limit_mb, daily_xfer_period_days).",
				"used", megabytes(c.Transferred), "days", numberOfDays(p.DailyXferPeriodDays), "limit", words.Float(p.DailyXferLimitMB)),
			words.T("Set daily_xfer_limit_mb higher (0: no limit)."),
			time.Time{},
		},
	}, " --network"), c.Now, words.T("You suspended network activity."), words.T("You suspended network activity until {time}.", "time", words.Time(m.Until, c.Now)), "starling mode auto --network")
}

// hours returns the text about a time in which something is not allowed: never if its end is zero.
func hours(end, now time.Time, never, until string) words.Text {
	if end.IsZero() {
		return words.T(never)
	}
	return words.T(until, "time", words.Time(end, now))
}

// lately returns the last n minutes as an adverb.
func lately(n float64) words.Text {
	if n == 1 {
		return words.T("in the last minute")
	}
	return words.T("in the last {minutes} minutes", "minutes", words.Float(n))
}

func numberOfDays(n float64) words.Text {
	if n == 1 {
		return words.T("1 day")
	}
	return words.T("{days} days", "days", words.Float(n))
}

// megabytes returns an amount with enough digits that it is less than a tenth too small.
func megabytes(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return fmt.Sprintf("%.0f", n)
}
