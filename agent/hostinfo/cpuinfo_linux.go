package hostinfo

import (
	"os"
	"strconv"
	"strings"
)

// A processor is Linux's description of the first CPU.
type processor struct {
	vendor, model, features string
	cache                   float64 // bytes
	board                   string  // the board or system on a chip, ARM only
}

func firstProcessor() (processor, bool) {
	b, err := os.ReadFile("/proc/cpuinfo")
	return parseCPUInfo(string(b)), err == nil
}

// parseCPUInfo reads /proc/cpuinfo. The model is followed by details in the format of BOINC's
// client: "AMD EPYC [Family 25 Model 17 Stepping 1]", or for ARM "[Impl 0x41 Arch 8 Variant 0x3
// Part 0xd0c Rev 1]". If a key has several lines, the first one counts.
//
// Source: BOINC client/hostinfo_unix.cpp, parse_cpuinfo_linux.
func parseCPUInfo(text string) processor {
	first := make(map[string]string)
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		if _, known := first[key]; !known {
			first[key] = strings.TrimSpace(value)
		}
	}
	of := func(keys ...string) string {
		for _, key := range keys {
			if v := first[key]; v != "" {
				return v
			}
		}
		return ""
	}
	p := processor{
		vendor: of("vendor_id"), features: of("flags", "Features", "features"), board: of("Hardware"),
		model: of("model name", "Processor", "cpu model", "Hardware"),
	}
	if kb, err := strconv.Atoi(strings.TrimSuffix(of("cache size"), " KB")); err == nil {
		p.cache = float64(kb) * 1024
	}
	keys := [][2]string{{"Family", "cpu family"}, {"Model", "model"}, {"Stepping", "stepping"}}
	if of("CPU implementer") != "" {
		keys = [][2]string{{"Impl", "CPU implementer"}, {"Arch", "CPU architecture"}, {"Variant", "CPU variant"}, {"Part", "CPU part"}, {"Rev", "CPU revision"}}
	}
	var words []string
	for _, k := range keys {
		if v := first[k[1]]; v != "" {
			words = append(words, k[0]+" "+v)
		}
	}
	p.model = strings.Join(strings.Fields(p.model), " ")
	if len(words) > 0 {
		p.model = strings.TrimSpace(p.model + " [" + strings.Join(words, " ") + "]")
	}
	return p
}
