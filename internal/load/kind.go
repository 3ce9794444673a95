package load

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// A Kind is a kind of computer that a host can be.
type Kind struct {
	Name     string // its name for ParseMix
	Platform string
	Alt      []string // further platforms whose programs it can run

	osName, osVersion        string
	vendor, model, features  string
	client                   protocol.Version
	smallestMem, largestMem  float64 // bytes
	fewestCPUs, mostCPUs     int
	slowest, fastest         float64 // floating-point operations a second
	utcOffset, diskGigabytes int64
}

const giga = 1 << 30

// Processors' descriptions of their features are long, and are part of every request.
const (
	intelFeatures = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush dts acpi mmx fxsr sse sse2 ss ht tm " +
		"pbe syscall nx pdpe1gb rdtscp lm constant_tsc art arch_perfmon pebs bts rep_good nopl xtopology nonstop_tsc cpuid aperfmperf " +
		"pni pclmulqdq dtes64 monitor ds_cpl vmx est tm2 ssse3 sdbg fma cx16 xtpr pdcm pcid sse4_1 sse4_2 x2apic movbe popcnt " +
		"tsc_deadline_timer aes xsave avx f16c rdrand lahf_lm abm 3dnowprefetch fsgsbase tsc_adjust bmi1 avx2 smep bmi2 erms invpcid " +
		"rdseed adx smap clflushopt intel_pt xsaveopt xsavec xgetbv1 xsaves dtherm ida arat pln pts hwp hwp_notify hwp_act_window hwp_epp"
	windowsFeatures = "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 fma cx16 sse4_1 " +
		"sse4_2 movebe popcnt aes f16c rdrandsyscall nx lm avx avx2 sha sse4a misalignsse 3dnowprefetch svm fsgsbase bmi1 bmi2 smep rdseed adx smap clflushopt clwb"
	armFeatures = "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp"
)

var kinds = []Kind{
	{
		Name: "linux", Platform: "x86_64-pc-linux-gnu", Alt: []string{"i686-pc-linux-gnu"},
		osName: "Linux Debian", osVersion: "Debian GNU/Linux 12 (bookworm) [6.1.0-18-amd64|libc 2.36]",
		vendor: "GenuineIntel", model: "Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz [Family 6 Model 158 Stepping 10]", features: intelFeatures,
		client: protocol.CompatVersion, smallestMem: 4 * giga, largestMem: 128 * giga, fewestCPUs: 2, mostCPUs: 32,
		slowest: 2.5e9, fastest: 6e9, utcOffset: 3600, diskGigabytes: 500,
	},
	{
		Name: "windows", Platform: "windows_x86_64", Alt: []string{"windows_intelx86"},
		osName: "Microsoft Windows 11", osVersion: "Professional x64 Edition, (10.00.22631.00)",
		vendor: "AuthenticAMD", model: "AMD Ryzen 5 5600X 6-Core Processor [Family 25 Model 33 Stepping 0]", features: windowsFeatures,
		client: protocol.CompatVersion, smallestMem: 4 * giga, largestMem: 64 * giga, fewestCPUs: 4, mostCPUs: 24,
		slowest: 2e9, fastest: 7e9, utcOffset: -18000, diskGigabytes: 1000,
	},
	{
		Name: "mac", Platform: "x86_64-apple-darwin", Alt: []string{"i686-apple-darwin"},
		osName: "Darwin", osVersion: "22.6.0", vendor: "GenuineIntel",
		model: "Intel(R) Core(TM) i5-8500 CPU @ 3.00GHz [x86 Family 6 Model 158 Stepping 10]", features: intelFeatures,
		client: protocol.CompatVersion, smallestMem: 8 * giga, largestMem: 64 * giga, fewestCPUs: 4, mostCPUs: 12,
		slowest: 2.5e9, fastest: 5e9, utcOffset: 0, diskGigabytes: 500,
	},
	{
		Name: "mac-arm64", Platform: "arm64-apple-darwin", Alt: []string{"x86_64-apple-darwin"},
		osName: "Darwin", osVersion: "23.5.0", vendor: "Apple", model: "Apple M2", features: armFeatures,
		client: protocol.CompatVersion, smallestMem: 8 * giga, largestMem: 32 * giga, fewestCPUs: 8, mostCPUs: 12,
		slowest: 5e9, fastest: 9e9, utcOffset: -28800, diskGigabytes: 500,
	},
	{
		Name: "linux-arm64", Platform: "aarch64-unknown-linux-gnu",
		osName: "Linux Debian", osVersion: "Debian GNU/Linux 12 (bookworm) [6.1.0-rpi7-rpi-v8|libc 2.36]", vendor: "ARM",
		model: "Cortex-A72 [Impl 0x41 Arch 8 Variant 0x0 Part 0xd08 Rev 3]", features: armFeatures,
		client: protocol.CompatVersion, smallestMem: 1 * giga, largestMem: 8 * giga, fewestCPUs: 4, mostCPUs: 4,
		slowest: 5e8, fastest: 1.5e9, utcOffset: 0, diskGigabytes: 32,
	},
}

