package prefs_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/reason"
)

// noon is on a Wednesday.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestMayCompute(t *testing.T) {
	minutes := func(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }
	for _, tt := range []struct {
		name  string
		prefs func(*prefs.Prefs)
		now   func(*prefs.Conditions)
		mode  prefs.Mode
		code  reason.Code
		until time.Time
	}{
		{"nothing against it", nil, nil, prefs.Mode{}, "", time.Time{}},
		{"on battery", nil, func(c *prefs.Conditions) { c.Battery = prefs.Yes }, prefs.Mode{}, reason.OnBattery, time.Time{}},
		{"no battery sensor is not on battery", nil, func(c *prefs.Conditions) { c.Battery = prefs.Unknown }, prefs.Mode{}, "", time.Time{}},
		{"battery is allowed", func(p *prefs.Prefs) { p.RunOnBatteries = true }, func(c *prefs.Conditions) { c.Battery = prefs.Yes }, prefs.Mode{}, "", time.Time{}},
		{"always", nil, func(c *prefs.Conditions) { c.Battery = prefs.Yes }, prefs.Mode{Kind: prefs.Always}, "", time.Time{}},
		{"never", nil, nil, prefs.Mode{Kind: prefs.Never}, reason.ByUser, time.Time{}},
		{"never for an hour", nil, nil, prefs.Mode{Kind: prefs.Never, Until: noon.Add(time.Hour)}, reason.ByUser, noon.Add(time.Hour)},
		{"never is over", nil, nil, prefs.Mode{Kind: prefs.Never, Until: noon}, "", time.Time{}},
		{
			"in use", func(p *prefs.Prefs) { p.RunIfUserActive = false },
			func(c *prefs.Conditions) { c.IdleKnown, c.Idle = true, minutes(1) },
			prefs.Mode{},
			reason.UserActive, noon.Add(minutes(2)),
		},
		{
			"in use just now", func(p *prefs.Prefs) { p.RunIfUserActive = false },
			func(c *prefs.Conditions) { c.IdleKnown, c.Idle = true, 29*time.Second },
			prefs.Mode{},
			reason.UserActive,
			time.Time{},
		},
		{
			"no longer in use", func(p *prefs.Prefs) { p.RunIfUserActive = false },
			func(c *prefs.Conditions) { c.IdleKnown, c.Idle = true, minutes(3) },
			prefs.Mode{},
			"",
			time.Time{},
		},
		{"use cannot be known", func(p *prefs.Prefs) { p.RunIfUserActive = false }, nil, prefs.Mode{}, "", time.Time{}},
		{
			"no recent input", func(p *prefs.Prefs) { p.SuspendIfNoRecentInput = 60 },
			func(c *prefs.Conditions) { c.IdleKnown, c.Idle = true, minutes(61) },
			prefs.Mode{},
			reason.NoRecentInput,
			time.Time{},
		},
		{"others are busy", nil, func(c *prefs.Conditions) { c.IdleKnown, c.OtherCPU = true, 26 }, prefs.Mode{}, reason.CPUBusy, time.Time{}},
		{"less busy while idle", nil, func(c *prefs.Conditions) { c.OtherCPU = 49 }, prefs.Mode{}, "", time.Time{}},
		{"exclusive program", nil, func(c *prefs.Conditions) { c.Exclusive = "doom" }, prefs.Mode{}, reason.Exclusive, time.Time{}},
		{"too hot", func(p *prefs.Prefs) { p.TemperatureCeiling = 80 }, func(c *prefs.Conditions) { c.Temperature = 81 }, prefs.Mode{}, reason.TooHot, time.Time{}},
		{"nights only", func(p *prefs.Prefs) { p.StartHour, p.EndHour = 22, 6 }, nil, prefs.Mode{}, reason.TimeOfDay, noon.Add(10 * time.Hour)},
		{"now is within", func(p *prefs.Prefs) { p.StartHour, p.EndHour = 9, 17 }, nil, prefs.Mode{}, "", time.Time{}},
		{
			"this weekday is different", func(p *prefs.Prefs) {
				p.StartHour, p.EndHour = 9, 17
				p.Days.Wednesday = prefs.Day{StartHour: 13, EndHour: 14}
			}, nil, prefs.Mode{}, reason.TimeOfDay, noon.Add(time.Hour),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, c := prefs.Default(), prefs.Conditions{Now: noon}
			if tt.prefs != nil {
				tt.prefs(&p)
			}
			if tt.now != nil {
				tt.now(&c)
			}
			got := p.MayCompute(c, tt.mode)
			if got.Code != tt.code || !got.Until.Equal(tt.until) || got.Denied() != (tt.code != "") {
				t.Errorf("got %+v, want %q until %v", got, tt.code, tt.until)
			}
		})
	}
}

