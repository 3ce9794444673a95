//go:build !linux

package hostinfo

import (
	"runtime"
	"strings"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/host"

	"github.com/starling-grid/starling/protocol"
)

// describe adds the first processor and the system.
func describe(h *protocol.HostInfo) {
	h.OSName = osName()
	if infos, err := cpu.Info(); err == nil && len(infos) > 0 {
		c := infos[0]
		h.Vendor, h.Model = c.VendorID, strings.TrimSpace(c.ModelName)
		if c.Family != "" {
			h.Model += " [Family " + c.Family + " Model " + c.Model + "]"
		}
		h.Features = strings.Join(c.Flags, " ")
		h.CacheBytes = float64(c.CacheSize) * 1024
	}
	if i, err := host.Info(); err == nil {
		h.OSVersion = strings.TrimSpace(i.PlatformVersion + " [" + i.KernelVersion + "]")
	}
}

func osName() string {
	switch runtime.GOOS {
	case "windows":
		return "Microsoft Windows"
	case "darwin":
		return "Darwin"
	}
	return runtime.GOOS
}
