package hostinfo

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v3/cpu"
)

// An EnergyMeter measures the energy that the computer's processors and memory use. It is not safe
// for concurrent use. The zero value is ready to use.
type EnergyMeter struct {
	zones  []zone
	joules float64 // since the first reading
}

// A zone is a counter of energy: of a processor's package, or of the memory behind it.
type zone struct {
	file  string
	last  float64 // microjoules
	limit float64 // at which the counter starts again at 0
}

// Read returns the energy since the first reading, in joules, and the time that all CPUs together
// have been busy since the start of the system, in seconds. The counters start again after some
// minutes of high power, so readings must be more frequent. ok is false if nothing can be read.
//
// Source: the kernel's documentation, "power/powercap/powercap".
func (m *EnergyMeter) Read() (joules, busy float64, ok bool) {
	if m.zones == nil {
		m.zones = zonesIn(powercap())
	}
	sum := 0.0
	for i := range m.zones {
		z := &m.zones[i]
		now, err := microjoules(z.file)
		if err != nil {
			m.zones = nil // the rights, or the drivers, have changed
			return 0, 0, false
		}
		if now < z.last {
			sum += z.limit
		}
		sum += now - z.last
		z.last = now
	}
	m.joules += sum / 1e6
	all, err := cpu.Times(false)
	if err != nil || len(all) == 0 || len(m.zones) == 0 {
		return 0, 0, false
	}
	t := all[0]
	return m.joules, t.User + t.System + t.Nice + t.Irq + t.Softirq, true
}

// EnergySource describes the source of measured energy. The error is the reason why energy is not
// measured, ErrEnergyRights if that can be changed.
func EnergySource() (string, error) {
	dirs := zoneDirs(powercap())
	if len(dirs) == 0 {
		return "", errors.New("this computer has no counters of energy that the system shows (RAPL)")
	}
	var names []string
	for _, dir := range dirs {
		if _, err := microjoules(filepath.Join(dir, "energy_uj")); errors.Is(err, fs.ErrPermission) {
			return "", ErrEnergyRights
		} else if err != nil {
			return "", errors.New("the processor's counters of energy cannot be read")
		}
		names = append(names, nameOfZone(dir))
	}
	return "measured by the processor: " + strings.Join(names, ", "), nil
}

func powercap() string {
	return filepath.Join(cmp.Or(os.Getenv("HOST_SYS"), "/sys"), "class/powercap")
}

// zonesIn returns the zones, with the present values of their counters. It returns none if one cannot
// be read, because a part of the energy would look like all of it.
func zonesIn(dir string) (all []zone) {
	for _, d := range zoneDirs(dir) {
		z := zone{file: filepath.Join(d, "energy_uj")}
		var err, errLimit error
		z.last, err = microjoules(z.file)
		z.limit, errLimit = microjoules(filepath.Join(d, "max_energy_range_uj"))
		if err != nil || errLimit != nil {
			return nil
		}
		all = append(all, z)
	}
	return all
}

// zoneDirs returns the folders of the zones that do not contain each other: packages, and memory
// that is not part of one.
func zoneDirs(dir string) (all []string) {
	dirs, _ := filepath.Glob(filepath.Join(dir, "intel-rapl:*"))
	for _, d := range dirs {
		if name := nameOfZone(d); strings.HasPrefix(name, "package-") || name == "dram" {
			all = append(all, d)
		}
	}
	return all
}

func nameOfZone(dir string) string {
	name, _ := os.ReadFile(filepath.Join(dir, "name"))
	return strings.TrimSpace(string(name))
}

func microjoules(file string) (float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return float64(n), err
}
