package hostinfo

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/resource"
)

// CPUKinds returns the computer's CPUs by kind.
func CPUKinds() Kinds { return kindsIn("/sys/devices") }

// kindsIn is CPUKinds of a file system like /sys/devices. With Intel's processors there is a device for each
// kind, with ARM's each CPU has a capacity, 1024 if it is one of the fastest.
//
// Source: Documentation/ABI/testing/sysfs-devices-system-cpu of Linux.
func kindsIn(devices string) (k Kinds) {
	list := func(name string) []int {
		text, err := os.ReadFile(filepath.Join(devices, name, "cpus"))
		if err != nil {
			return nil
		}
		cpus, _ := resource.ParseCPUs(strings.TrimSpace(string(text)))
		return cpus
	}
	k = Kinds{list("cpu_core"), list("cpu_atom")}
	if len(k.Performance) > 0 && len(k.Efficiency) > 0 {
		return k
	}
	capacities := make(map[int]int)
	files, _ := filepath.Glob(filepath.Join(devices, "system/cpu/cpu*/cpu_capacity"))
	most := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		number, err2 := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(f)), "cpu"))
		capacity, err3 := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil && err2 == nil && err3 == nil {
			capacities[number], most = capacity, max(most, capacity)
		}
	}
	k = Kinds{}
	for n, capacity := range capacities {
		if capacity == most {
			k.Performance = append(k.Performance, n)
		} else {
			k.Efficiency = append(k.Efficiency, n)
		}
	}
	if len(k.Efficiency) == 0 {
		return Kinds{}
	}
	slices.Sort(k.Performance)
	slices.Sort(k.Efficiency)
	return k
}

// UsableCPUs returns the numbers of the CPUs on which this process may run.
func UsableCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var all []int
	for n := range resource.MaxCPUs {
		if set.IsSet(n) {
			all = append(all, n)
		}
	}
	return all
}
