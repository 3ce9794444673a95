// Package hostinfo describes the computer: processors, memory, disk, operating system, and speed.
// It only observes, and makes no decisions.
package hostinfo

import (
	"os"
	"runtime"
	"time"

	"github.com/shirou/gopsutil/v3/disk"
	"github.com/shirou/gopsutil/v3/mem"

	"github.com/starling-grid/starling/protocol"
)

// Probe describes the computer. The disk is the one that contains dataDir. Unknown values are zero.
// Speeds are not measured here.
func Probe(dataDir string) protocol.HostInfo {
	_, offset := time.Now().Zone()
	h := protocol.HostInfo{Timezone: int64(offset), NCPUs: runtime.NumCPU()}
	h.DomainName, _ = os.Hostname()
	describe(&h)
	if m, err := mem.VirtualMemory(); err == nil {
		h.MemBytes = float64(m.Total)
	}
	if s, err := mem.SwapMemory(); err == nil {
		h.SwapBytes = float64(s.Total)
	}
	if d, err := disk.Usage(dataDir); err == nil {
		h.DiskTotal, h.DiskFree = float64(d.Total), float64(d.Free)
	}
	return h
}

// DiskFree returns the number of bytes that the agent can still write.
func DiskFree(dataDir string) (bytes float64, ok bool) {
	d, err := disk.Usage(dataDir)
	if err != nil {
		return 0, false
	}
	return float64(d.Free), true
}

// Platform returns BOINC's name for the platform that this program runs on, and further platforms
// whose programs it can run, in order of preference.
//
// Source: BOINC client/cs_platforms.cpp.
func Platform() (primary string, alternatives []string) {
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "linux/amd64":
		return "x86_64-pc-linux-gnu", nil
	case "linux/386":
		return "i686-pc-linux-gnu", nil
	case "linux/arm64":
		return "aarch64-unknown-linux-gnu", nil
	case "linux/arm":
		return "arm-unknown-linux-gnueabihf", nil
	case "linux/riscv64":
		return "riscv64-unknown-linux-gnu", nil
	case "windows/amd64":
		return "windows_x86_64", []string{"windows_intelx86"}
	case "windows/arm64":
		return "windows_arm64", []string{"windows_x86_64", "windows_intelx86"}
	case "darwin/arm64":
		return "arm64-apple-darwin", []string{"x86_64-apple-darwin"}
	case "darwin/amd64":
		return "x86_64-apple-darwin", nil
	}
	return runtime.GOARCH + "-unknown-" + runtime.GOOS, nil
}
