package hostinfo

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestEnergy(t *testing.T) {
	sys := t.TempDir()
	t.Setenv("HOST_SYS", sys)
	if _, _, ok := new(EnergyMeter).Read(); ok {
		t.Error("energy is measured without counters")
	}
	if text, err := EnergySource(); err == nil {
		t.Error(text)
	}
	set := func(zone, name, value string) {
		t.Helper()
		dir := filepath.Join(sys, "class/powercap", zone)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for zone, name := range map[string]string{
		"intel-rapl:0": "package-0", "intel-rapl:0:0": "core", "intel-rapl:0:1": "dram", "intel-rapl:1": "psys", // of which two count
	} {
		set(zone, "name", name)
		set(zone, "energy_uj", "900000000")
		set(zone, "max_energy_range_uj", "1000000000")
	}
	var m EnergyMeter
	read := func(what string, want float64) {
		t.Helper()
		if got, busy, ok := m.Read(); got != want || !ok || busy < 0 {
			t.Errorf("%s: got %v J, %v, %v; want %v J", what, got, busy, ok, want)
		}
	}
	read("at first", 0)
	set("intel-rapl:0", "energy_uj", strconv.Itoa(950e6))
	set("intel-rapl:1", "energy_uj", strconv.Itoa(990e6))
	read("50 J later", 50)
	set("intel-rapl:0", "energy_uj", strconv.Itoa(20e6)) // it was at 1000 J, and started again
	set("intel-rapl:0:1", "energy_uj", strconv.Itoa(905e6))
	read("after the counter's end", 50+50+20+5)
	if text, err := EnergySource(); err != nil || text != "measured by the processor: package-0, dram" {
		t.Errorf("got %q, %v", text, err)
	}
	if os.Geteuid() != 0 {
		file := filepath.Join(sys, "class/powercap/intel-rapl:0/energy_uj")
		if err := os.Chmod(file, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := EnergySource(); !errors.Is(err, ErrEnergyRights) {
			t.Errorf("without the right to read: %v", err)
		}
		if _, _, ok := new(EnergyMeter).Read(); ok {
			t.Error("energy is measured without the right to read")
		}
	}
	if err := os.Remove(filepath.Join(sys, "class/powercap/intel-rapl:0/energy_uj")); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := m.Read(); ok {
		t.Error("a part of the energy counts as all")
	}
	if text, err := EnergySource(); err == nil {
		t.Error(text)
	}
	set("intel-rapl:0", "energy_uj", strconv.Itoa(1e6))
	read("when the counter is back", 125)
}