// KindNames returns the kinds' names.
func KindNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.Name)
	}
	return names
}

// A Share is the part of a fleet that is of one kind.
type Share struct {
	Kind   Kind
	Weight float64 // above 0, where only ratios count
}

// ParseMix reads kinds with their weights, such as "windows=65,linux=25,mac=10". Kinds without a
// weight have 1.
func ParseMix(s string) ([]Share, error) {
	var mix []Share
	for word := range strings.SplitSeq(s, ",") {
		name, number, given := strings.Cut(strings.TrimSpace(word), "=")
		i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no kind of computer %q, want some of %s", name, strings.Join(KindNames(), ", "))
		}
		if slices.ContainsFunc(mix, func(m Share) bool { return m.Kind.Name == name }) {
			return nil, fmt.Errorf("%s is listed twice", name)
		}
		weight := 1.0
		if given {
			var err error
			if weight, err = strconv.ParseFloat(number, 64); err != nil || !(weight > 0 && weight <= 1e6) {
				return nil, fmt.Errorf("%s: weight %q, want a number above 0", name, number)
			}
		}
		mix = append(mix, Share{kinds[i], weight})
	}
	return mix, nil
}

// ParseMemory reads sizes in gigabytes, such as "4,8,16", and returns bytes. "" means none.
func ParseMemory(s string) (sizes []float64, err error) {
	if s == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(s, ",") {
		gb, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(gb > 0 && gb <= 1e6) {
			return nil, fmt.Errorf("memory %q, want gigabytes with commas between them, such as 4,8,16", s)
		}
		sizes = append(sizes, gb*giga)
	}
	return sizes, nil
}

// deal returns the kind of each of n hosts. Among any number of first hosts, each kind has its
// share as nearly as possible.
func deal(mix []Share, n int) []Kind {
	total := 0.0
	for _, m := range mix {
		total += m.Weight
	}
	out, dealt := make([]Kind, n), make([]float64, len(mix))
	for i := range out {
		best := 0
		for j := range mix {
			behind := func(j int) float64 { return mix[j].Weight/total*float64(i+1) - dealt[j] }
			if cmp.Compare(behind(j), behind(best)) > 0 {
				best = j
			}
		}
		dealt[best]++
		out[i] = mix[best].Kind
	}
	return out
}

// describe makes up a computer of the kind. memory contains sizes to choose from, in bytes. If it
// is empty, the size is usual for the kind.
func (k Kind) describe(rng *rand.Rand, memory []float64) protocol.HostInfo {
	between := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	mem := giga / 4 * math.Floor(between(k.smallestMem, k.largestMem)/(giga/4))
	if len(memory) > 0 {
		mem = memory[rng.IntN(len(memory))]
	}
	speed := between(k.slowest, k.fastest)
	disk := float64(k.diskGigabytes * giga)
	return protocol.HostInfo{
		Timezone: k.utcOffset, IPAddr: fmt.Sprintf("192.168.%d.%d", rng.IntN(256), 1+rng.IntN(254)),
		NCPUs: k.fewestCPUs + 2*rng.IntN(1+(k.mostCPUs-k.fewestCPUs)/2), Vendor: k.vendor, Model: k.model, Features: k.features,
		Fpops: speed, Iops: 4 * speed, Membw: 1e9, MemBytes: mem, CacheBytes: 512 << 10, SwapBytes: mem,
		DiskTotal: disk, DiskFree: disk * (0.2 + 0.6*rng.Float64()), OSName: k.osName, OSVersion: k.osVersion,
	}
}
