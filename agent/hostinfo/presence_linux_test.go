package hostinfo_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/internal/testwait"
	"github.com/starling-grid/starling/prefs"
)

// computed returns the CPU time of a process, as the kernel shows it.
func computed(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	return strings.Join(fields[11:13], " ")
}

// Programs of normal priority count, but those that give way do not.
func TestOtherCPU(t *testing.T) {
	var p hostinfo.Presence
	now := time.Now()
	if c := p.Sample(now, nil, nil); c.OtherCPU >= 0 {
		t.Errorf("known at the first look: %v", c.OtherCPU)
	}
	load := exec.CommandContext(t.Context(), "nice", "-n", "19", "sh", "-c", "while :; do :; done")
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = load.Process.Kill(); _ = load.Wait() }()
	for i := range 5 {
		begin := computed(load.Process.Pid)
		testwait.Until(t, "the load to compute", func() bool { return computed(load.Process.Pid) != begin })
		c := p.Sample(now.Add(time.Duration(i+1)*time.Second), nil, nil)
		if c.OtherCPU < 0 || c.OtherCPU > 100 {
			t.Errorf("got %v", c.OtherCPU)
		}
	}
}

func TestBattery(t *testing.T) {
	for _, tt := range []struct {
		supplies map[string]map[string]string
		want     prefs.Sense
	}{
		{nil, prefs.Unknown},
		{map[string]map[string]string{"AC": {"type": "Mains", "online": "0"}}, prefs.Unknown},
		{map[string]map[string]string{"BAT0": {"type": "Battery", "status": "Full"}}, prefs.No},
		{map[string]map[string]string{"BAT0": {"type": "Battery", "status": "Charging"}, "BAT1": {"type": "Battery", "status": "Discharging"}}, prefs.Yes},
		{map[string]map[string]string{"mouse": {"type": "Battery", "scope": "Device", "status": "Discharging"}}, prefs.Unknown},
	} {
		if got := hostinfo.PowerSupplies(t, tt.supplies); got != tt.want {
			t.Errorf("%v: got %v, want %v", tt.supplies, got, tt.want)
		}
	}
}

func TestExclusivePrograms(t *testing.T) {
	var p hostinfo.Presence
	if c := p.Sample(time.Now(), []string{"no such program runs here"}, []string{"nor this"}); c.Exclusive != "" || c.ExclusiveGPU != "" {
		t.Errorf("got %q", c.Exclusive)
	}
	sleep := exec.CommandContext(t.Context(), "sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { _ = sleep.Process.Kill(); _ = sleep.Wait() }()
	p = hostinfo.Presence{}
	if c := p.Sample(time.Now(), []string{"doom", "SLEEP"}, []string{"doom"}); c.Exclusive != "sleep" || c.ExclusiveGPU != "" {
		t.Errorf("got %q, of the GPUs %q", c.Exclusive, c.ExclusiveGPU)
	}
	p = hostinfo.Presence{}
	if c := p.Sample(time.Now(), nil, []string{"Sleep.exe"}); c.Exclusive != "" || c.ExclusiveGPU != "sleep" {
		t.Errorf("got %q, of the GPUs %q", c.Exclusive, c.ExclusiveGPU)
	}
}