// Whatever forbids an activity is named, each with its key and with what to do, and not the
// first of it alone.
func TestAllThatForbidsIsSaid(t *testing.T) {
	noon := prefs.Conditions{Now: noon, Battery: prefs.Yes, Exclusive: "doom", Temperature: 90, OtherCPU: 80, IdleKnown: true, Idle: time.Hour, Transferred: 3.4, Metered: prefs.Yes}
	p := prefs.Default()
	p.StartHour, p.EndHour, p.NetStartHour, p.NetEndHour = 20, 6, 20, 6
	got := p.MayCompute(prefs.Conditions{Now: noon.Now, Battery: prefs.Yes}, prefs.Mode{})
	const (
		why  = "Computing is not allowed at this time of day until 20:00 (start_hour, end_hour). The computer is running on battery power (run_on_batteries)."
		cure = "Change start_hour and end_hour. Plug the computer in, or set run_on_batteries = true. For a while: starling mode always --for 2h"
	)
	if got.Code != reason.TimeOfDay || got.Why.String() != why || got.Cure.String() != cure || !got.Until.Equal(noon.Now.Add(8*time.Hour)) {
		t.Errorf("at the wrong hour on battery: got\n%+v", got)
	}
	p.TemperatureCeiling, p.SuspendIfNoRecentInput = 80, 1
	got = p.MayCompute(noon, prefs.Mode{})
	for _, part := range []string{"start_hour", "run_on_batteries", "more than 1 min (suspend_if_no_recent_input)", "exclusive_apps", "(niu_suspend_cpu_usage)", "max_cpu_temperature"} {
		if !strings.Contains(got.Why.String(), part) {
			t.Errorf("%q is not in %q", part, got.Why)
		}
	}
	if strings.Contains(got.Cure.String(), "mode always") {
		t.Errorf("a computer that is too hot is to compute: %q", got.Cure)
	}
	p.DailyXferLimitMB, p.DailyXferPeriodDays, p.NetworkWifiOnly = 1, 1, true
	got = p.MayTransfer(noon, prefs.Mode{})
	for _, part := range []string{"until 20:00", "network_wifi_only", "3.4 MB in 1 day, of 1 MB"} {
		if !strings.Contains(got.Why.String(), part) {
			t.Errorf("%q is not in %q", part, got.Why)
		}
	}
	if always := p.MayTransfer(noon, prefs.Mode{Kind: prefs.Always}); always.Denied() || always.Despite.String() != got.Why.String() {
		t.Errorf("under the mode always: %+v", always)
	}
	p.StartHour, p.EndHour = 24, 0
	if got := p.MayCompute(prefs.Conditions{Now: noon.Now}, prefs.Mode{}); got.Why.String() != "Computing is not allowed at any time (start_hour, end_hour)." {
		t.Errorf("never: %+v", got)
	}
}

