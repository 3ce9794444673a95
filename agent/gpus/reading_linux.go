package gpus

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// readings reads the sensors of the kernel's drivers: amdgpu, xe, i915 of cards, nouveau. The
// sensors of NVIDIA's own driver are not there.
func readings() []Reading {
	return readingsIn(filepath.Join(cmp.Or(os.Getenv("HOST_SYS"), "/sys"), "bus/pci/devices"))
}

// Source for the files: the kernel's documentation, "GPU/amdgpu/thermal" and
// "hwmon/sysfs-interface".
func readingsIn(devices string) (all []Reading) {
	for dir, kind := range displaysIn(devices) {
		if value(filepath.Join(dir, "power"), "runtime_status") == "suspended" {
			continue // to read its sensors would wake it
		}
		r := Reading{Kind: string(kind), PCI: filepath.Base(dir), Celsius: celsius(dir), Busy: -1}
		if busy, ok := number(filepath.Join(dir, "gpu_busy_percent")); ok {
			r.Busy = busy / 100
		}
		if total, ok := number(filepath.Join(dir, "mem_info_vram_total")); ok {
			used, _ := number(filepath.Join(dir, "mem_info_vram_used"))
			r.Memory, r.MemoryUsed = int64(total), int64(used)
		}
		r.Watts = watts(dir)
		if r.Celsius > 0 || r.Busy >= 0 || r.Memory > 0 {
			all = append(all, r)
		}
	}
	return all
}

// celsius returns the temperature of a card: of its edge, which AMD's own tools and well-known
// limits refer to, or else the highest that is not of its memory. It returns 0 without a sensor.
func celsius(dir string) (hottest float64) {
	inputs, _ := filepath.Glob(filepath.Join(dir, "hwmon", "hwmon*", "temp*_input"))
	for _, input := range inputs {
		milli, ok := number(input)
		if !ok {
			continue
		}
		label, _ := os.ReadFile(strings.TrimSuffix(input, "_input") + "_label")
		switch strings.TrimSpace(string(label)) {
		case "edge":
			return milli / 1000
		case "mem", "vram":
		default:
			hottest = max(hottest, milli/1000)
		}
	}
	return hottest
}

// watts returns the power of a card, averaged by it if it does that. It returns 0 without a sensor.
func watts(dir string) float64 {
	for _, name := range []string{"power1_average", "power1_input"} {
		files, _ := filepath.Glob(filepath.Join(dir, "hwmon", "hwmon*", name))
		for _, file := range files {
			if micro, ok := number(file); ok {
				return micro / 1e6
			}
		}
	}
	return 0
}

func number(path string) (float64, bool) {
	text, err := os.ReadFile(path) // a card that sleeps refuses
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	return n, err == nil && n >= 0
}