func TestMayTransfer(t *testing.T) {
	p, c := prefs.Default(), prefs.Conditions{Now: noon, Transferred: 100, Metered: prefs.Yes}
	if got := p.MayTransfer(c, prefs.Mode{}); got.Denied() {
		t.Errorf("by default: %+v", got)
	}
	if got := p.MayTransfer(c, prefs.Mode{Kind: prefs.Never}); got.Code != reason.ByUser || !got.Asked {
		t.Errorf("never: %+v", got)
	}
	p.NetworkWifiOnly = true
	if got := p.MayTransfer(c, prefs.Mode{}); got.Code != reason.Metered {
		t.Errorf("metered: %+v", got)
	}
	p.NetworkWifiOnly, p.DailyXferLimitMB, p.DailyXferPeriodDays = false, 100, 30
	if got := p.MayTransfer(c, prefs.Mode{}); got.Code != reason.XferLimit {
		t.Errorf("limit: %+v", got)
	}
	p = prefs.Default()
	p.NetStartHour, p.NetEndHour = 1, 2
	if got := p.MayTransfer(c, prefs.Mode{}); got.Code != reason.TimeOfDay || !got.Until.Equal(noon.Add(13*time.Hour)) {
		t.Errorf("window: %+v", got)
	}
}

// The window follows the clock on the wall, even when it jumps. In Berlin, the hour after 02:00 is
// skipped on 29 March 2026 and repeated on 25 October.
func TestWindowsAndSummerTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones on this computer: ", err)
	}
	p := prefs.Default()
	p.StartHour, p.EndHour = 2.5, 4
	night := func(month time.Month, day, hour, minute int) prefs.Conditions {
		return prefs.Conditions{Now: time.Date(2026, month, day, hour, minute, 0, 0, berlin)}
	}
	got := p.MayCompute(night(3, 29, 1, 59), prefs.Mode{})
	if want := time.Date(2026, 3, 29, 3, 30, 0, 0, berlin); !got.Denied() || !got.Until.Equal(want) {
		t.Errorf("before the gap: %+v, want until %v", got, want)
	}
	if got := p.MayCompute(night(3, 29, 3, 0), prefs.Mode{}); got.Denied() {
		t.Errorf("after the gap: %+v", got)
	}
	first := night(10, 25, 1, 59)
	twice := 0
	for range 180 { // by the minute
		first.Now = first.Now.Add(time.Minute)
		if !p.MayCompute(first, prefs.Mode{}).Denied() {
			twice++
		}
	}
	if twice != 30+90 { // 02:30 to 03:00, then once more and on to 04:00
		t.Errorf("open for %d minutes of the long night", twice)
	}
}

// A window changes at the time that is given for it.
func TestWindowsChangeWhenTheySay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hour := func(name string) float64 { return float64(rapid.IntRange(0, 48).Draw(t, name)) / 2 }
		p := prefs.Default()
		p.StartHour, p.EndHour = hour("start"), hour("end")
		p.Days.Thursday = prefs.Day{StartHour: hour("thursday start"), EndHour: hour("thursday end")}
		p.Days.Saturday = prefs.Day{StartHour: hour("saturday start"), EndHour: hour("saturday end")}
		c := prefs.Conditions{Now: noon.Add(time.Duration(rapid.IntRange(0, 7*24*60).Draw(t, "now")) * time.Minute)}
		got := p.MayCompute(c, prefs.Mode{})
		if !got.Denied() {
			return
		}
		end := got.Until
		if end.IsZero() {
			end = c.Now.Add(8 * 24 * time.Hour)
		}
		for at := c.Now; at.Before(end); at = at.Add(10 * time.Minute) {
			if c.Now = at; !p.MayCompute(c, prefs.Mode{}).Denied() {
				t.Fatalf("open at %v, said %v", at, got.Until)
			}
		}
		if c.Now = end; !got.Until.IsZero() && p.MayCompute(c, prefs.Mode{}).Denied() {
			t.Fatalf("still shut at %v", end)
		}
	})
}
